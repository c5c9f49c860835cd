package loadreport

import (
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load/carbon"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/report"
)

// mostColumns is how many columns the time axis has at most.
const mostColumns = 600

// A carbonGrid puts a load's seconds and a server's readings on one time axis.
type carbonGrid struct {
	c    *Carbon
	n    int // columns
	each int // seconds of each
}

func newCarbonGrid(c *Carbon) carbonGrid {
	seconds := int((c.Result.Total.To + time.Second - 1) / time.Second)
	each := max(1, (seconds+mostColumns-1)/mostColumns)
	return carbonGrid{c, (seconds + each - 1) / each, each}
}

// empty is a series without values.
func (g carbonGrid) empty() []float64 {
	out := make([]float64, g.n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// column is the one that a time falls into.
func (g carbonGrid) column(at time.Duration) int {
	return min(max(int(at/time.Second)/g.each, 0), g.n-1)
}

// levels are the largest values in each column.
func (g carbonGrid) levels(value func(s *carbon.Second) float64) []float64 {
	out := g.empty()
	for i := range g.c.Result.Seconds {
		s := &g.c.Result.Seconds[i]
		from, to := g.column(s.From.Round(time.Second)), g.column(s.To-1)
		for k := from; k <= to; k++ {
			if v := value(s); math.IsNaN(out[k]) || v > out[k] {
				out[k] = v
			}
		}
	}
	return out
}

// rates are values a second, the largest in each column. What is left of a second at the end
// counts as a whole one: it makes no peak.
func (g carbonGrid) rates(value func(s *carbon.Second) float64) []float64 {
	return g.levels(func(s *carbon.Second) float64 {
		return value(s) / max((s.To-s.From).Seconds(), 1)
	})
}

// read are a server's readings of a count: rates over the interval before, or levels.
func (g carbonGrid) read(count graphite.Count) []float64 {
	out := g.empty()
	byServer := map[string][]graphite.Reading{}
	for _, r := range g.c.Readings {
		if r.Count == count && !r.IsRelay() {
			byServer[r.Server] = append(byServer[r.Server], r)
		}
	}
	for _, all := range byServer {
		slices.SortStableFunc(all, func(a, b graphite.Reading) int { return a.At.Compare(b.At) })
		for k, v := range g.held(joined(all), count) {
			if !math.IsNaN(v) {
				out[k] = v + zeroIfNaN(out[k])
			}
		}
	}
	return out
}

// held are the readings of one server, each over the interval before it.
func (g carbonGrid) held(all []graphite.Reading, count graphite.Count) []float64 {
	out := g.empty()
	for i, r := range all {
		at, before := r.At.Sub(g.c.Result.Started), time.Duration(0)
		if i > 0 {
			before = all[i-1].At.Sub(g.c.Result.Started)
		} else if len(all) > 1 {
			before = max(0, at-all[1].At.Sub(r.At))
		}
		v := r.Value
		if count != graphite.CountCached {
			v /= max((at - before).Seconds(), 1)
		}
		for k := g.column(before); k <= g.column(at-1); k++ {
			out[k] = v
		}
	}
	return out
}

// joined adds up readings of one moment: go-carbon counts by protocol.
func joined(all []graphite.Reading) (out []graphite.Reading) {
	for _, r := range all {
		if n := len(out); n > 0 && r.At.Sub(out[n-1].At) < time.Second/2 {
			out[n-1].Value += r.Value
			continue
		}
		out = append(out, r)
	}
	return out
}

func zeroIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// A carbonLine is one series of the time axis.
type carbonLine struct {
	name, colour string
	values       []float64
	spark        bool
}

// timeSection has the load and the server on one time axis.
func (c *Carbon) timeSection() report.Section {
	sec := report.Section{ID: report.SectionTimeline, Title: "Over time", Short: "Time"}
	g := newCarbonGrid(c)
	if g.n < 2 {
		return sec
	}
	t := &report.Timeline{ID: "time", Seconds: g.n * g.each, Column: g.each, Started: c.Result.Started}
	count := func(f func(s *carbon.Second) uint64) func(*carbon.Second) float64 {
		return func(s *carbon.Second) float64 { return float64(f(s)) }
	}
	points := []carbonLine{
		{"due", "fg", g.rates(count(func(s *carbon.Second) uint64 { return s.Nominal })), false},
		{"sent", "s1", g.rates(count(func(s *carbon.Second) uint64 { return s.Sent })), true},
	}
	if c.Result.Acknowledges() {
		points = append(points, carbonLine{"acknowledged", "s2",
			g.rates(count(func(s *carbon.Second) uint64 { return s.Acked })), true})
	}
	points = append(points, carbonLine{"received", "s5", g.read(graphite.CountReceived), true},
		carbonLine{"written", "s4", g.read(graphite.CountCommitted), true})
	g.addChart(t, report.Chart{ID: "points", Title: "Points", Unit: "per second", Height: 120}, points)
	g.addChart(t, report.Chart{ID: "outstanding", Title: "Outstanding", Unit: "points", Height: 80}, []carbonLine{
		{"not sent yet", "bad", g.levels(count(func(s *carbon.Second) uint64 { return s.Outstanding })), true},
		{"in its cache", "s4", g.read(graphite.CountCached), true}})
	g.addChart(t, report.Chart{ID: "waited", Title: "Waited", Unit: "seconds of all connections, each second",
		Places: 2, Height: 60},
		[]carbonLine{{"writes waited", "s3", g.rates(func(s *carbon.Second) float64 { return s.Blocked.Seconds() }),
			true}})
	g.addChart(t, report.Chart{ID: "series", Title: "Series", Unit: "per second", Places: 1, Height: 60}, []carbonLine{
		{"created", "s2", g.read(graphite.CountCreated), true}, {"not created", "bad",
			g.read(graphite.CountDropped), true}})
	g.addChart(t, report.Chart{ID: "failures", Title: "Connections", Unit: "per second", Places: 1, Height: 60},
		[]carbonLine{
			{"not made", "bad", g.rates(count(func(s *carbon.Second) uint64 { return s.Failures })), true},
			{"broken", "s3", g.rates(count(func(s *carbon.Second) uint64 { return s.Broken })), true}})
	g.addChart(t, report.Chart{ID: "generator", Title: "Generator", Unit: "cores", Places: 2, Height: 60},
		[]carbonLine{{"CPU", "s1", g.rates(func(s *carbon.Second) float64 { return s.CPU.Seconds() }), false}})
	sec.Blocks = []report.Block{t}
	return sec
}

// addChart adds a chart of those lines that ever are more than 0; one of none is left out.
func (g carbonGrid) addChart(t *report.Timeline, ch report.Chart, lines []carbonLine) {
	for _, l := range lines {
		top := report.Largest(l.values)
		if !(top > 0) {
			continue
		}
		s := report.ChartSeries{Name: l.name, Colour: l.colour, Form: report.Stairs, Values: l.values}
		for k, v := range l.values {
			if !math.IsNaN(v) {
				s.Spans = append(s.Spans, report.Span{From: float64(k * g.each), To: float64((k + 1) * g.each),
					Value: v, Low: v})
			}
		}
		ch.Series = append(ch.Series, s)
		if l.spark {
			t.Sparks = append(t.Sparks, report.Spark{Name: l.name, Values: l.values, Peak: "max " + unit.Sig3(top)})
		}
	}
	if len(ch.Series) == 0 {
		return
	}
	var top float64
	for _, s := range ch.Series {
		top = max(top, report.Largest(s.Values))
	}
	ch.Axis = report.LinearAxis(top, nil, unit.Sig3)
	ch.Peaks()
	t.Charts = append(t.Charts, ch)
}
