package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/analyze/slowlog"
	"github.com/kasoku/kasoku/unit"
)

// A SlowDiff is two sides of logs of statements, with the same kind of rows.
type SlowDiff struct {
	Before, After *SlowLog
	Names         [2]string // of the sides
}

// A MovedClass is a class of both sides; a side that has not got it is nil.
type MovedClass struct{ Before, After *slowlog.Class }

// either is the side that is there.
func (m *MovedClass) either() *slowlog.Class {
	if m.After != nil {
		return m.After
	}
	return m.Before
}

// A slowFigure is one by which two logs of statements are told apart.
type slowFigure struct {
	name, key string
	drop      int
	time      bool
	value     func(*slowlog.Class) float64
}

var slowFigures = []slowFigure{
	{"calls", "calls", 3, false, func(c *slowlog.Class) float64 { return float64(c.Calls) }},
	{"total", "total_s", 0, true, func(c *slowlog.Class) float64 { return c.Total.Seconds() }},
	{"mean", "mean_s", 2, true, func(c *slowlog.Class) float64 { return c.Latency.Mean().Seconds() }},
	{"p99", "p99_s", 1, true, func(c *slowlog.Class) float64 { return c.Latency.Quantile(0.99).Seconds() }},
	{"examined", "rows_examined", 4, false, func(c *slowlog.Class) float64 { return perCall(c.RowsExamined, c) }},
}

func (f *slowFigure) of(c *slowlog.Class) float64 {
	if c == nil {
		return math.NaN()
	}
	return f.value(c)
}

// moved is how far a figure went; a side that lacks the class counts as 0.
func (f *slowFigure) moved(m *MovedClass) float64 {
	b, a := f.of(m.Before), f.of(m.After)
	if math.IsNaN(b) {
		b = 0
	}
	if math.IsNaN(a) {
		a = 0
	}
	return a - b
}

// Moved are the classes of both sides, those whose figure moved furthest first:
// total, unless the options name another.
func (d *SlowDiff) Moved(o SlowOptions) ([]MovedClass, error) {
	_, b := d.Before.totals()
	_, a := d.After.totals()
	by := o.Sort
	if by == "" {
		by = map[bool]string{true: "total", false: "calls"}[a+b > 0]
	}
	i := slices.IndexFunc(slowFigures, func(f slowFigure) bool { return f.name == by })
	if i < 0 {
		var names []string
		for _, f := range slowFigures {
			names = append(names, f.name)
		}
		return nil, fmt.Errorf("no figure %q: want %s", o.Sort, strings.Join(names, ", "))
	}
	f := &slowFigures[i]
	rows := map[string]*MovedClass{}
	at := func(c *slowlog.Class) *MovedClass {
		k := c.ID + "\x00" + c.Tag + "\x00" + c.Key
		if rows[k] == nil {
			rows[k] = new(MovedClass)
		}
		return rows[k]
	}
	for i := range d.Before.Classes {
		at(&d.Before.Classes[i]).Before = &d.Before.Classes[i]
	}
	for i := range d.After.Classes {
		at(&d.After.Classes[i]).After = &d.After.Classes[i]
	}
	out := make([]MovedClass, 0, len(rows))
	for _, m := range rows {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(x, y MovedClass) int {
		c := cmp.Compare(math.Abs(f.moved(&y)), math.Abs(f.moved(&x)))
		if o.Reverse {
			c = -c
		}
		p, q := x.either(), y.either()
		return cmp.Or(c, cmp.Compare(p.ID, q.ID), cmp.Compare(p.Tag, q.Tag), cmp.Compare(p.Key, q.Key))
	})
	return out, nil
}

// DiffSlow tells what moved between two sides of logs of statements.
func DiffSlow(d *SlowDiff, o SlowOptions) (*Document, error) {
	rows, err := d.Moved(o)
	if err != nil {
		return nil, err
	}
	name := d.Names[0] + " → " + d.Names[1]
	out := &Document{Kind: KindLogDiff, Title: name, Name: name, Head: []string{name}, Verdict: d.verdict(), Commands: o.Commands, Footer: footer(o.Options, "")}
	for _, l := range []*SlowLog{d.Before, d.After} {
		if l.Stopped != "" {
			out.Alerts = append(out.Alerts, Alert{Tone: Mark, Text: l.Stopped})
		}
	}
	out.Sections = append(out.Sections, Section{ID: SectionSides, Title: "Sides", Blocks: []Block{d.sides(o.Options)}})
	if len(rows) > 0 {
		out.Sections = append(out.Sections, Section{ID: SectionMoved, Title: "What moved", Count: len(rows), Blocks: []Block{d.table(rows, o)}})
	}
	return out, nil
}

// verdict tells how the time of all statements moved.
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
		return calls + ". The logs tell no times."
	}
	u := commonUnit(tb, ta)
	return "Time of statements " + unit.DurationIn(tb, u) + " → " + unit.DurationIn(ta, u) + " " + unit.Name(u) + ", " + unit.Change(tb.Seconds(), ta.Seconds()) + "; " + calls + "."
}

