package recording

import (
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// hostsSection describes the hosts of a run that has several, and of their clocks.
func hostsSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionHosts, Title: "Hosts", Count: len(r.Run.Hosts),
		Sub: "On one clock, the first one's. A clock with + was ahead of it."}
	if len(r.Run.Hosts) > 1 {
		s.Blocks = []report.Block{hostsTable(r)}
	}
	return s
}

func hostsTable(r recorded.View) *report.Table {
	t := &report.Table{ID: "hosts", Columns: []report.Column{
		{Key: "host", Head: "host"},
		{Key: "cores", Head: "cores", Align: report.Right},
		{Key: "memory_bytes", Head: "memory", Align: report.Right, Drop: 2},
		{Key: "clock_offset_s", Head: "clock", Align: report.Right},
		{Key: "clock_error_s", Head: "±", Align: report.Right},
		{Key: "clock_note", Head: "how it was found", Cut: true, Drop: 1},
	}}
	for _, h := range r.Run.Hosts {
		memory := cell.None()
		if h.MemoryBytes > 0 {
			memory = report.Cell{Text: unit.BytesIEC(h.MemoryBytes), Raw: unit.Plain(float64(h.MemoryBytes))}
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(h.Name), cell.Count(uint64(h.Cores)), memory,
			clock(h.ClockOffset), clockError(h.ClockError), cell.Text(h.ClockNote)}})
	}
	return t
}

func clock(d time.Duration) report.Cell {
	sign := "+"
	if d < 0 {
		sign = "−"
	}
	return report.Cell{Text: sign + unit.Exact(d.Abs()), Raw: unit.Plain(d.Seconds())}
}

func clockError(d time.Duration) report.Cell {
	if d == 0 {
		return cell.None()
	}
	return report.Cell{Text: unit.Duration(d), Raw: unit.Plain(d.Seconds())}
}
