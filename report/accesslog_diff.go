package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/analyze/accesslog"
	"github.com/kasoku/kasoku/unit"
)

// A LogDiff is two sides of access logs. Their rows have the same keys.
type LogDiff struct {
	Before, After *AccessLog
	Names         [2]string // of the sides
}

// A MovedRow is a row of both sides; a side that has not got it is nil.
type MovedRow struct {
	Key           []string
	Before, After *accesslog.Row
}

// A movedFigure is one figure of both sides. A side without it is NaN.
type movedFigure struct {
	name  string
	key   string // for machines, without before and after
	drop  int
	value func(*accesslog.Row) float64
}

// movedFigures are those by which two logs are told apart, in their order.
var movedFigures = []movedFigure{
	{"requests", "requests", 3, func(r *accesslog.Row) float64 { return float64(r.Count) }},
	{"total", "total_s", 1, func(r *accesslog.Row) float64 { return timed(r, r.Total.Seconds()) }},
	{"mean", "mean_s", 4, func(r *accesslog.Row) float64 { return timed(r, r.Latency.Mean().Seconds()) }},
	{"p50", "p50_s", 5, func(r *accesslog.Row) float64 { return timed(r, r.Latency.Quantile(0.5).Seconds()) }},
	{"p99", "p99_s", 2, func(r *accesslog.Row) float64 { return timed(r, r.Latency.Quantile(0.99).Seconds()) }},
	{"5xx", "status_5xx", 6, func(r *accesslog.Row) float64 { return float64(r.Failed()) }},
}

// of returns the figure of a side.
func (f movedFigure) of(r *accesslog.Row) float64 {
	if r == nil {
		return math.NaN()
	}
	return f.value(r)
}

// rates reports whether a change of the figure is told beside it: errors mostly come
// from 0 or go to 0.
func (f movedFigure) rates() bool { return f.name != "5xx" }

// moved is how far a figure went; a side that lacks it counts as 0, and a row that
// has it on neither did not move.
func (f movedFigure) moved(r *MovedRow) float64 {
	b, a := f.of(r.Before), f.of(r.After)
	if math.IsNaN(b) {
		b = 0
	}
	if math.IsNaN(a) {
		a = 0
	}
	return a - b
}

// Moved are the rows of both sides, those whose figure moved furthest first: total,
// unless the options name another.
func (d *LogDiff) Moved(o AccessOptions) ([]MovedRow, error) {
	by := cmp.Or(o.Sort, "total")
	by = cmp.Or(columnAliases[by], by)
	i := slices.IndexFunc(movedFigures, func(f movedFigure) bool { return f.name == by })
	if i < 0 {
		var names []string
		for _, f := range movedFigures {
			names = append(names, f.name)
		}
		return nil, fmt.Errorf("no figure %q: want %s", by, strings.Join(names, ", "))
	}
	f := movedFigures[i]
	if _, _, b := d.Before.requests(); b == 0 && o.Sort == "" {
		if _, _, a := d.After.requests(); a == 0 {
			f = movedFigures[0]
		}
	}
	rows := map[string]*MovedRow{}
	at := func(r *accesslog.Row) *MovedRow {
		k := strings.Join(r.Key, "\x00")
		if rows[k] == nil {
			rows[k] = &MovedRow{Key: r.Key}
		}
		return rows[k]
	}
	for i := range d.Before.Rows {
		at(&d.Before.Rows[i]).Before = &d.Before.Rows[i]
	}
	for i := range d.After.Rows {
		at(&d.After.Rows[i]).After = &d.After.Rows[i]
	}
	out := make([]MovedRow, 0, len(rows))
	for _, r := range rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(x, y MovedRow) int {
		c := cmp.Compare(math.Abs(f.moved(&y)), math.Abs(f.moved(&x)))
		if o.Reverse {
			c = -c
		}
		return cmp.Or(c, slices.Compare(x.Key, y.Key))
	})
	return out, nil
}

