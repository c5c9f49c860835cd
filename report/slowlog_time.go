package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
)

// timelineSection draws the statements of each second.
func (l *SlowLog) timelineSection(o Options) Section {
	s := Section{ID: SectionTimeline, Title: "Timeline"}
	from, to, ok := l.span()
	if !ok || to-from < time.Second {
		return s
	}
	first := int(from / time.Second)
	g := newGrid(covered(from, to))
	calls, busy := make([]float64, g.columns()), make([]float64, g.columns())
	for i := range l.Classes {
		for second, n := range l.Classes[i].Seconds {
			if c := (second - first) / g.column; c >= 0 && c < len(calls) {
				calls[c] += float64(n.Calls) / float64(g.column)
				busy[c] += n.Total.Seconds() / float64(g.column)
			}
		}
	}
	c := Chart{ID: "statements", Title: "Statements", Unit: "per second, when they started", Height: plainHeight}
	c.Series = []ChartSeries{{Name: "statements", Colour: "s1", Form: Bars, Spans: g.blocks(calls), Values: calls}}
	c.Axis = linearAxis(most(calls), nil, unit.Plain)
	c.peaks()
	t := &Timeline{ID: "timeline", Seconds: g.seconds, Column: g.column, Started: l.Wall(from.Truncate(time.Second),
		o), Charts: []Chart{c}}
	t.Sparks = []Spark{{Name: "statements/s", Values: calls, Peak: "max " + c.Print(most(calls))}}
	if most(busy) > 0 {
		b := Chart{ID: "busy", Title: "At a time", Unit: "statements, mean of the second", Places: -1,
			Height: plainHeight}
		b.Series = []ChartSeries{{Name: "at a time", Colour: "s2", Form: Bars, Spans: g.blocks(busy), Values: busy}}
		b.Axis = linearAxis(most(busy), nil, unit.Plain)
		b.peaks()
		t.Charts = append(t.Charts, b)
		t.Sparks = append(t.Sparks, Spark{Name: "at a time", Values: busy, Peak: "max " + b.Print(most(busy))})
	}
	if g.column > 1 {
		t.Note = "Each column is the mean of " + unit.Exact(time.Duration(g.column)*time.Second) + "."
	}
	s.Sub = "Statements by the second in which they started; their times of a second added up are how many ran at a time."
	s.Blocks = []Block{t}
	return s
}

// SlowSeconds is the table of each row's calls by second, for programs. A second in
// which a row had none is left out.
func SlowSeconds(l *SlowLog, o SlowOptions) (*Document, error) {
	t, err := newSlowTable(l, o)
	if err != nil {
		return nil, err
	}
	out := &Table{ID: "seconds", Columns: append([]Column{{Key: "at", Head: "at"}}, t.names()...)}
	out.Columns = append(out.Columns, Column{Key: "calls", Head: "calls", Align: Right},
		Column{Key: "total_s", Head: "total", Unit: "s", Align: Decimal})
	type second struct {
		at int
		of *slowlog.Class
		kasoku.QuerySecond
	}
	var all []second
	for _, c := range t.shown() {
		for at, n := range c.Seconds {
			all = append(all, second{at, c, n})
		}
	}
	slices.SortFunc(all, func(x, y second) int {
		return cmp.Or(x.at-y.at, cmp.Compare(x.of.ID, y.of.ID), cmp.Compare(x.of.Tag, y.of.Tag))
	})
	for _, s := range all {
		at := l.Wall(time.Duration(s.at)*time.Second, o.Options)
		cells := append([]Cell{{Text: at.Format(time.RFC3339)}}, t.nameCells(s.of)...)
		out.Rows = append(out.Rows, Row{Cells: append(cells, count(s.Calls), duration(s.Total, time.Second))})
	}
	return &Document{Kind: KindSlowLog, Sections: []Section{{ID: "seconds", Title: "Seconds", Blocks: []Block{out}}}},
		nil
}
