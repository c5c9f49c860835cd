package report

import (
	"math"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// leastWait in ms is where the axis of waits begins: what is shorter is of no
// interest, and is drawn at its edge.
const leastWait = 0.01

// mostPrograms in Go of a host have charts; all are in the table.
const mostPrograms = 3

// goCharts adds what programs in Go published of themselves, those with the largest
// heap first.
func (r rec) goCharts(g grid, t *Timeline) {
	for i := range mostPrograms {
		for _, build := range []func(rec, grid, *Timeline, *programSeries) *Chart{rec.heapChart, rec.goWaitsChart,
			rec.goroutinesChart} {
			r.hostCharts(t, func(one rec) *Chart {
				if all := one.goSeries(); i < len(all) {
					return of(&all[i], i, build(one, g, t, &all[i]))
				}
				return nil
			})
		}
		for k := range mostPrograms {
			r.hostCharts(t, func(one rec) *Chart {
				if all := one.goSeries(); i < len(all) && k < len(all[i].pools) {
					return of(&all[i], mostPrograms*i+k, one.poolChart(g, t, &all[i].pools[k]))
				}
				return nil
			})
		}
	}
}

// of names a chart after its program where there are several.
func of(p *programSeries, n int, c *Chart) *Chart {
	if c == nil {
		return nil
	}
	if p.name != "" {
		c.Title += ", " + p.name
	}
	if n > 0 {
		c.ID += "-" + strconv.Itoa(n+1)
	}
	return c
}

// scaled is a series in another unit.
func scaled(s *kasoku.Series, by float64) *kasoku.Series {
	if s == nil {
		return nil
	}
	out := *s
	out.Points = make([]kasoku.Point, len(s.Points))
	for i, p := range s.Points {
		out.Points[i] = kasoku.Point{At: p.At, Value: p.Value * by}
	}
	return &out
}

// quoted names the series that a chart shows, for the evidence of findings.
func (c *Chart) quoted(names ...[]string) {
	for _, list := range names {
		for _, n := range list {
			c.quotes = append(c.quotes, quote{expvar.Name, n})
		}
	}
}

// heapChart shows the memory that is in use, and when the next collection begins.
func (r rec) heapChart(g grid, t *Timeline, p *programSeries) *Chart {
	heap := p.first(goHeap)
	if heap == nil {
		return nil
	}
	const mebi = 1.0 / (1 << 20)
	c := &Chart{ID: "go-heap", Title: "Go heap", Unit: "MiB in use", Suffix: " MiB", Places: -1, Height: lowHeight}
	c.quoted(goHeap, goGoal)
	c.line(g, "in use", "s1", scaled(heap, mebi))
	c.line(g, "collected at", "fg", scaled(p.first(goGoal), mebi))
	if len(c.Series) > 1 {
		c.Series[1].Dotted = true
	}
	t.Sparks = append(t.Sparks, Spark{Name: "Go heap", Values: c.Series[0].Values,
		Peak: "max " + unit.BytesIEC(uint64(max(r.highest(heap), 0)))})
	return r.finished(c)
}

// goroutinesChart shows how many goroutines there were.
func (r rec) goroutinesChart(g grid, _ *Timeline, p *programSeries) *Chart {
	c := &Chart{ID: "goroutines", Title: "Goroutines", Height: lowHeight}
	c.quoted(goGoroutines)
	c.line(g, "goroutines", "s1", p.first(goGoroutines))
	return r.finished(c)
}

// goWaitsChart shows how long collections stopped the program, and how long goroutines
// that could run waited for a thread, on an axis of powers of ten. Seconds in which
// nothing happened have no point.
func (r rec) goWaitsChart(g grid, t *Timeline, p *programSeries) *Chart {
	c := &Chart{ID: "go-waits", Title: "Go pauses", Unit: "longest of each second", Suffix: " ms", Places: -1,
		Height: plainHeight}
	c.quoted(goPause, goSched)
	sched := positive(scaled(p.first(goSched), 1e3))
	if sched != nil {
		c.Title, c.Unit = "Go pauses", "and waits for a thread, each second"
	}
	c.line(g, "wait p99", "s4", sched)
	c.line(g, "longest pause", "s1", positive(scaled(p.first(goPause), 1e3)))
	if len(c.Series) == 0 {
		return nil
	}
	lo, hi := math.NaN(), math.NaN()
	for _, s := range c.Series {
		lo, hi = least([]float64{lo, least(s.Values)}), most([]float64{hi, most(s.Values)})
	}
	c.Axis = logAxis(min(max(lo, leastWait), hi), hi, axisLatency)
	linear := linearAxis(hi, nil, axisLatency)
	c.Linear = &linear
	c.peaks()
	r.gaps(c, expvar.Name)
	return c
}

// positive leaves out the samples of 0; nil when nothing is left.
func positive(s *kasoku.Series) *kasoku.Series {
	if s == nil {
		return nil
	}
	out := *s
	out.Points = nil
	for _, p := range s.Points {
		if p.Value > 0 {
			out.Points = append(out.Points, p)
		}
	}
	if len(out.Points) == 0 {
		return nil
	}
	return &out
}

// poolChart shows the connections of a pool that are in use, and how many requests
// waited for one: the time that was waited in a second is as many, on average.
func (r rec) poolChart(g grid, t *Timeline, p *poolSeries) *Chart {
	used := p.found[expvar.InUse]
	if used == nil || !(r.highest(used) > 0) {
		return nil
	}
	c := &Chart{ID: "pool", Title: "Connection pool", Unit: "connections", Places: -1, Height: lowHeight}
	if p.place != "" {
		c.Title += " " + p.place
	}
	c.quoted([]string{expvar.InUse, expvar.MaxOpenConnections, expvar.WaitCount, expvar.WaitDuration})
	c.line(g, "in use", "s2", used)
	top, limit := r.highest(used), r.highest(p.found[expvar.MaxOpenConnections])
	peak := "max " + unit.Plain(top)
	if limit > 0 {
		peak += " of " + unit.Plain(limit)
	}
	t.Sparks = append(t.Sparks, Spark{Name: "pool in use", Values: c.Series[0].Values, Peak: peak})
	if waited := g.rates(p.found[expvar.WaitDuration]); most(waited) > 0 {
		vs := g.values(waited)
		c.Series = append(c.Series, ChartSeries{Name: "requests waiting", Colour: "bad", Form: Stairs,
			Spans: g.blocks(vs), Values: vs})
		top = max(top, most(waited))
	}
	switch {
	case limit > 20*max(top, 1):
		c.Unit += ", limit " + unit.Plain(limit) + ", beyond the axis"
	case limit > 0:
		c.Limits = []Limit{{Name: "limit " + unit.Plain(limit), Value: limit, Tone: Bad}}
	}
	c.Axis = linearAxis(top, c.Limits, unit.Plain)
	c.peaks()
	r.gaps(c, expvar.Name)
	return c
}

// finished gives a chart of gauges its axis; nil when it has no series.
func (r rec) finished(c *Chart) *Chart {
	top := math.NaN()
	for _, s := range c.Series {
		top = most([]float64{top, most(s.Values)})
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.Axis = linearAxis(top, nil, unit.Plain)
	c.peaks()
	r.gaps(c, expvar.Name)
	return c
}
