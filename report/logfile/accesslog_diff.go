package logfile

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// A LogDiff is two sides of access logs. Their rows have the same keys.
type LogDiff struct {
	Before, After *AccessLog
	Names         [2]string // of the sides
}

// accessFigures are those by which two logs are distinguished, in their order.
var accessFigures = []logFigure[accesslog.Row]{
	{"requests", "requests", 3, func(r *accesslog.Row) float64 { return float64(r.Count) }},
	{"total", "total_s", 1, func(r *accesslog.Row) float64 { return timed(r, r.Total.Seconds()) }},
	{"mean", "mean_s", 4, func(r *accesslog.Row) float64 { return timed(r, r.Latency.Mean().Seconds()) }},
	{"p50", "p50_s", 5, func(r *accesslog.Row) float64 { return timed(r, r.Latency.Quantile(0.5).Seconds()) }},
	{"p99", "p99_s", 2, func(r *accesslog.Row) float64 { return timed(r, r.Latency.Quantile(0.99).Seconds()) }},
	{"5xx", "status_5xx", 6, func(r *accesslog.Row) float64 { return float64(r.Failed()) }},
}

// Moved are the rows of both sides, those whose figure moved furthest first: total,
// unless the options name another.
func (d *LogDiff) Moved(o AccessOptions) ([]Moved[accesslog.Row], error) {
	by := cmp.Or(o.Sort, "total")
	if o.Sort == "" && !d.timed() {
		by = "requests"
	}
	f, err := figureNamed(accessFigures, cmp.Or(columnAliases[by], by))
	if err != nil {
		return nil, err
	}
	rows := paired(d.Before.Rows, d.After.Rows, func(r *accesslog.Row) string { return strings.Join(r.Key, "\x00") })
	f.sort(rows, o.Reverse, func(x, y *accesslog.Row) int { return slices.Compare(x.Key, y.Key) })
	return rows, nil
}

// timed reports whether a side has request times.
func (d *LogDiff) timed() bool {
	_, _, before := d.Before.requests()
	_, _, after := d.After.requests()
	return before+after > 0
}

// DiffAccess shows what moved between two sides of access logs.
func DiffAccess(d *LogDiff, o AccessOptions) (*report.Document, error) {
	rows, err := d.Moved(o)
	if err != nil {
		return nil, err
	}
	out := diffDocument(d.Names, d.verdict(), o.Options)
	var sides [2]logSide
	for i, a := range []*AccessLog{d.Before, d.After} {
		alertStopped(out, a.Stopped)
		n, _, _ := a.requests()
		sides[i] = logSide{d.Names[i], n, coverage(a.span()), a.Logs}
	}
	out.PutSection(o.Options, "sides", func() report.Section {
		return report.Section{ID: SectionSides, Title: "Sides", Blocks: []report.Block{sidesTable(sides, "requests")}}
	})
	if len(rows) > 0 {
		out.PutSection(o.Options, "moved", func() report.Section {
			return report.Section{ID: report.SectionMoved, Title: "What moved", Count: len(rows),
				Blocks: []report.Block{d.table(rows, o)}}
		})
	}
	out.PutSection(o.Options, "notes", func() report.Section { return notesSection(d.notes()) })
	return out, nil
}

// verdict describes how the request time of everything moved.
func (d *LogDiff) verdict() string {
	nb, timedBefore, tb := d.Before.requests()
	na, timedAfter, ta := d.After.requests()
	switch {
	case nb == 0 && na == 0:
		return "No request on either side."
	case nb == 0 || na == 0:
		return "No request in " + d.Names[map[bool]int{true: 0, false: 1}[nb == 0]] + "."
	case tb == 0 && ta == 0:
		return unit.Count(nb) + " → " + unit.Count(na) + " requests, " + unit.Change(float64(nb), float64(na)) +
			". The logs report no request times."
	}
	u := cell.CommonUnit(tb, ta)
	mb, ma := tb/time.Duration(max(timedBefore, 1)), ta/time.Duration(max(timedAfter, 1))
	um := cell.CommonUnit(mb, ma)
	return "Request time " + unit.DurationIn(tb, u) + " → " + unit.DurationIn(ta, u) + " " + unit.Name(u) + ", " +
		unit.Change(tb.Seconds(), ta.Seconds()) + "; " +
		unit.Count(nb) + " → " + unit.Count(na) + " requests, " + unit.Change(float64(nb), float64(na)) + "; mean " +
		unit.DurationIn(mb, um) + " → " + unit.DurationIn(ma, um) + " " + unit.Name(um) + ", " +
		unit.Change(mb.Seconds(), ma.Seconds()) + "."
}

