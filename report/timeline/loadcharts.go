package timeline

import (
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// The heights of plots, in px. Latency has four lines over three decades.
const (
	PlainHeight   = 104
	latencyHeight = 132
	lowHeight     = 72
)

// requestsChart counts requests by the second in which they were due; without a
// load of kasoku's, by the access log.
func (r loadCharts) requestsChart() *plot {
	asked, ok, failed := make([]float64, r.grid.Seconds), make([]float64, r.grid.Seconds), make([]float64,
		r.grid.Seconds)
	answered, rate := "answered 2xx", "2xx/s"
	switch {
	case len(r.Seconds) > 0:
		for i := range r.Seconds {
			s := &r.Seconds[i]
			if s.Second >= r.grid.Seconds {
				continue
			}
			good := s.Good()
			if s.Expected > 0 {
				answered, rate = "answered as expected", "answers/s"
			}
			ok[s.Second] += float64(good)
			if s.Step == 0 && r.Scored() {
				asked[s.Second] += float64(good) // whether what is not good was to be so, the benchmark alone knows
				continue
			}
			asked[s.Second] += float64(s.Asked)
			failed[s.Second] += float64(s.Asked - min(good, s.Asked))
		}
	case r.endpointSeconds(ok, failed):
		asked, answered, rate = nil, "answered", "answered/s"
	default:
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "requests", Title: "Requests", Unit: "per second", Height: PlainHeight},
		quotes: []quote{{source: "load"}, {source: "access"}, {source: "accesslog"}}}
	js := r.grid.joinWorst(failed, ok, failed)
	c.Series = []report.ChartSeries{
		{Name: answered, Colour: "s1", Form: report.Bars, Spans: r.grid.Blocks(js[0]), Values: js[0]},
		{Name: "errors", Colour: "bad", Form: report.Bars, Spans: r.grid.Blocks(js[1]), Values: js[1]},
	}
	if asked != nil {
		a := r.grid.values(asked)
		c.Series = append([]report.ChartSeries{{Name: "asked", Colour: "fg", Form: report.Stairs,
			Spans: r.grid.Blocks(a), Values: a}},
			c.Series...)
	}
	top := report.Largest(AddUp(js...))
	if asked != nil {
		top = max(top, report.Largest(asked))
	}
	c.Axis = report.LinearAxis(top, nil, unit.Plain)
	c.Peaks()
	r.timeline.Sparks = append(r.timeline.Sparks,
		report.Spark{Name: rate, Values: js[0], Peak: "max " + c.Print(report.Largest(js[0]))},
		report.Spark{Name: "errors/s", Values: js[1], Tone: report.Bad, Peak: "max " + c.Print(report.Largest(js[1]))})
	return c
}

// endpointSeconds adds up the access log by seconds; false when it has none.
func (r loadCharts) endpointSeconds(ok, failed []float64) bool {
	any := false
	_, endpoints := r.FrontLog()
	for i := range endpoints {
		for sec, e := range endpoints[i].Seconds {
			if sec >= 0 && sec < len(ok) {
				ok[sec] += float64(e.Count - min(e.Failed, e.Count))
				failed[sec] += float64(e.Failed)
				any = true
			}
		}
	}
	return any
}

// latencyChart shows percentiles of each column, from merged histograms.
func (r loadCharts) latencyChart() *plot {
	hs := make([]*histogram.Histogram, r.grid.Columns())
	any := false
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if c := s.Second / r.grid.Column; c < len(hs) && s.Latency.Count() > 0 {
			if hs[c] == nil {
				hs[c] = histogram.New()
			}
			hs[c].Merge(s.Latency)
			any = true
		}
	}
	if !any {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "latency", Title: "Latency", Unit: "from due time", Suffix: " ms", Places: -1,
		Height: latencyHeight},
		quotes: []quote{{source: "load"}, {source: "access"}, {source: "accesslog"}}}
	for _, q := range []struct {
		name, colour string
		q            float64
	}{{"p50", "p50", 0.50}, {"p95", "p95", 0.95}, {"p99", "p99", 0.99}, {"max", "s5", 1}} {
		vs := nan(len(hs))
		for i, h := range hs {
			if h != nil {
				vs[i] = h.Quantile(q.q).Seconds() * 1e3
			}
		}
		c.Series = append(c.Series, report.ChartSeries{Name: q.name, Colour: q.colour, Dotted: q.name == "max",
			Form:  report.Lines,
			Spans: r.grid.middles(vs), Values: vs, End: true})
	}
	lo, hi := report.Smallest(c.Series[0].Values), report.Largest(c.Series[3].Values)
	c.Axis = report.LogAxis(lo, hi, report.LatencyLabel)
	linear := report.LinearAxis(hi, nil, report.LatencyLabel)
	c.Linear = &linear
	c.Peaks()
	r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: "p99", Values: c.Series[2].Values, Log: true,
		Peak: "max " + c.Series[2].Peak + " log"})
	return c
}
