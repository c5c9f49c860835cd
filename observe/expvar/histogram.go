package expvar

import (
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

const (
	// mostHistograms of one program are kept, and mostBuckets is how many parts one may
	// have. Go's own have up to 162.
	mostHistograms = 16
	mostBuckets    = 1024
)

// A histogram is one of runtime/metrics: how often something was in each of the
// ranges between the edges, since the program's start.
type histogram struct {
	name, unit string
	counts     []float64
	edges      []float64 // one more than counts; the outermost may be infinite
}

// histogramOf reads a metrics.Float64Histogram as programs publish it. JSON has no
// infinite numbers, so the first and the last edge may be null, a text such as
// "+Inf", the largest number there is, or both be left out.
func histogramOf(name string, o map[string]any) (h histogram, ok bool) {
	counts, ok1 := either(o, "Counts", "counts")
	edges, ok2 := either(o, "Buckets", "buckets")
	if !ok1 || !ok2 || len(counts) == 0 || len(counts) > mostBuckets {
		return h, false
	}
	if len(edges) == len(counts)-1 {
		edges = slices.Concat([]any{nil}, edges, []any{nil})
	}
	if len(edges) != len(counts)+1 {
		return h, false
	}
	m := metric(name, 0)
	h = histogram{name: m.Name, unit: m.Unit, counts: make([]float64, len(counts)), edges: make([]float64, len(edges))}
	for i, v := range counts {
		if n, ok := v.(float64); ok && n >= 0 && n <= 1<<53 {
			h.counts[i] = n
			continue
		}
		return h, false
	}
	for i, v := range edges {
		e, ok := edgeOf(v, i == 0, i == len(edges)-1)
		if !ok || i > 0 && !(e > h.edges[i-1]) {
			return h, false
		}
		h.edges[i] = e
	}
	return h, true
}

func either(o map[string]any, names ...string) ([]any, bool) {
	for _, n := range names {
		if list, ok := o[n].([]any); ok {
			return list, true
		}
	}
	return nil, false
}

// edgeOf reads one edge; the first and the last may be what stands for infinity.
func edgeOf(v any, first, last bool) (float64, bool) {
	outermost := math.Inf(1)
	if first {
		outermost = math.Inf(-1)
	}
	switch v := v.(type) {
	case float64:
		if (first || last) && math.Abs(v) == math.MaxFloat64 {
			return outermost, true
		}
		return v, true
	case nil:
		return outermost, first || last
	case string:
		word := strings.ToLower(strings.TrimLeft(v, "+-"))
		return outermost, (first || last) && (word == "inf" || word == "infinity")
	}
	return 0, false
}

// total is how often it happened since the program's start.
func (h *histogram) total() (n float64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// since returns what was added after an earlier reading; all of it when the program
// began anew meanwhile.
func (h *histogram) since(before *histogram) histogram {
	out := *h
	if !slices.Equal(h.edges, before.edges) {
		return out
	}
	out.counts = make([]float64, len(h.counts))
	for i, n := range h.counts {
		if n < before.counts[i] {
			return *h
		}
		out.counts[i] = n - before.counts[i]
	}
	return out
}

// quantile returns a value that the given part of all is at most, as the upper edge
// of its bucket: the result is too large rather than too small. What lies beyond the
// last edge is given as that edge. It is not ok when there is nothing.
func (h *histogram) quantile(q float64) (v float64, ok bool) {
	all := h.total()
	if !(all > 0) {
		return 0, false
	}
	at := max(math.Ceil(q*all), 1)
	for i, n := range h.counts {
		at -= n
		if at > 0 {
			continue
		}
		v = h.edges[i+1]
		if math.IsInf(v, 0) {
			v = h.edges[i]
		}
		return v, !math.IsInf(v, 0)
	}
	return 0, false
}

// quantiles of a histogram are those that have series.
var quantiles = [...]struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p99", 0.99}, {"max", 1}}

// emitQuantiles appends the quantiles of what happened since the reading before;
// nothing at the first one, and when nothing happened.
func emitQuantiles(f *kasoku.Frame, instance string, h, before *histogram) {
	if before == nil {
		return
	}
	grown := h.since(before)
	for _, x := range quantiles {
		if v, ok := grown.quantile(x.q); ok {
			f.Gauge(h.name+"."+x.name, instance, h.unit, v)
		}
	}
}
