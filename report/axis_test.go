package report

import (
	"math"
	"strings"
	"testing"
)

// TestAxisOfAnything: what a file holds must not make an axis without end.
func TestAxisOfAnything(t *testing.T) {
	plain := func(float64) string { return "" }
	extremes := []float64{0, -1, 5e-324, 1e-300, 1, 1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, a := range extremes {
		if x := LinearAxis(a, nil, plain); len(x.Ticks) < 1 || len(x.Ticks) > 10 {
			t.Errorf("linear axis to %v has %d labels", a, len(x.Ticks))
		}
		for _, b := range extremes {
			if x := LogAxis(a, b, plain); len(x.Ticks) < 1 || len(x.Ticks) > 3000 {
				t.Errorf("log axis from %v to %v has %d labels", a, b, len(x.Ticks))
			}
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(ts []Tick) string {
		var out []string
		for _, x := range ts {
			out = append(out, x.Label)
		}
		return strings.Join(out, " ")
	}
	plain := func(v float64) string { return RawNumber(v) }
	for _, x := range []struct{ got, want string }{
		{labels(LinearAxis(1000, nil, plain).Ticks), "0 500 1000"},
		{labels(LinearAxis(999.7, nil, plain).Ticks), "0 500 1000"},
		{labels(LinearAxis(152, []Limit{{Value: 151}}, plain).Ticks), "0 50 100"},
		{labels(LinearAxis(1.8, []Limit{{Value: 2}}, plain).Ticks), "0 1 2"},
		{labels(LinearAxis(0, nil, plain).Ticks), "0 0.5 1"},
		{labels(LogAxis(9.6, 1814, LatencyLabel).Ticks), "10 ms 100 ms 1 s"},
		{labels(LogAxis(24, 60, LatencyLabel).Ticks), "20 ms 50 ms"},
		{labels(LogAxis(0.05, 0.9, LatencyLabel).Ticks), "100 µs 1 ms"},
		{labels((&Timeline{Seconds: 42}).Ticks()), "0 s 5 s 10 s 15 s 20 s 25 s 30 s 35 s 40 s"},
		{labels((&Timeline{Seconds: 7200}).Ticks()), "0 min 20 min 40 min 60 min 80 min 100 min 120 min"},
	} {
		if x.got != x.want {
			t.Errorf("ticks %q, want %q", x.got, x.want)
		}
	}
}
