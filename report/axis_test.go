package report

import (
	"math"
	"testing"
)

// TestAxisOfAnything: what a file holds must not make an axis without end.
func TestAxisOfAnything(t *testing.T) {
	plain := func(float64) string { return "" }
	extremes := []float64{0, -1, 5e-324, 1e-300, 1, 1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, a := range extremes {
		if x := linearAxis(a, nil, plain); len(x.Ticks) < 1 || len(x.Ticks) > 10 {
			t.Errorf("linear axis to %v has %d labels", a, len(x.Ticks))
		}
		for _, b := range extremes {
			if x := logAxis(a, b, plain); len(x.Ticks) < 1 || len(x.Ticks) > 3000 {
				t.Errorf("log axis from %v to %v has %d labels", a, b, len(x.Ticks))
			}
		}
	}
}
