package timeline

import (
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// The heights of plots, in px.
const (
	PlainHeight = 104
	lowHeight   = 72
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
