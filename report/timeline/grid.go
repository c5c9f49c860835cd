package timeline

import (
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
)

// mostColumns is how many columns a plot has at most, about its width in pixels;
// a longer run has several seconds in each.
const mostColumns = 1200

// A grid cuts a run into the columns that its charts have.
type grid struct {
	Seconds int // of the run, rounded up
	Column  int // seconds in a column
}

// NewGrid returns the grid of a run of that length: whole seconds, rounded up, and at
// least one.
func NewGrid(length time.Duration) grid {
	n := max(1, int((length+time.Second-1)/time.Second))
	return grid{n, (n + mostColumns - 1) / mostColumns}
}

func (g grid) Columns() int { return (g.Seconds + g.Column - 1) / g.Column }

// nan returns n numbers that are not known.
func nan(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// A rate of a second is that of the sample interval that holds its middle. After a
// missed sample one interval holds several seconds.
func (g grid) rates(s *kasoku.Series) []float64 {
	out := nan(g.Seconds)
	if s == nil {
		return out
	}
	for _, r := range s.Rates() {
		from := int(math.Ceil(r.Interval.From.Seconds() - 0.5))
		for i := max(0, from); i < g.Seconds && float64(i)+0.5 < r.Interval.To.Seconds(); i++ {
			out[i] = r.PerSec
		}
	}
	return out
}

// gauge returns the largest sample of each second.
func (g grid) gauge(s *kasoku.Series) []float64 {
	out := nan(g.Seconds)
	if s == nil {
		return out
	}
	for _, p := range s.Points {
		i := int(p.At / time.Second)
		if i < g.Seconds && (math.IsNaN(out[i]) || p.Value > out[i]) {
			out[i] = p.Value
		}
	}
	return out
}

// AddUp adds numbers second by second; one that is not known adds nothing, and a
// second of which none is known stays unknown.
func AddUp(series ...[]float64) []float64 {
	if len(series) == 0 {
		return nil
	}
	out := nan(len(series[0]))
	for _, vs := range series {
		for i, v := range vs {
			switch {
			case math.IsNaN(v):
			case math.IsNaN(out[i]):
				out[i] = v
			default:
				out[i] += v
			}
		}
	}
	return out
}

// join makes columns of seconds, for stacked series: each column shows its busiest
// second, so that peaks stay and the parts still add up.
func (g grid) join(series ...[]float64) [][]float64 {
	return g.joinWorst(nil, series...)
}

// joinWorst is join, but each column shows the second in which most failed, however
// busy the others were.
func (g grid) joinWorst(failed []float64, series ...[]float64) [][]float64 {
	if g.Column == 1 {
		return series
	}
	total := AddUp(series...)
	more := func(a, b int) bool {
		if failed != nil && report.UnknownLast(failed[a]) != report.UnknownLast(failed[b]) {
			return report.UnknownLast(failed[a]) > report.UnknownLast(failed[b])
		}
		return report.UnknownLast(total[a]) > report.UnknownLast(total[b])
	}
	out := make([][]float64, len(series))
	for k := range series {
		out[k] = nan(g.Columns())
	}
	for c := range g.Columns() {
		from := c * g.Column
		to := min(from+g.Column, g.Seconds)
		best := from
		for i := from; i < to; i++ {
			if more(i, best) {
				best = i
			}
		}
		for k := range series {
			out[k][c] = series[k][best]
		}
	}
	return out
}

// span is where column c lies on the axis.
func (g grid) span(c int) (from, to float64) {
	return float64(c * g.Column), float64(min((c+1)*g.Column, g.Seconds))
}

// Blocks makes a span of each known column.
func (g grid) Blocks(vs []float64) []report.Span {
	var out []report.Span
	for c, v := range vs {
		if !math.IsNaN(v) {
			from, to := g.span(c)
			out = append(out, report.Span{From: from, To: to, Value: v, Low: v})
		}
	}
	return out
}

// middles makes a sample in the middle of each known column.
func (g grid) middles(vs []float64) []report.Span {
	out := g.Blocks(vs)
	for i := range out {
		at := (out[i].From + out[i].To) / 2
		out[i].From, out[i].To = at, at
	}
	return out
}

// samples are the raw points of a gauge; in a long run each column has the range
// of its points.
func (g grid) samples(s *kasoku.Series) []report.Span {
	if s == nil {
		return nil
	}
	var out []report.Span
	if g.Column == 1 {
		for _, p := range s.Points {
			out = append(out, report.Span{From: p.At.Seconds(), To: p.At.Seconds(), Value: p.Value, Low: p.Value})
		}
		return out
	}
	last := -1
	for _, p := range s.Points {
		c := int(p.At/time.Second) / g.Column
		if c != last {
			from, to := g.span(c)
			at := (from + to) / 2
			out = append(out, report.Span{From: at, To: at, Value: p.Value, Low: p.Value})
			last = c
			continue
		}
		x := &out[len(out)-1]
		x.Value, x.Low = max(x.Value, p.Value), min(x.Low, p.Value)
	}
	return out
}

// values makes columns of seconds for the readout of a gauge: the largest.
func (g grid) values(vs []float64) []float64 { return g.join(vs)[0] }
