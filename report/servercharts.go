package report

import (
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/sources"
)

// serverCharts returns the builders of the charts that sources declare.
func (r rec) serverCharts() (out []func(grid, *Timeline) *Chart) {
	for _, d := range sources.All() {
		if d.Chart.Title != "" {
			out = append(out, func(g grid, t *Timeline) *Chart { return r.serverChart(g, t, d) })
		}
	}
	return out
}

// serverChart shows the signals of a source that have a colour: gauges as they are, of
// counters those that moved, each second.
func (r rec) serverChart(g grid, t *Timeline, d *observe.Declaration) *Chart {
	c := &Chart{ID: d.Name, Title: d.Chart.Title, Height: lowHeight}
	if d.Chart.Rates {
		return r.ratesChart(g, t, d, c)
	}
	top := math.NaN()
	for _, x := range d.Signals {
		if x.Colour == "" {
			continue
		}
		s := r.Find(kasoku.Key{Source: d.Name, Name: x.Key})
		c.quotes = append(c.quotes, quote{d.Name, x.Key})
		c.line(g, x.Label, x.Colour, s)
		if s != nil {
			top = most([]float64{top, most(g.gauge(s))})
		}
	}
	return r.told(c, d.Name, top)
}

// ratesChart shows those counters of a server that moved, each second. The first of
// the list has a line in the terminal, too.
func (r rec) ratesChart(g grid, t *Timeline, d *observe.Declaration, c *Chart) *Chart {
	c.Unit = "per second"
	top := math.NaN()
	first := true
	for _, x := range d.Signals {
		if x.Colour == "" {
			continue
		}
		spark := first
		first = false
		s := r.Find(kasoku.Key{Source: d.Name, Name: x.Key})
		if s == nil {
			continue
		}
		c.quotes = append(c.quotes, quote{d.Name, x.Key})
		vs := g.rates(s)
		m := most(vs)
		if !(m > 0) {
			continue
		}
		top = most([]float64{top, m})
		vs = g.values(vs)
		if spark {
			t.Sparks = append(t.Sparks, Spark{Name: c.Title, Values: vs,
				Peak: "max " + unit.Sig3(m) + " " + x.Label + "/s"})
		}
		c.Series = append(c.Series, ChartSeries{Name: x.Label, Colour: x.Colour, Form: Stairs, Spans: g.blocks(vs),
			Values: vs})
	}
	return r.told(c, d.Name, top)
}

// told finishes a chart; nil when there was nothing.
func (r rec) told(c *Chart, source string, top float64) *Chart {
	if len(c.Series) == 0 || !(top > 0) {
		return nil
	}
	c.Axis = linearAxis(top, nil, unit.Plain)
	c.peaks()
	r.gaps(c, source)
	return c
}
