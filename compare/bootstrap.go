package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kasoku/kasoku/internal/histogram"
)

// The bounds of a block, in seconds. A block must outlast the memory of what is
// measured: a stall and its queue pass within 2 or 3 s. Beyond 5 s the steps
// usual here, 10 to 60 s, would hold too few blocks.
const (
	leastBlock = 3
	mostBlock  = 5
)

// blockFor returns the length of a block for a step of n seconds: about the cube
// root of n, the rate at which the best length grows (P. Bühlmann, "Bootstraps
// for Time Series", 2002, section 3), within the bounds.
func blockFor(n int) int {
	return min(max(int(math.Round(math.Cbrt(float64(n)))), leastBlock), mostBlock)
}

// sums is what several drawn seconds add up to.
type sums struct {
	seconds  float64 // their length
	asked    float64
	success  float64
	answered float64
	latency  float64 // s
	bins     []float64
	sends    []float64
	counters []float64
	from     *stepData
}

func newSums(d *stepData) *sums {
	return &sums{
		bins: make([]float64, len(d.values)), sends: make([]float64, len(d.delays)),
		counters: make([]float64, len(d.known)), from: d,
	}
}

func (s *sums) reset() {
	s.seconds, s.asked, s.success, s.answered, s.latency = 0, 0, 0, 0, 0
	clear(s.bins)
	clear(s.sends)
	clear(s.counters)
}

func (s *sums) add(x *second) {
	s.seconds += x.length
	s.asked += x.asked
	s.success += x.success
	s.answered += x.answered
	s.latency += x.latency
	for _, b := range x.bins {
		s.bins[b.at] += b.n
	}
	for _, b := range x.sends {
		s.sends[b.at] += b.n
	}
	for i, c := range x.counters {
		s.counters[i] += c
	}
}

// all adds up the step as it was.
func (d *stepData) all() *sums {
	s := newSums(d)
	for i := range d.seconds {
		s.add(&d.seconds[i])
	}
	return s
}

// allOf adds up the step of each run.
func allOf(side []*stepData) []*sums {
	out := make([]*sums, len(side))
	for i, d := range side {
		out[i] = d.all()
	}
	return out
}

// draw fills s with as many seconds as the step has, taken in blocks of
// neighbours that start anywhere and run around its end.
func (d *stepData) draw(rng *rand.Rand, s *sums) {
	s.reset()
	n := len(d.seconds)
	block := blockFor(n)
	for taken := 0; taken < n; {
		at := rng.IntN(n)
		for range min(block, n-taken) {
			s.add(&d.seconds[at%n])
			at++
			taken++
		}
	}
}

// quantile is the value at nearest rank among counted bins, as
// histogram.Quantile takes it.
func quantile(bins, values []float64, q float64) (float64, bool) {
	total := 0.0
	for _, n := range bins {
		total += n
	}
	if total < 1 {
		return 0, false
	}
	rank := float64(histogram.Rank(q, uint64(total+0.5)))
	seen := 0.0
	for i, n := range bins {
		if seen += n; seen >= rank-0.5 {
			return values[i], true
		}
	}
	return values[len(values)-1], true
}

// bounds returns the 2.5 % and 97.5 % quantiles of the draws, which it sorts.
func bounds(draws []float64) (low, high float64) {
	slices.Sort(draws)
	n := uint64(len(draws))
	return draws[histogram.Rank(0.025, n)-1], draws[histogram.Rank(0.975, n)-1]
}
