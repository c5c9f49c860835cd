package timeline

import (
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/sources"
	"github.com/kasoku/kasoku/report"
)

// each returns the builders of the charts that sources declare.
func (r serverCharts) each() (out []func() *plot) {
	for _, d := range sources.All() {
		if d.Chart.Title != "" {
			out = append(out, func() *plot { return r.serverChart(d) })
		}
	}
	return out
}

// serverChart shows the signals of a source that have a colour: gauges as they are, of
// counters those that moved, each second.
func (r serverCharts) serverChart(d *observe.Declaration) *plot {
	c := &plot{Chart: report.Chart{ID: d.Name, Title: d.Chart.Title, Height: lowHeight}}
	if d.Chart.Rates {
		return r.ratesChart(d, c)
	}
	top := math.NaN()
	for _, x := range d.Signals {
		if x.Colour == "" {
			continue
		}
		s := r.Find(kasoku.Key{Source: d.Name, Name: x.Key})
		c.quotes = append(c.quotes, quote{d.Name, x.Key})
		c.line(r.grid, x.Label, x.Colour, s)
		if s != nil {
			top = report.Largest([]float64{top, report.Largest(r.grid.gauge(s))})
		}
	}
	return r.finish(c, d.Name, top)
}

// ratesChart shows those counters of a server that moved, each second. The first of
// the list has a line in the terminal, too.
func (r serverCharts) ratesChart(d *observe.Declaration, c *plot) *plot {
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
		vs := r.grid.rates(s)
		m := report.Largest(vs)
		if !(m > 0) {
			continue
		}
		top = report.Largest([]float64{top, m})
		vs = r.grid.values(vs)
		if spark {
			r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: c.Title, Values: vs,
				Peak: "max " + unit.Sig3(m) + " " + x.Label + "/s"})
		}
		c.Series = append(c.Series, report.ChartSeries{Name: x.Label, Colour: x.Colour, Form: report.Stairs,
			Spans: r.grid.Blocks(vs), Values: vs})
	}
	return r.finish(c, d.Name, top)
}

// finish gives a chart its axis, its peaks and the gaps of a source; nil when there was
// nothing.
func (r drawing) finish(c *plot, source string, top float64) *plot {
	if len(c.Series) == 0 || !(top > 0) {
		return nil
	}
	c.Axis = report.LinearAxis(top, nil, unit.Plain)
	c.Peaks()
	r.gaps(c, source)
	return c
}
