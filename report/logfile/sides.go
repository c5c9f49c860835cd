package logfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// A Moved is a row of both sides of a difference of logs; a side that has not got it
// is nil.
type Moved[R any] struct{ Before, After *R }

// Either is the side that is there, rather the one after.
func (m *Moved[R]) Either() *R { return cmp.Or(m.After, m.Before) }

// paired are the rows of both sides, in no order.
func paired[R any](before, after []R, key func(*R) string) []Moved[R] {
	rows := map[string]*Moved[R]{}
	at := func(r *R) *Moved[R] {
		k := key(r)
		if rows[k] == nil {
			rows[k] = new(Moved[R])
		}
		return rows[k]
	}
	for i := range before {
		at(&before[i]).Before = &before[i]
	}
	for i := range after {
		at(&after[i]).After = &after[i]
	}
	out := make([]Moved[R], 0, len(rows))
	for _, m := range rows {
		out = append(out, *m)
	}
	return out
}

// A logFigure is one by which two sides are distinguished. Its value is NaN where a row
// does not have it.
type logFigure[R any] struct {
	name  string
	key   string // for machines, without before and after; that of a time ends in _s
	drop  int
	value func(*R) float64
}

// figureNamed finds a figure.
func figureNamed[R any](all []logFigure[R], name string) (*logFigure[R], error) {
	var names []string
	for i := range all {
		if all[i].name == name {
			return &all[i], nil
		}
		names = append(names, all[i].name)
	}
	return nil, fmt.Errorf("no figure %q: want %s", name, strings.Join(names, ", "))
}

// of returns the figure of a side, NaN of one that is not there.
func (f *logFigure[R]) of(r *R) float64 {
	if r == nil {
		return math.NaN()
	}
	return f.value(r)
}

// moved is how far the figure went; a side that lacks it counts as 0, and a row that
// has it on neither did not move.
func (f *logFigure[R]) moved(m *Moved[R]) float64 {
	b, a := f.of(m.Before), f.of(m.After)
	if math.IsNaN(b) {
		b = 0
	}
	if math.IsNaN(a) {
		a = 0
	}
	return a - b
}

// sort puts the rows first that moved furthest, or least; ties stand in an order of
// their own.
func (f *logFigure[R]) sort(rows []Moved[R], least bool, ties func(x, y *R) int) {
	slices.SortFunc(rows, func(x, y Moved[R]) int {
		c := cmp.Compare(math.Abs(f.moved(&y)), math.Abs(f.moved(&x)))
		if least {
			c = -c
		}
		return cmp.Or(c, ties(x.Either(), y.Either()))
	})
}

// unit is that of the figure's column; 0 of what is no time.
func (f *logFigure[R]) unit(rows []Moved[R]) time.Duration {
	if !strings.HasSuffix(f.key, "_s") {
		return 0
	}
	var all []time.Duration
	for i := range rows {
		for _, v := range []float64{f.of(rows[i].Before), f.of(rows[i].After)} {
			if !math.IsNaN(v) {
				all = append(all, cell.AsDuration(v))
			}
		}
	}
	return cell.CommonUnit(all...)
}

// machineColumns are those of both sides: total_before_s, total_after_s.
func (f *logFigure[R]) machineColumns() []report.Column {
	stem, isTime := strings.CutSuffix(f.key, "_s")
	suffix := map[bool]string{true: "_s"}[isTime]
	return []report.Column{{Key: stem + "_before" + suffix, Align: report.Right},
		{Key: stem + "_after" + suffix, Align: report.Right}}
}

// diffDocument is one of two sides that has their head and no section.
func diffDocument(names [2]string, verdict string, o report.Options) *report.Document {
	name := names[0] + " → " + names[1]
	return &report.Document{Kind: report.KindLogDiff, Title: name, Name: name, Head: []string{name}, Verdict: verdict,
		Commands: o.Commands, Footer: report.FooterOf(o, "")}
}

// A logSide is what is reported of one side as a whole.
type logSide struct {
	name    string
	records uint64
	covers  report.Cell
	logs    []kasoku.LogWindow
}

// sidesTable describes what stands on both sides; their records are named so.
func sidesTable(sides [2]logSide, records string) *report.Table {
	t := &report.Table{ID: "sides", Columns: []report.Column{
		{Key: "side", Head: "side"},
		{Key: "log", Head: "log", Code: true, Cut: true},
		{Key: records, Head: records, Align: report.Right},
		{Key: "covers_s", Head: "covers", Align: report.Right},
		{Key: "dropped", Head: "dropped", Unit: "lines", Align: report.Right},
		{Key: "format", Head: "format", Drop: 1},
	}}
	for i, s := range sides {
		which := [2]string{"before", "after"}[i]
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(which), cell.Text(s.name),
			cell.Count(s.records), s.covers,
			cell.Count(sumOf(s.logs).Dropped), cell.Text(cmp.Or(formatsOf(s.logs), unit.Missing))}})
	}
	return t
}

// coverage is how long a side covers, none when its logs have no times.
func coverage(from, to time.Duration, ok bool) report.Cell {
	if !ok {
		return cell.None()
	}
	return report.Cell{Text: unit.Exact(covered(from, to)), Raw: report.RawNumber(covered(from, to).Seconds())}
}

// movedTable is one without columns that shows so many of all rows.
func movedTable(shown, all int) *report.Table {
	t := &report.Table{ID: "moved", NarrowHint: "-o tsv shows them", Sortable: true,
		Note: "One log against one: what moved is reported, not whether it would move again. `kasoku compare` judges " +
			"groups of runs."}
	if shown < all {
		t.More = unit.Count(all-shown) + " more, which moved less"
	}
	return t
}
