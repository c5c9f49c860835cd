package timeline

import (
	"math"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

const (
	// latencyHeight is that of the charts of latency, in px: four lines over three decades.
	latencyHeight = 132
	// mostHeat is how many columns a heat map has at most; heatRows how many rows, each of the same share of the
	// logarithmic axis.
	mostHeat = 240
	heatRows = 22
)

// latencyCharts show how long requests took: percentiles, and how many took how long.
type latencyCharts struct {
	loadCharts
	columns []*histogram.Histogram // by column of the grid; nil where there is none
	unit    string                 // what the times are
}

// latencies are the times by column: of a load of kasoku's from when a request was due, else of the access log's
// requests by the second in which they were logged.
func (r loadCharts) latencies() latencyCharts {
	out := latencyCharts{r, make([]*histogram.Histogram, r.grid.Columns()), "from due time"}
	add := func(second int, h *histogram.Histogram) {
		c := second / r.grid.Column
		if second < 0 || c >= len(out.columns) || h.Count() == 0 {
			return
		}
		if out.columns[c] == nil {
			out.columns[c] = histogram.New()
		}
		out.columns[c].Merge(h)
	}
	for i := range r.Seconds {
		add(r.Seconds[i].Second, r.Seconds[i].Latency)
	}
	if len(r.Seconds) > 0 {
		return out
	}
	out.unit = "by the access log"
	_, endpoints := r.FrontLog()
	for i := range endpoints {
		if by := endpoints[i].BySecond; by != nil {
			by.Each(func(second int64, h *histogram.Histogram) { add(int(second), h) })
		}
	}
	return out
}

// shown are the percentiles that have a line.
var shown = []struct {
	name, colour string
	q            float64
}{{"p50", "p50", 0.50}, {"p95", "p95", 0.95}, {"p99", "p99", 0.99}, {"max", "s5", 1}}

// span returns the least and the most of what is drawn, in ms; ok is false where there is nothing. A log that counts
// milliseconds has zeros, which a logarithm has not.
func (r latencyCharts) span() (lo, hi float64, ok bool) {
	lo = math.Inf(1)
	for _, h := range r.columns {
		if h == nil {
			continue
		}
		ok, hi = true, max(hi, h.Max().Seconds()*1e3)
		for _, p := range shown {
			if v := h.Quantile(p.q).Seconds() * 1e3; v > 0 {
				lo = min(lo, v)
				break
			}
		}
	}
	return min(lo, hi), hi, ok
}

// percentilesChart shows percentiles of each column, from merged histograms.
func (r latencyCharts) percentilesChart() *plot {
	lo, hi, ok := r.span()
	if !ok {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "latency", Title: "Latency", Unit: r.unit, Suffix: " ms", Places: -1,
		Height: latencyHeight},
		quotes: []quote{{source: "load"}, {source: "access"}, {source: "accesslog"}}}
	for _, q := range shown {
		vs := nan(len(r.columns))
		for i, h := range r.columns {
			if h != nil {
				vs[i] = h.Quantile(q.q).Seconds() * 1e3
			}
		}
		c.Series = append(c.Series, report.ChartSeries{Name: q.name, Colour: q.colour, Dotted: q.name == "max",
			Form:  report.Lines,
			Spans: r.grid.middles(vs), Values: vs, End: true})
	}
	c.Axis = report.LogAxis(lo, hi, report.LatencyLabel)
	linear := report.LinearAxis(hi, nil, report.LatencyLabel)
	c.Linear = &linear
	c.Peaks()
	r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: "p99", Values: c.Series[2].Values, Log: true,
		Peak: "max " + c.Series[2].Peak + " log"})
	return c
}

// heatChart shows how many requests took how long, on the axis of the percentiles: two humps and stalls are seen
// that percentiles hide.
func (r latencyCharts) heatChart() *plot {
	lo, hi, ok := r.span()
	if !ok {
		return nil
	}
	axis := report.LogAxis(lo, hi, report.LatencyLabel)
	joined := (len(r.columns) + mostHeat - 1) / mostHeat
	var counts [][heatRows]float64
	most := 0.0
	for at := 0; at < len(r.columns); at += joined {
		var rows [heatRows]float64
		for _, h := range r.columns[at:min(at+joined, len(r.columns))] {
			h.Each(func(from, to time.Duration, n uint64) {
				ms := (from.Seconds() + to.Seconds()) / 2 * 1e3
				rows[min(max(int(axis.Y(ms)*heatRows), 0), heatRows-1)] += float64(n)
			})
		}
		for _, n := range rows {
			most = max(most, n)
		}
		counts = append(counts, rows)
	}
	heat := &report.Heat{Steps: heatSteps(most)}
	edge := func(row int) float64 { // the time at the lower edge of a row
		return axis.Bottom * math.Pow(axis.Top/axis.Bottom, float64(row)/heatRows)
	}
	for i, rows := range counts {
		from := float64(i * joined * r.grid.Column)
		to := min(from+float64(joined*r.grid.Column), float64(r.grid.Seconds))
		for row, n := range rows {
			if n > 0 {
				heat.Cells = append(heat.Cells, report.HeatCell{From: from, To: to, Low: edge(row), High: edge(row + 1),
					Step: stepOf(heat.Steps, n)})
			}
		}
	}
	span := " a second"
	if each := joined * r.grid.Column; each > 1 {
		span = " in " + unit.Count(each) + " s"
	}
	return &plot{Chart: report.Chart{ID: "heat", Title: "How many took how long", Unit: "requests" + span,
		Suffix: " ms", Places: -1, Height: latencyHeight, Axis: axis, Heat: heat}}
}

// heatSteps are the shades of a map: each begins at so many requests, the lightest at one, each at the same multiple
// of the one before.
func heatSteps(most float64) (out []report.HeatStep) {
	const shades = 6
	before := 0.0
	for k := range shades {
		from := math.Ceil(math.Pow(max(most, 1), float64(k)/shades))
		if k > 0 && from <= before {
			continue
		}
		before = from
		out = append(out, report.HeatStep{From: from})
	}
	for i := range out {
		last := most
		if i+1 < len(out) {
			last = out[i+1].From - 1
		}
		out[i].Label = unit.Count(int64(out[i].From))
		if last > out[i].From {
			out[i].Label += "–" + unit.Count(int64(last))
		}
	}
	return out
}

func stepOf(steps []report.HeatStep, n float64) int {
	at := 0
	for i, s := range steps {
		if n >= s.From {
			at = i
		}
	}
	return at
}