// DiffAccess tells what moved between two sides of access logs.
func DiffAccess(d *LogDiff, o AccessOptions) (*Document, error) {
	rows, err := d.Moved(o)
	if err != nil {
		return nil, err
	}
	out := &Document{
		Kind: KindLogDiff, Title: d.Names[0] + " → " + d.Names[1], Name: d.Names[0] + " → " + d.Names[1], Verdict: d.verdict(),
		Head:     []string{d.Names[0] + " → " + d.Names[1]},
		Commands: o.Commands, Footer: footer(o.Options, ""),
	}
	for _, a := range []*AccessLog{d.Before, d.After} {
		if a.Stopped != "" {
			out.Alerts = append(out.Alerts, Alert{Tone: Mark, Text: a.Stopped})
		}
	}
	out.add(o.Options, Section{ID: SectionSides, Title: "Sides", Blocks: []Block{d.sides(o.Options)}})
	if len(rows) > 0 {
		out.add(o.Options, Section{ID: SectionMoved, Title: "What moved", Count: len(rows), Blocks: []Block{d.table(rows, o)}})
	}
	out.add(o.Options, d.notesSection())
	return out, nil
}

// verdict tells how the request time of everything moved.
func (d *LogDiff) verdict() string {
	nb, timedBefore, tb := d.Before.requests()
	na, timedAfter, ta := d.After.requests()
	switch {
	case nb == 0 && na == 0:
		return "No request on either side."
	case nb == 0 || na == 0:
		return "No request in " + d.Names[map[bool]int{true: 0, false: 1}[nb == 0]] + "."
	case tb == 0 && ta == 0:
		return unit.Count(nb) + " → " + unit.Count(na) + " requests, " + unit.Change(float64(nb), float64(na)) + ". The logs tell no request times."
	}
	u := commonUnit(tb, ta)
	mb, ma := tb/time.Duration(max(timedBefore, 1)), ta/time.Duration(max(timedAfter, 1))
	um := commonUnit(mb, ma)
	return "Request time " + unit.DurationIn(tb, u) + " → " + unit.DurationIn(ta, u) + " " + unit.Name(u) + ", " + unit.Change(tb.Seconds(), ta.Seconds()) + "; " +
		unit.Count(nb) + " → " + unit.Count(na) + " requests, " + unit.Change(float64(nb), float64(na)) + "; mean " +
		unit.DurationIn(mb, um) + " → " + unit.DurationIn(ma, um) + " " + unit.Name(um) + ", " + unit.Change(mb.Seconds(), ma.Seconds()) + "."
}

// sides says what stands on both sides.
func (d *LogDiff) sides(o Options) *Table {
	t := &Table{ID: "sides", Columns: []Column{
		{Key: "side", Head: "side"},
		{Key: "log", Head: "log", Code: true, Cut: true},
		{Key: "requests", Head: "requests", Align: Right},
		{Key: "covers_s", Head: "covers", Align: Right},
		{Key: "dropped", Head: "dropped", Unit: "lines", Align: Right},
		{Key: "format", Head: "format", Drop: 1},
	}}
	for i, a := range []*AccessLog{d.Before, d.After} {
		n, _, _ := a.requests()
		covers := none()
		if from, to, ok := a.span(); ok {
			covers = Cell{Text: unit.Exact(covered(from, to)), Raw: raw(covered(from, to).Seconds())}
		}
		side := [2]string{"before", "after"}[i]
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(side), text(d.Names[i]), count(n), covers, count(a.account().Dropped), text(cmp.Or(a.formats(), unit.Missing))}})
	}
	return t
}

// notesSection tells what limits the comparison.
func (d *LogDiff) notesSection() Section {
	notes := &Notes{}
	for i, a := range []*AccessLog{d.Before, d.After} {
		for _, b := range a.notesSection().Blocks {
			if n, ok := b.(*Notes); ok {
				for _, x := range n.List {
					x.Label, x.Code = d.Names[i], true
					notes.List = append(notes.List, x)
				}
			}
		}
	}
	s := Section{ID: SectionNotes, Title: "Notes"}
	if len(notes.List) > 0 {
		s.Blocks = []Block{notes}
	}
	return s
}

