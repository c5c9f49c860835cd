package logfile

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/timeline"
)

// seconds adds up the rows by second of the log.
func (a *AccessLog) seconds() map[int]kasoku.EndpointSecond {
	out := map[int]kasoku.EndpointSecond{}
	for i := range a.Rows {
		for second, s := range a.Rows[i].Seconds {
			sum := out[second]
			sum.Count += s.Count
			sum.Failed += s.Failed
			out[second] = sum
		}
	}
	return out
}

// timelineSection draws the requests of each second. A second without a request is
// one with 0: the log would have shown it.
func (a *AccessLog) timelineSection(o report.Options) report.Section {
	s := report.Section{ID: report.SectionTimeline, Title: "Timeline"}
	from, to, ok := a.span()
	if !ok || to-from < time.Second {
		return s
	}
	step := int(a.step() / time.Second)
	start := from.Truncate(a.step())
	g := timeline.NewGrid(covered(start, to))
	g.Column = (g.Column + step - 1) / step * step
	good, failed := make([]float64, g.Columns()), make([]float64, g.Columns())
	for second, n := range a.seconds() {
		c := (second - int(start/time.Second)) / g.Column
		bad, all := float64(n.Failed)/float64(step), float64(n.Count)/float64(step)
		// A column that holds several steps shows one of them: where most failed, else
		// where most came.
		if c < 0 || c >= len(good) || bad < failed[c] || bad == failed[c] && all < good[c]+failed[c] {
			continue
		}
		good[c], failed[c] = all-bad, bad
	}
	c := report.Chart{ID: "requests", Title: "Requests", Unit: "per second, when logged", Height: timeline.PlainHeight}
	c.Series = []report.ChartSeries{
		{Name: "answered", Colour: "s1", Form: report.Bars, Spans: g.Blocks(good), Values: good},
		{Name: "5xx", Colour: "bad", Form: report.Bars, Spans: g.Blocks(failed), Values: failed},
	}
	c.Axis = report.LinearAxis(report.Largest(timeline.AddUp(good, failed)), nil, unit.Plain)
	c.Peaks()
	t := &report.Timeline{ID: "timeline", Seconds: g.Seconds, Column: g.Column, Started: a.Wall(start, o),
		Charts: []report.Chart{c}}
	t.Sparks = []report.Spark{{Name: "answered/s", Values: good, Peak: "max " + c.Print(report.Largest(good))}}
	if report.Largest(failed) > 0 {
		t.Sparks = append(t.Sparks, report.Spark{Name: "5xx/s", Values: failed, Tone: report.Bad,
			Peak: "max " + c.Print(report.Largest(failed))})
	}
	switch {
	case g.Column > step:
		t.Note = "Each column holds " + unit.Exact(time.Duration(g.Column)*time.Second) + " and shows the " +
			stepWord(step) + " in which most failed, else the busiest."
	case step > 1:
		t.Note = "Each column is the mean of " + unit.Exact(a.step()) + "."
	}
	s.Sub = "Requests by the second in which they were logged, which is when they were answered."
	s.Blocks = []report.Block{t}
	return s
}

// stepWord names a step of so many seconds.
func stepWord(step int) string {
	if step == 1 {
		return "second"
	}
	return unit.Exact(time.Duration(step) * time.Second)
}

// step is how long the steps of the rows' Seconds are.
func (a *AccessLog) step() time.Duration { return max(a.Step, time.Second) }

// AccessSeconds is the table of each row's requests by second, for programs. A
// second in which a row had none is left out.
func AccessSeconds(a *AccessLog, o AccessOptions) (*report.Document, error) {
	t, err := newAccessTable(a, o)
	if err != nil {
		return nil, err
	}
	out := &report.Table{ID: "seconds", Columns: []report.Column{{Key: "at", Head: "at"}}}
	for _, k := range a.By {
		out.Columns = append(out.Columns, report.Column{Key: k, Head: k, Code: true})
	}
	out.Columns = append(out.Columns, report.Column{Key: "requests", Head: "requests", Align: report.Right},
		report.Column{Key: "status_5xx", Head: "5xx", Align: report.Right})
	type second struct {
		at int
		of *accesslog.Row
		kasoku.EndpointSecond
	}
	var all []second
	for _, r := range t.shown() {
		for at, n := range r.Seconds {
			all = append(all, second{at, r, n})
		}
	}
	slices.SortFunc(all, func(x, y second) int {
		if x.at != y.at {
			return x.at - y.at
		}
		return slices.Compare(x.of.Key, y.of.Key)
	})
	for _, s := range all {
		at := a.Wall(time.Duration(s.at)*time.Second, o.Options)
		cells := []report.Cell{{Text: at.Format(time.RFC3339)}}
		for _, k := range s.of.Key {
			cells = append(cells, cell.Text(k))
		}
		out.Rows = append(out.Rows, report.Row{Cells: append(cells, cell.Count(s.Count), cell.Count(s.Failed))})
	}
	return &report.Document{Kind: report.KindAccessLog, Sections: []report.Section{{ID: "seconds", Title: "Seconds",
		Blocks: []report.Block{out}}}}, nil
}

// AccessTable keeps of a document the one table with that id, for formats that hold
// one.
func AccessTable(d *report.Document, id string) *report.Document {
	only := *d
	only.Sections = nil
	for _, s := range d.Sections {
		s.Blocks = slices.DeleteFunc(slices.Clone(s.Blocks), func(b report.Block) bool {
			t, ok := b.(*report.Table)
			return !ok || t.ID != id
		})
		if len(s.Blocks) > 0 {
			only.Sections = append(only.Sections, s)
		}
	}
	return &only
}
