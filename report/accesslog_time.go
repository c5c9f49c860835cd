package report

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
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
func (a *AccessLog) timelineSection(o Options) Section {
	s := Section{ID: SectionTimeline, Title: "Timeline"}
	from, to, ok := a.span()
	if !ok || to-from < time.Second {
		return s
	}
	step := int(a.step() / time.Second)
	start := from.Truncate(a.step())
	g := newGrid(covered(start, to))
	g.column = (g.column + step - 1) / step * step
	good, failed := make([]float64, g.columns()), make([]float64, g.columns())
	for second, n := range a.seconds() {
		c := (second - int(start/time.Second)) / g.column
		bad, all := float64(n.Failed)/float64(step), float64(n.Count)/float64(step)
		// A column that holds several steps shows one of them: where most failed, else
		// where most came.
		if c < 0 || c >= len(good) || bad < failed[c] || bad == failed[c] && all < good[c]+failed[c] {
			continue
		}
		good[c], failed[c] = all-bad, bad
	}
	c := Chart{ID: "requests", Title: "Requests", Unit: "per second, when logged", Height: plainHeight}
	c.Series = []ChartSeries{
		{Name: "answered", Colour: "s1", Form: Bars, Spans: g.blocks(good), Values: good},
		{Name: "5xx", Colour: "bad", Form: Bars, Spans: g.blocks(failed), Values: failed},
	}
	c.Axis = linearAxis(most(plus(good, failed)), nil, unit.Plain)
	c.peaks()
	t := &Timeline{ID: "timeline", Seconds: g.seconds, Column: g.column, Started: a.Wall(start, o), Charts: []Chart{c}}
	t.Sparks = []Spark{{Name: "answered/s", Values: good, Peak: "max " + c.Print(most(good))}}
	if most(failed) > 0 {
		t.Sparks = append(t.Sparks, Spark{Name: "5xx/s", Values: failed, Tone: Bad,
			Peak: "max " + c.Print(most(failed))})
	}
	switch {
	case g.column > step:
		t.Note = "Each column holds " + unit.Exact(time.Duration(g.column)*time.Second) + " and shows the " +
			stepWord(step) + " in which most failed, else the busiest."
	case step > 1:
		t.Note = "Each column is the mean of " + unit.Exact(a.step()) + "."
	}
	s.Sub = "Requests by the second in which they were logged, which is when they were answered."
	s.Blocks = []Block{t}
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
func AccessSeconds(a *AccessLog, o AccessOptions) (*Document, error) {
	t, err := newAccessTable(a, o)
	if err != nil {
		return nil, err
	}
	out := &Table{ID: "seconds", Columns: []Column{{Key: "at", Head: "at"}}}
	for _, k := range a.By {
		out.Columns = append(out.Columns, Column{Key: k, Head: k, Code: true})
	}
	out.Columns = append(out.Columns, Column{Key: "requests", Head: "requests", Align: Right},
		Column{Key: "status_5xx", Head: "5xx", Align: Right})
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
		cells := []Cell{{Text: at.Format(time.RFC3339)}}
		for _, k := range s.of.Key {
			cells = append(cells, text(k))
		}
		out.Rows = append(out.Rows, Row{Cells: append(cells, count(s.Count), count(s.Failed))})
	}
	return &Document{Kind: KindAccessLog, Sections: []Section{{ID: "seconds", Title: "Seconds",
		Blocks: []Block{out}}}}, nil
}

// AccessTable keeps of a document the one table with that id, for formats that hold
// one.
func AccessTable(d *Document, id string) *Document {
	only := *d
	only.Sections = nil
	for _, s := range d.Sections {
		s.Blocks = slices.DeleteFunc(slices.Clone(s.Blocks), func(b Block) bool {
			t, ok := b.(*Table)
			return !ok || t.ID != id
		})
		if len(s.Blocks) > 0 {
			only.Sections = append(only.Sections, s)
		}
	}
	return &only
}
