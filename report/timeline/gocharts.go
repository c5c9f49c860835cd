package timeline

import (
	"math"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// leastWait in ms is where the axis of waits begins: what is shorter is of no
// interest, and is drawn at its edge.
const leastWait = 0.01

// mostPrograms in Go of a host have charts; all are in the table.
const mostPrograms = 3

// nameAfter names a chart after its program where there are several.
func nameAfter(p *recorded.ProgramSeries, n int, c *plot) *plot {
	if c == nil {
		return nil
	}
	if p.Name != "" {
		c.Title += ", " + p.Name
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
func (c *plot) quoted(names ...[]string) {
	for _, list := range names {
		for _, n := range list {
			c.quotes = append(c.quotes, quote{expvar.Name, n})
		}
	}
}

// heapChart shows the memory that is in use, and when the next collection begins.
func (r goCharts) heapChart(p *recorded.ProgramSeries) *plot {
	heap := p.First(recorded.GoHeap)
	if heap == nil {
		return nil
	}
	const mebi = 1.0 / (1 << 20)
	c := &plot{Chart: report.Chart{ID: "go-heap", Title: "Go heap", Unit: "MiB in use", Suffix: " MiB", Places: -1,
		Height: lowHeight}}
	c.quoted(recorded.GoHeap, recorded.GoGoal)
	c.line(r.grid, "in use", "s1", scaled(heap, mebi))
	c.line(r.grid, "collected at", "fg", scaled(p.First(recorded.GoGoal), mebi))
	if len(c.Series) > 1 {
		c.Series[1].Dotted = true
	}
	r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: "Go heap", Values: c.Series[0].Values,
		Peak: "max " + unit.BytesIEC(uint64(max(r.Highest(heap), 0)))})
	return r.finished(c)
}

// goroutinesChart shows how many goroutines there were.
func (r goCharts) goroutinesChart(p *recorded.ProgramSeries) *plot {
	c := &plot{Chart: report.Chart{ID: "goroutines", Title: "Goroutines", Height: lowHeight}}
	c.quoted(recorded.GoGoroutines)
	c.line(r.grid, "goroutines", "s1", p.First(recorded.GoGoroutines))
	return r.finished(c)
}

// goWaitsChart shows how long collections stopped the program, and how long goroutines
// that could run waited for a thread, on an axis of powers of ten. Seconds in which
// nothing happened have no point.
func (r goCharts) goWaitsChart(p *recorded.ProgramSeries) *plot {
	c := &plot{Chart: report.Chart{ID: "go-waits", Title: "Go pauses", Unit: "longest of each second", Suffix: " ms",
		Places: -1,
		Height: PlainHeight}}
	c.quoted(recorded.GoPause, recorded.GoSched)
	sched := positive(scaled(p.First(recorded.GoSched), 1e3))
	if sched != nil {
		c.Title, c.Unit = "Go pauses", "and waits for a thread, each second"
	}
	c.line(r.grid, "wait p99", "s4", sched)
	c.line(r.grid, "longest pause", "s1", positive(scaled(p.First(recorded.GoPause), 1e3)))
	if len(c.Series) == 0 {
		return nil
	}
	lo, hi := math.NaN(), math.NaN()
	for _, s := range c.Series {
		lo, hi = report.Smallest([]float64{lo, report.Smallest(s.Values)}), report.Largest([]float64{hi,
			report.Largest(s.Values)})
	}
	c.Axis = report.LogAxis(min(max(lo, leastWait), hi), hi, report.LatencyLabel)
	linear := report.LinearAxis(hi, nil, report.LatencyLabel)
	c.Linear = &linear
	c.Peaks()
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
func (r goCharts) poolChart(p *recorded.PoolSeries) *plot {
	used := p.Found[expvar.InUse]
	if used == nil || !(r.Highest(used) > 0) {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "pool", Title: "Connection pool", Unit: "connections", Places: -1,
		Height: lowHeight}}
	if p.Place != "" {
		c.Title += " " + p.Place
	}
	c.quoted([]string{expvar.InUse, expvar.MaxOpenConnections, expvar.WaitCount, expvar.WaitDuration})
	c.line(r.grid, "in use", "s2", used)
	top, limit := r.Highest(used), r.Highest(p.Found[expvar.MaxOpenConnections])
	peak := "max " + unit.Plain(top)
	if limit > 0 {
		peak += " of " + unit.Plain(limit)
	}
	r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: "pool in use", Values: c.Series[0].Values,
		Peak: peak})
	if waited := r.grid.rates(p.Found[expvar.WaitDuration]); report.Largest(waited) > 0 {
		vs := r.grid.values(waited)
		c.Series = append(c.Series, report.ChartSeries{Name: "requests waiting", Colour: "bad", Form: report.Stairs,
			Spans: r.grid.Blocks(vs), Values: vs})
		top = max(top, report.Largest(waited))
	}
	switch {
	case limit > 20*max(top, 1):
		c.Unit += ", limit " + unit.Plain(limit) + ", beyond the axis"
	case limit > 0:
		c.Limits = []report.Limit{{Name: "limit " + unit.Plain(limit), Value: limit, Tone: report.Bad}}
	}
	c.Axis = report.LinearAxis(top, c.Limits, unit.Plain)
	c.Peaks()
	r.gaps(c, expvar.Name)
	return c
}

// finished gives a chart of gauges its axis; nil when it has no series.
func (r goCharts) finished(c *plot) *plot {
	top := math.NaN()
	for _, s := range c.Series {
		top = report.Largest([]float64{top, report.Largest(s.Values)})
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.Axis = report.LinearAxis(top, nil, unit.Plain)
	c.Peaks()
	r.gaps(c, expvar.Name)
	return c
}
