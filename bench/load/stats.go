package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku/internal/median"
)

// middleValue returns the middle of the values, the mean of the middle two when their
// number is even; NaN of none. Values that are NaN do not count.
func middleValue(values []float64) float64 {
	v := knownValues(values)
	if len(v) == 0 {
		return math.NaN()
	}
	return median.Of(v)
}

// spreadOf returns the smallest and the largest value, NaN of none.
func spreadOf(values []float64) (least, most float64) {
	v := knownValues(values)
	if len(v) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(v), slices.Max(v)
}

func knownValues(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// ratiosOf divides each round's value by that of the same round of base: what is
// slow in one round for all cancels out. A round that lacks either is NaN.
func ratiosOf(values, base []float64) []float64 {
	out := make([]float64, min(len(values), len(base)))
	for i := range out {
		out[i] = values[i] / base[i]
		if math.IsInf(out[i], 0) {
			out[i] = math.NaN()
		}
	}
	return out
}

// rankOf returns the value at quantile q of sorted values by nearest rank, the
// zero value of none.
func rankOf[T cmp.Ordered](sorted []T, q float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	// What 0.99 and 200 multiply to is a little more than 198.
	i := int(math.Ceil(q*float64(len(sorted))-1e-9)) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// A stallTheory is what an open loop must report of a server that stands still
// once, when nothing else takes time.
//
// Request k of those that fall into the stall, counted from 0, is due k/PerSec
// after its beginning. The server answers them in turn once it goes on, the k-th
// one k/Drained after the end. So it has waited For − k/PerSec + k/Drained, until
// that is nothing and the queue is gone.
type stallTheory struct {
	PerSec  float64       // asked
	Length  time.Duration // of the load
	For     time.Duration // of the stall
	Drained float64       // answers a second once the server goes on; more than PerSec
}

// p99 returns the 99th percentile of the latency from the due time.
func (s stallTheory) p99() time.Duration {
	total := math.Round(s.PerSec * s.Length.Seconds())
	k := total - math.Ceil(0.99*total-1e-9) // so many have waited longer
	wait := s.For.Seconds() - k*(1/s.PerSec-1/s.Drained)
	return max(0, time.Duration(wait*float64(time.Second)))
}

// compareHalves returns the maximum of the earlier half of the readings and that of the
// later half: they are about equal unless the figure grows. The first third of all
// readings, in which connections are made and the garbage collector finds its pace, is
// left out. Both are NaN when there are too few.
func compareHalves(readings []float64) (first, second float64) {
	readings = readings[len(readings)/3:]
	half := len(readings) / 2
	if half == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Max(readings[:half]), slices.Max(readings[half:])
}