// table makes the table; for machines before and after stand in columns of their
// own.
func (d *LogDiff) table(rows []MovedRow, o AccessOptions) *Table {
	t := &Table{ID: "moved", Tell: "-o tsv shows them", Sortable: true,
		Note: "One log against one: what moved is told, not whether it would move again. `kasoku compare` judges groups of runs."}
	shown := rows
	if o.Limit > 0 && len(rows) > o.Limit {
		shown = rows[:o.Limit]
		t.More = unit.Count(len(rows)-len(shown)) + " more, which moved less"
	}
	for _, k := range d.Before.By {
		c := Column{Key: k, Head: k, Code: true, Cut: k != "method" && k != "status"}
		if c.Cut {
			c.Least = leastKey
		}
		t.Columns = append(t.Columns, c)
	}
	units := map[string]time.Duration{}
	figures := movedFigures
	if !o.Machine {
		figures = slices.DeleteFunc(slices.Clone(figures), func(f movedFigure) bool { return f.name == "5xx" && !anyOf(f, shown) })
	}
	for _, f := range figures {
		units[f.name] = movedUnit(f, shown)
		u := ""
		if units[f.name] > 0 {
			u = unit.Name(units[f.name])
		}
		if o.Machine {
			stem, s := strings.CutSuffix(f.key, "_s")
			suffix := map[bool]string{true: "_s"}[s]
			t.Columns = append(t.Columns, Column{Key: stem + "_before" + suffix, Align: Right}, Column{Key: stem + "_after" + suffix, Align: Right})
			continue
		}
		t.Columns = append(t.Columns, Column{Key: f.key, Head: f.name, Unit: u, Align: Right, Drop: f.drop})
		if f.rates() {
			t.Columns = append(t.Columns, Column{Key: f.key + "_change", Head: "change", Align: Right, Drop: f.drop})
		}
	}
	for _, r := range shown {
		var cells []Cell
		for _, k := range r.Key {
			cells = append(cells, text(k))
		}
		for _, f := range figures {
			cells = append(cells, movedCells(f, &r, units[f.name], o.Machine)...)
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

// anyOf reports whether a figure is above 0 anywhere.
func anyOf(f movedFigure, rows []MovedRow) bool {
	return slices.ContainsFunc(rows, func(r MovedRow) bool { return f.of(r.Before) > 0 || f.of(r.After) > 0 })
}

// movedUnit is the unit of a figure's column; 0 of counts.
func movedUnit(f movedFigure, rows []MovedRow) time.Duration {
	if !strings.HasSuffix(f.key, "_s") {
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

// movedCells are before → after and the change; for machines both values.
func movedCells(f movedFigure, r *MovedRow, u time.Duration, machine bool) []Cell {
	b, a := f.of(r.Before), f.of(r.After)
	print := func(v float64) string {
		switch {
		case math.IsNaN(v):
			return unit.Missing
		case u > 0:
			return unit.DurationIn(asDuration(v), u)
		}
		return unit.Count(uint64(v))
	}
	if machine {
		cell := func(v float64) Cell {
			if math.IsNaN(v) {
				return none()
			}
			return Cell{Text: print(v), Raw: raw(v)}
		}
		return []Cell{cell(b), cell(a)}
	}
	both := Cell{Text: print(b) + " → " + print(a)}
	if !math.IsNaN(a) {
		both.Raw = raw(a)
	}
	if !f.rates() {
		return []Cell{both}
	}
	change := none()
	if !math.IsNaN(b) && !math.IsNaN(a) {
		change = Cell{Text: unit.Change(b, a), Raw: raw(a - b)}
	}
	return []Cell{both, change}
}
