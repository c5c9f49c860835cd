package report

import (
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
)

// The heights of plots, in px. Latency has four lines over three decades.
const (
	plainHeight   = 104
	latencyHeight = 132
	lowHeight     = 72
)

// requestsChart counts requests by the second in which they were due; without a
// load of kasoku's, by the access log.
func (r loadCharts) requestsChart() *plot {
	asked, ok, failed := make([]float64, r.grid.seconds), make([]float64, r.grid.seconds), make([]float64, r.grid.seconds)
	answered, rate := "answered 2xx", "2xx/s"
	switch {
	case len(r.Seconds) > 0:
		for i := range r.Seconds {
			s := &r.Seconds[i]
			if s.Second >= r.grid.seconds {
				continue
			}
			var good uint64
			for code, n := range s.Codes {
				if code >= 200 && code < 400 {
					good += n
				}
			}
			ok[s.Second] += float64(good)
			if s.Step == 0 && r.scored() {
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
	c := &plot{Chart: Chart{ID: "requests", Title: "Requests", Unit: "per second", Height: plainHeight},
		quotes: []quote{{source: "load"}, {source: "access"}, {source: "accesslog"}}}
	js := r.grid.joinWorst(failed, ok, failed)
	c.Series = []ChartSeries{
		{Name: answered, Colour: "s1", Form: Bars, Spans: r.grid.blocks(js[0]), Values: js[0]},
		{Name: "errors", Colour: "bad", Form: Bars, Spans: r.grid.blocks(js[1]), Values: js[1]},
	}
	if asked != nil {
		a := r.grid.values(asked)
		c.Series = append([]ChartSeries{{Name: "asked", Colour: "fg", Form: Stairs, Spans: r.grid.blocks(a), Values: a}},
			c.Series...)
	}
	top := most(plus(js...))
	if asked != nil {
		top = max(top, most(asked))
	}
	c.Axis = linearAxis(top, nil, unit.Plain)
	c.peaks()
	r.timeline.Sparks = append(r.timeline.Sparks,
		Spark{Name: rate, Values: js[0], Peak: "max " + c.Print(most(js[0]))},
		Spark{Name: "errors/s", Values: js[1], Tone: Bad, Peak: "max " + c.Print(most(js[1]))})
	return c
}

// endpointSeconds adds up the access log by seconds; false when it has none.
func (r loadCharts) endpointSeconds(ok, failed []float64) bool {
	any := false
	_, endpoints := diagnose.FrontLog(r.Recording)
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
	hs := make([]*histogram.Histogram, r.grid.columns())
	any := false
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if c := s.Second / r.grid.column; c < len(hs) && s.Latency.Count() > 0 {
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
	c := &plot{Chart: Chart{ID: "latency", Title: "Latency", Unit: "from due time", Suffix: " ms", Places: -1,
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
		c.Series = append(c.Series, ChartSeries{Name: q.name, Colour: q.colour, Dotted: q.name == "max", Form: Lines,
			Spans: r.grid.middles(vs), Values: vs, End: true})
	}
	lo, hi := least(c.Series[0].Values), most(c.Series[3].Values)
	c.Axis = logAxis(lo, hi, axisLatency)
	linear := linearAxis(hi, nil, axisLatency)
	c.Linear = &linear
	c.peaks()
	r.timeline.Sparks = append(r.timeline.Sparks, Spark{Name: "p99", Values: c.Series[2].Values, Log: true,
		Peak: "max " + c.Series[2].Peak + " log"})
	return c
}
