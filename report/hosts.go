package report

import (
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// onHosts is the run as each of its hosts saw it: that host's series and gaps alone. Both
// are gone through once, however many hosts there are.
func (r rec) onHosts() []rec {
	series, gaps := map[string][]kasoku.Series{}, map[string][]kasoku.Gap{}
	for i := range r.Series {
		series[r.Series[i].Key.Host] = append(series[r.Series[i].Key.Host], r.Series[i])
	}
	for _, g := range r.Gaps {
		gaps[g.Host] = append(gaps[g.Host], g)
	}
	out := make([]rec, len(r.Run.Hosts))
	for i, h := range r.Run.Hosts {
		one := *r.Recording
		one.Run.Hosts, one.Series, one.Gaps = []kasoku.Host{h}, series[h.Name], gaps[h.Name]
		out[i] = rec{&one, r.o}
	}
	return out
}

// each calls do for the run as each of its hosts saw it, with the host's place and
// what to put before what is said of it; with one host that is the run itself, and
// nothing is put before.
func (r rec) each(do func(one rec, place int, before string)) {
	if len(r.Run.Hosts) < 2 {
		do(r, 0, "")
		return
	}
	for i, one := range r.onHosts() {
		do(one, i, r.Run.Hosts[i].Name+": ")
	}
}

// hostCharts adds the charts that each host has of its own.
func (r rec) hostCharts(t *Timeline, build func(rec) *Chart) {
	r.each(func(one rec, place int, before string) {
		sparks := len(t.Sparks)
		c := build(one)
		if c == nil {
			return
		}
		one.bands(c)
		c.Title = before + c.Title
		if place > 0 {
			c.ID += strconv.Itoa(place + 1)
		}
		for i := range t.Sparks[sparks:] {
			t.Sparks[sparks+i].Name = before + t.Sparks[sparks+i].Name
		}
		t.Charts = append(t.Charts, *c)
	})
}

// hostsSection describes the hosts of a run that has several, and of their clocks.
func (r rec) hostsSection() Section {
	s := Section{ID: SectionHosts, Title: "Hosts", Count: len(r.Run.Hosts),
		Sub: "On one clock, the first one's. A clock with + was ahead of it."}
	if len(r.Run.Hosts) > 1 {
		s.Blocks = []Block{r.hostsTable()}
	}
	return s
}

func (r rec) hostsTable() *Table {
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