// sides says what stands on both sides.
func (d *SlowDiff) sides(o Options) *Table {
	t := &Table{ID: "sides", Columns: []Column{
		{Key: "side", Head: "side"},
		{Key: "log", Head: "log", Code: true, Cut: true},
		{Key: "calls", Head: "calls", Align: Right},
		{Key: "covers_s", Head: "covers", Align: Right},
		{Key: "dropped", Head: "dropped", Unit: "lines", Align: Right},
		{Key: "format", Head: "format", Drop: 1},
	}}
	for i, l := range []*SlowLog{d.Before, d.After} {
		n, _ := l.totals()
		covers := none()
		if from, to, ok := l.span(); ok {
			covers = Cell{Text: unit.Exact(covered(from, to)), Raw: raw(covered(from, to).Seconds())}
		}
		side := [2]string{"before", "after"}[i]
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(side), text(d.Names[i]), count(n), covers, count(sumOf(l.Logs).Dropped), text(cmp.Or(l.formats(), unit.Missing))}})
	}
	return t
}

// table makes the table; for machines before and after stand in columns of their own.
func (d *SlowDiff) table(rows []MovedClass, o SlowOptions) *Table {
	names := (&slowTable{log: d.Before, o: o})
	t := &Table{ID: "moved", Tell: "-o tsv shows them", Sortable: true, Columns: names.names(),
		Note: "One log against one: what moved is told, not whether it would move again. `kasoku compare` judges groups of runs."}
	shown := rows
	if o.Limit > 0 && len(rows) > o.Limit {
		shown = rows[:o.Limit]
		t.More = unit.Count(len(rows)-len(shown)) + " more, which moved less"
	}
	units := make([]time.Duration, len(slowFigures))
	for i := range slowFigures {
		f := &slowFigures[i]
		units[i] = f.unit(shown)
		if o.Machine {
			stem, s := strings.CutSuffix(f.key, "_s")
			suffix := map[bool]string{true: "_s"}[s]
			t.Columns = append(t.Columns, Column{Key: stem + "_before" + suffix, Align: Right}, Column{Key: stem + "_after" + suffix, Align: Right})
			continue
		}
		u := "a call"
		if f.name == "calls" {
			u = ""
		}
		if f.time {
			u = unit.Name(units[i])
		}
		t.Columns = append(t.Columns, Column{Key: f.key, Head: f.name, Unit: u, Align: Right, Drop: f.drop})
		if f.name == "total" {
			t.Columns = append(t.Columns, Column{Key: "total_change", Head: "change", Align: Right, Drop: f.drop})
		}
	}
	for i := range shown {
		m := &shown[i]
		cells := names.nameCells(m.either())
		for k := range slowFigures {
			cells = append(cells, slowFigures[k].cells(m, units[k], o.Machine)...)
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

// unit is that of the figure's column; 0 of counts.
func (f *slowFigure) unit(rows []MovedClass) time.Duration {
	if !f.time {
		return 0
	}
	var all []time.Duration
	for i := range rows {
		for _, v := range []float64{f.of(rows[i].Before), f.of(rows[i].After)} {
			if !math.IsNaN(v) {
				all = append(all, asDuration(v))
			}
		}
	}
	return commonUnit(all...)
}

// cells are before → after, and of the total the change; for machines both values.
func (f *slowFigure) cells(m *MovedClass, u time.Duration, machine bool) []Cell {
	b, a := f.of(m.Before), f.of(m.After)
	print := func(v float64) Cell {
		switch {
		case math.IsNaN(v):
			return none()
		case f.time:
			return Cell{Text: unit.DurationIn(asDuration(v), u), Raw: raw(v)}
		case f.name == "calls":
			return count(uint64(v))
		}
		return number(v)
	}
	if machine {
		return []Cell{print(b), print(a)}
	}
	out := []Cell{text(print(b).Text + " → " + print(a).Text)}
	if f.name == "total" {
		switch {
		case m.Before == nil:
			out = append(out, text("new"))
		case m.After == nil:
			out = append(out, text("gone"))
		default:
			out = append(out, text(unit.Change(b, a)))
		}
	}
	return out
}

// A ToldSlow is what a document says of logs of statements, for programs.
type ToldSlow struct {
	Document *Document
	Classes  []*slowlog.Class // sorted and limited as asked
	Calls    uint64
	Total    time.Duration
	From, To *time.Time // the first and the last start; nil without one
	table    *slowTable
}

// TellSlow is [Slow] for programs.
func TellSlow(l *SlowLog, o SlowOptions) (*ToldSlow, error) {
	d, err := Slow(l, o)
	if err != nil {
		return nil, err
	}
	t, err := newSlowTable(l, o)
	if err != nil {
		return nil, err
	}
	out := &ToldSlow{Document: d, Classes: t.shown(), Calls: t.calls, Total: t.total, table: t}
	if from, to, ok := l.span(); ok {
		first, last := l.Wall(from, o.Options), l.Wall(to, o.Options)
		out.From, out.To = &first, &last
	}
	return out, nil
}

// Share is the part of the time that a class takes; without times, of the calls.
func (t *ToldSlow) Share(c *slowlog.Class) float64 { return t.table.share(c) }

// Deviation is the standard deviation of a class's times, in s.
func (t *ToldSlow) Deviation(c *slowlog.Class) float64 { return t.table.deviation(c) }
