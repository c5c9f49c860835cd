package report

import (
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// hostsSection describes the hosts of a run that has several, and of their clocks.
func hostsSection(r rec) Section {
	s := Section{ID: SectionHosts, Title: "Hosts", Count: len(r.Run.Hosts),
		Sub: "On one clock, the first one's. A clock with + was ahead of it."}
	if len(r.Run.Hosts) > 1 {
		s.Blocks = []Block{hostsTable(r)}
	}
	return s
}

func hostsTable(r rec) *Table {
	t := &Table{ID: "hosts", Columns: []Column{
		{Key: "host", Head: "host"},
		{Key: "cores", Head: "cores", Align: Right},
		{Key: "memory_bytes", Head: "memory", Align: Right, Drop: 2},
		{Key: "clock_offset_s", Head: "clock", Align: Right},
		{Key: "clock_error_s", Head: "±", Align: Right},
		{Key: "clock_note", Head: "how it was found", Cut: true, Drop: 1},
	}}
	for _, h := range r.Run.Hosts {
		memory := none()
		if h.MemoryBytes > 0 {
			memory = Cell{Text: unit.BytesIEC(h.MemoryBytes), Raw: unit.Plain(float64(h.MemoryBytes))}
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(h.Name), count(uint64(h.Cores)), memory,
			clock(h.ClockOffset), clockError(h.ClockError), text(h.ClockNote)}})
	}
	return t
}

func clock(d time.Duration) Cell {
	sign := "+"
	if d < 0 {
		sign = "−"
	}
	return Cell{Text: sign + unit.Exact(d.Abs()), Raw: unit.Plain(d.Seconds())}
}

func clockError(d time.Duration) Cell {
	if d == 0 {
		return none()
	}
	return Cell{Text: unit.Duration(d), Raw: unit.Plain(d.Seconds())}
}
