package logfile

import (
	"cmp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/timeline"
)

// timelineSection draws the statements of each second.
func (l *SlowLog) timelineSection(o report.Options) report.Section {
	s := report.Section{ID: report.SectionTimeline, Title: "Timeline"}
	from, to, ok := l.span()
	if !ok || to-from < time.Second {
		return s
	}
	first := int(from / time.Second)
	g := timeline.NewGrid(covered(from, to))
	calls, busy := make([]float64, g.Columns()), make([]float64, g.Columns())
	for i := range l.Classes {
		for second, n := range l.Classes[i].Seconds {
			if c := (second - first) / g.Column; c >= 0 && c < len(calls) {
				calls[c] += float64(n.Calls) / float64(g.Column)
				busy[c] += n.Total.Seconds() / float64(g.Column)
			}
		}
	}
	c := report.Chart{ID: "statements", Title: "Statements", Unit: "per second, when they started",
		Height: timeline.PlainHeight}
	c.Series = []report.ChartSeries{{Name: "statements", Colour: "s1", Form: report.Bars, Spans: g.Blocks(calls),
		Values: calls}}
	c.Axis = report.LinearAxis(report.Largest(calls), nil, unit.Plain)
	c.Peaks()
	t := &report.Timeline{ID: "timeline", Seconds: g.Seconds, Column: g.Column,
		Started: l.Wall(from.Truncate(time.Second),
			o), Charts: []report.Chart{c}}
	t.Sparks = []report.Spark{{Name: "statements/s", Values: calls, Peak: "max " + c.Print(report.Largest(calls))}}
	if report.Largest(busy) > 0 {
		b := report.Chart{ID: "busy", Title: "At a time", Unit: "statements, mean of the second", Places: -1,
			Height: timeline.PlainHeight}
		b.Series = []report.ChartSeries{{Name: "at a time", Colour: "s2", Form: report.Bars, Spans: g.Blocks(busy),
			Values: busy}}
		b.Axis = report.LinearAxis(report.Largest(busy), nil, unit.Plain)
		b.Peaks()
		t.Charts = append(t.Charts, b)
		t.Sparks = append(t.Sparks, report.Spark{Name: "at a time", Values: busy,
			Peak: "max " + b.Print(report.Largest(busy))})
	}
	if g.Column > 1 {
		t.Note = "Each column is the mean of " + unit.Exact(time.Duration(g.Column)*time.Second) + "."
	}
	s.Sub = "Statements by the second in which they started; their times of a second added up are how many ran at a time."
	s.Blocks = []report.Block{t}
	return s
}

// SlowSeconds is the table of each row's calls by second, for programs. A second in
// which a row had none is left out.
func SlowSeconds(l *SlowLog, o SlowOptions) (*report.Document, error) {
	t, err := newSlowTable(l, o)
	if err != nil {
		return nil, err
	}
	out := &report.Table{ID: "seconds", Columns: append([]report.Column{{Key: "at", Head: "at"}}, t.names()...)}
	out.Columns = append(out.Columns, report.Column{Key: "calls", Head: "calls", Align: report.Right},
		report.Column{Key: "total_s", Head: "total", Unit: "s", Align: report.Decimal})
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
		cells := append([]report.Cell{{Text: at.Format(time.RFC3339)}}, t.nameCells(s.of)...)
		out.Rows = append(out.Rows, report.Row{Cells: append(cells, cell.Count(s.Calls),
			cell.Duration(s.Total, time.Second))})
	}
	return &report.Document{Kind: report.KindSlowLog, Sections: []report.Section{{ID: "seconds", Title: "Seconds",
			Blocks: []report.Block{out}}}},
		nil
}
