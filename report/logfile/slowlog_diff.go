package logfile

import (
	"cmp"
	"math"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// A SlowDiff is two sides of logs of statements, with the same kind of rows.
type SlowDiff struct {
	Before, After *SlowLog
	Names         [2]string // of the sides
}

// slowFigures are those by which two logs of statements are distinguished.
var slowFigures = []logFigure[slowlog.Class]{
	{"calls", "calls", 3, func(c *slowlog.Class) float64 { return float64(c.Calls) }},
	{"total", "total_s", 0, func(c *slowlog.Class) float64 { return c.Total.Seconds() }},
	{"mean", "mean_s", 2, func(c *slowlog.Class) float64 { return c.Latency.Mean().Seconds() }},
	{"p99", "p99_s", 1, func(c *slowlog.Class) float64 { return c.Latency.Quantile(0.99).Seconds() }},
	{"examined", "rows_examined", 4, func(c *slowlog.Class) float64 { return perCall(c.RowsExamined, c) }},
}

// Moved are the classes of both sides, those whose figure moved furthest first:
// total, unless the options name another.
func (d *SlowDiff) Moved(o SlowOptions) ([]Moved[slowlog.Class], error) {
	_, b := d.Before.totals()
	_, a := d.After.totals()
	by := cmp.Or(o.Sort, "total")
	if o.Sort == "" && a+b == 0 {
		by = "calls"
	}
	f, err := figureNamed(slowFigures, by)
	if err != nil {
		return nil, err
	}
	rows := paired(d.Before.Classes, d.After.Classes, func(c *slowlog.Class) string {
		return c.ID + "\x00" + c.Tag +
			"\x00" + c.Key
	})
	f.sort(rows, o.Reverse, func(x, y *slowlog.Class) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Tag, y.Tag), cmp.Compare(x.Key, y.Key))
	})
	return rows, nil
}

// DiffSlow shows what moved between two sides of logs of statements.
func DiffSlow(d *SlowDiff, o SlowOptions) (*report.Document, error) {
	rows, err := d.Moved(o)
	if err != nil {
		return nil, err
	}
	out := diffDocument(d.Names, d.verdict(), o.Options)
	var sides [2]logSide
	for i, l := range []*SlowLog{d.Before, d.After} {
		alertStopped(out, l.Stopped)
		n, _ := l.totals()
		sides[i] = logSide{d.Names[i], n, coverage(l.span()), l.Logs}
	}
	out.PutSection(o.Options, "sides", func() report.Section {
		return report.Section{ID: SectionSides, Title: "Sides", Blocks: []report.Block{sidesTable(sides, "calls")}}
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

// notes describe what limits the comparison.
func (d *SlowDiff) notes() (out []report.Note) {
	for i, l := range []*SlowLog{d.Before, d.After} {
		for _, n := range notesOf(l.Logs) {
			n.Label, n.Code = d.Names[i], true
			out = append(out, n)
		}
	}
	return out
}

// verdict describes how the time of all statements moved.
func (d *SlowDiff) verdict() string {
	nb, tb := d.Before.totals()
	na, ta := d.After.totals()
	switch {
	case nb == 0 && na == 0:
		return "No statement on either side."
	case nb == 0 || na == 0:
		return "No statement in " + d.Names[map[bool]int{true: 0, false: 1}[nb == 0]] + "."
	}
	calls := unit.Count(nb) + " → " + unit.Count(na) + " calls, " + unit.Change(float64(nb), float64(na))
	if tb == 0 && ta == 0 {
		return calls + ". The logs report no times."
	}
	u := cell.CommonUnit(tb, ta)
	return "Time of statements " + unit.DurationIn(tb, u) + " → " + unit.DurationIn(ta, u) + " " + unit.Name(u) +
		", " + unit.Change(tb.Seconds(), ta.Seconds()) + "; " + calls + "."
}

// table makes the table; for machines before and after stand in columns of their own.
func (d *SlowDiff) table(rows []Moved[slowlog.Class], o SlowOptions) *report.Table {
	shown := Limited(rows, o.Limit)
	t := movedTable(len(shown), len(rows))
	names := slowTable{log: d.Before, o: o}
	t.Columns = names.names()
	units := make([]time.Duration, len(slowFigures))
	for i := range slowFigures {
		f := &slowFigures[i]
		units[i] = f.unit(shown)
		if o.Machine {
			t.Columns = append(t.Columns, f.machineColumns()...)
			continue
		}
		u := "a call"
		if f.name == "calls" {
			u = ""
		}
		if units[i] > 0 {
			u = unit.Name(units[i])
		}
		t.Columns = append(t.Columns, report.Column{Key: f.key, Head: f.name, Unit: u, Align: report.Right,
			Drop: f.drop})
		if f.name == "total" {
			t.Columns = append(t.Columns, report.Column{Key: "total_change", Head: "change", Align: report.Right,
				Drop: f.drop})
		}
	}
	for i := range shown {
		m := &shown[i]
		cells := names.nameCells(m.Either())
		for k := range slowFigures {
			cells = append(cells, slowMove(&slowFigures[k], m, units[k], o.Machine)...)
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}

// slowMove is before → after, and of the total the change; for machines both values.
func slowMove(f *logFigure[slowlog.Class], m *Moved[slowlog.Class], u time.Duration, machine bool) []report.Cell {
	b, a := f.of(m.Before), f.of(m.After)
	print := func(v float64) report.Cell {
		switch {
		case math.IsNaN(v):
			return cell.None()
		case u > 0:
			return report.Cell{Text: unit.DurationIn(cell.AsDuration(v), u), Raw: report.RawNumber(v)}
		case f.name == "calls":
			return cell.Count(uint64(v))
		}
		return cell.Number(v)
	}
	if machine {
		return []report.Cell{print(b), print(a)}
	}
	out := []report.Cell{cell.Text(print(b).Text + " → " + print(a).Text)}
	if f.name == "total" {
		switch {
		case m.Before == nil:
			out = append(out, cell.Text("new"))
		case m.After == nil:
			out = append(out, cell.Text("gone"))
		default:
			out = append(out, cell.Text(unit.Change(b, a)))
		}
	}
	return out
}

// A SelectedSlow is what a document says of logs of statements, for programs.
type SelectedSlow struct {
	Document *report.Document
	Classes  []*slowlog.Class // sorted and limited as asked
	Calls    uint64
	Total    time.Duration
	From, To *time.Time // the first and the last start; nil without one
	table    *slowTable
}

// SelectSlow is [Slow] for programs.
func SelectSlow(l *SlowLog, o SlowOptions) (*SelectedSlow, error) {
	d, err := Slow(l, o)
	if err != nil {
		return nil, err
	}
	t, err := newSlowTable(l, o)
	if err != nil {
		return nil, err
	}
	out := &SelectedSlow{Document: d, Classes: t.shown(), Calls: t.calls, Total: t.total, table: t}
	if from, to, ok := l.span(); ok {
		first, last := l.Wall(from, o.Options), l.Wall(to, o.Options)
		out.From, out.To = &first, &last
	}
	return out, nil
}

// Share is the part of the time that a class takes; without times, of the calls.
func (t *SelectedSlow) Share(c *slowlog.Class) float64 { return t.table.share(c) }

// Deviation is the standard deviation of a class's times, in s.
func (t *SelectedSlow) Deviation(c *slowlog.Class) float64 { return t.table.deviation(c) }