// notes describe what limits the comparison.
func (d *LogDiff) notes() []report.Note {
	var out []report.Note
	for i, a := range []*AccessLog{d.Before, d.After} {
		for _, n := range a.notes() {
			n.Label, n.Code = d.Names[i], true
			out = append(out, n)
		}
	}
	return out
}

// table makes the table; for machines before and after stand in columns of their
// own.
func (d *LogDiff) table(rows []Moved[accesslog.Row], o AccessOptions) *report.Table {
	shown := Limited(rows, o.Limit)
	t := movedTable(len(shown), len(rows))
	for _, k := range d.Before.By {
		c := report.Column{Key: k, Head: k, Code: true, Cut: k != "method" && k != "status"}
		if c.Cut {
			c.Least = leastKey
		}
		t.Columns = append(t.Columns, c)
	}
	figures := accessFigures
	if !o.Machine {
		figures = slices.DeleteFunc(slices.Clone(figures),
			func(f logFigure[accesslog.Row]) bool { return f.name == "5xx" && !anyOf(f, shown) })
	}
	units := make([]time.Duration, len(figures))
	for i := range figures {
		f := &figures[i]
		units[i] = f.unit(shown)
		if o.Machine {
			t.Columns = append(t.Columns, f.machineColumns()...)
			continue
		}
		u := ""
		if units[i] > 0 {
			u = unit.Name(units[i])
		}
		t.Columns = append(t.Columns, report.Column{Key: f.key, Head: f.name, Unit: u, Align: report.Right,
			Drop: f.drop})
		if changes(f) {
			t.Columns = append(t.Columns, report.Column{Key: f.key + "_change", Head: "change", Align: report.Right,
				Drop: f.drop})
		}
	}
	for i := range shown {
		var cells []report.Cell
		for _, k := range shown[i].Either().Key {
			cells = append(cells, cell.Text(k))
		}
		for k := range figures {
			cells = append(cells, accessMove(&figures[k], &shown[i], units[k], o.Machine)...)
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}

// anyOf reports whether a figure is above 0 anywhere.
func anyOf(f logFigure[accesslog.Row], rows []Moved[accesslog.Row]) bool {
	return slices.ContainsFunc(rows, func(m Moved[accesslog.Row]) bool {
		return f.of(m.Before) > 0 ||
			f.of(m.After) > 0
	})
}

// changes reports whether a change of the figure is shown beside it: errors mostly
// come from 0 or go to 0.
func changes(f *logFigure[accesslog.Row]) bool { return f.name != "5xx" }

// accessMove is before → after and the change; for machines both values.
func accessMove(f *logFigure[accesslog.Row], m *Moved[accesslog.Row], u time.Duration, machine bool) []report.Cell {
	b, a := f.of(m.Before), f.of(m.After)
	print := func(v float64) string {
		switch {
		case math.IsNaN(v):
			return unit.Missing
		case u > 0:
			return unit.DurationIn(cell.AsDuration(v), u)
		}
		return unit.Count(uint64(v))
	}
	if machine {
		cell := func(v float64) report.Cell {
			if math.IsNaN(v) {
				return cell.None()
			}
			return report.Cell{Text: print(v), Raw: report.RawNumber(v)}
		}
		return []report.Cell{cell(b), cell(a)}
	}
	both := report.Cell{Text: print(b) + " → " + print(a)}
	if !math.IsNaN(a) {
		both.Raw = report.RawNumber(a)
	}
	if !changes(f) {
		return []report.Cell{both}
	}
	change := cell.None()
	if !math.IsNaN(b) && !math.IsNaN(a) {
		change = report.Cell{Text: unit.Change(b, a), Raw: report.RawNumber(a - b)}
	}
	return []report.Cell{both, change}
}
