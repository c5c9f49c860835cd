package report

import (
	"math"
	"slices"

	"github.com/kasoku/kasoku/internal/unit"
)

// What an axis can hold: beyond, the steps between its labels are no numbers.
const (
	leastAxis = 1e-200
	mostAxis  = 1e200
)

// LinearAxis returns an axis from 0 that holds the values, with 2 to 5 round
// labels. The limits are drawn as lines of their own; a label that would touch one
// without being it is left out.
func LinearAxis(most float64, limits []Limit, print func(float64) string) Axis {
	for _, l := range limits {
		most = max(most, l.Value)
	}
	if !(most >= leastAxis && most <= mostAxis) { // also when it is not a number
		most = 1
	}
	a := Axis{Top: most * 1.05}
	step := roundStep(most * 1.02 / 2)
	for i := 0; ; i++ {
		v := float64(i) * step
		if v > a.Top {
			break
		}
		near := slices.ContainsFunc(limits, func(l Limit) bool {
			return v != l.Value &&
				math.Abs(v-l.Value) < 0.08*a.Top
		})
		if !near {
			a.Ticks = append(a.Ticks, Tick{v, print(v)})
		}
	}
	return a
}

// roundStep returns the largest of 1, 2, 2.5 and 5 times a power of ten that is at
// most v.
func roundStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2.5, 2} {
		if v/p >= m-1e-9 {
			return m * p
		}
	}
	return p
}

// LogAxis returns an axis around the values, labelled at powers of ten, and at 2
// and 5 times them when there would be fewer than two.
func LogAxis(least, most float64, print func(float64) string) Axis {
	if !(least >= leastAxis && most <= mostAxis && least <= most) {
		least, most = 1, 10
	}
	a := Axis{Log: true, Bottom: least * 0.6, Top: most * 1.45}
	for _, ms := range [][]float64{{1}, {1, 3}, {1, 2, 5}} {
		a.Ticks = nil
		for p := math.Pow(10, math.Floor(math.Log10(a.Bottom))); p <= a.Top; p *= 10 {
			for _, m := range ms {
				if v := m * p; v >= a.Bottom && v <= a.Top {
					a.Ticks = append(a.Ticks, Tick{v, print(v)})
				}
			}
		}
		if len(a.Ticks) >= 2 {
			break
		}
	}
	return a
}

// LatencyLabel prints a latency in ms for an axis: 10 ms, 1 s.
func LatencyLabel(ms float64) string {
	switch {
	case ms == 0:
		return "0"
	case ms >= 1000:
		return unit.Plain(ms/1000) + " s"
	case ms < 1 && ms > 0:
		return unit.Plain(ms*1000) + " µs"
	}
	return unit.Plain(ms) + " ms"
}

// Largest returns the largest number, NaN when there is none.
func Largest(vs []float64) float64 {
	m := math.NaN()
	for _, v := range vs {
		if !math.IsNaN(v) && (math.IsNaN(m) || v > m) {
			m = v
		}
	}
	return m
}

// Smallest returns the smallest number above 0, NaN when there is none.
func Smallest(vs []float64) float64 {
	m := math.NaN()
	for _, v := range vs {
		if v > 0 && (math.IsNaN(m) || v < m) {
			m = v
		}
	}
	return m
}

// UnknownLast puts what is not known below everything that is.
func UnknownLast(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}
