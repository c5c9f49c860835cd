package compare

import (
	"math"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/median"
)

// oneNumber is why a figure that is counted once a run has no interval.
const oneNumber = "it is one number a run"

// put fills a row from one figure a run: the medians of both sides, the change
// between them, and with several runs what they show. It reports whether any run
// had a figure.
func (r *Row) put(before, after []Value, points bool) bool {
	r.BeforeRuns, r.AfterRuns = before, after
	r.Before, r.After = medianOf(before), medianOf(after)
	r.Change = changeOf(points, r.Before, r.After)
	switch {
	case len(before) > 1 || len(after) > 1:
		r.test(points)
	default:
		r.Change.WhyNot = oneNumber
	}
	return r.Before.OK || r.After.OK
}

// test judges a row of several runs.
func (r *Row) test(points bool) {
	b, a := known(r.BeforeRuns), known(r.AfterRuns)
	if len(b) == 0 || len(a) == 0 {
		r.Change.WhyNot = "one side did not measure it"
		return
	}
	s := Samples(b, a, r.Goal)
	r.Samples = &s
	r.Moved = map[SampleVerdict]Moved{IsBetter: Better, IsWorse: Worse, IsDifferent: Differs,
		NotShown: Noise}[s.Verdict]
	k := shiftRank(len(b), len(a))
	if k == 0 {
		r.Change.WhyNot = "of " + s.counts() + " there is none"
		return
	}
	c := &r.Change
	diffs := pairwise(b, a, func(x, y float64) float64 { return y - x })
	c.DiffLow, c.DiffHigh, c.Judged = diffs[k-1], diffs[len(diffs)-k], true
	switch {
	case points:
		c.Low, c.High, c.Interval = min(c.DiffLow, c.Value), max(c.DiffHigh, c.Value), true
	case slices.Min(b) <= 0:
		c.WhyNot = "it was 0 in a run before"
	case slices.Min(a) <= 0:
		c.WhyNot = "it was 0 in a run after"
	default:
		ratios := pairwise(b, a, func(x, y float64) float64 { return y / x })
		c.Low, c.High, c.Interval = min(ratios[k-1], c.Value), max(ratios[len(ratios)-k], c.Value), true
	}
}

// pairwise returns f of every pair of a run before and a run after, in order.
func pairwise(before, after []float64, f func(x, y float64) float64) []float64 {
	out := make([]float64, 0, len(before)*len(after))
	for _, x := range before {
		for _, y := range after {
			out = append(out, f(x, y))
		}
	}
	slices.Sort(out)
	return out
}

// mostExact is up to how many runs a side the ranks are counted out; beyond, the
// normal distribution is as good.
const mostExact = 20

// shiftRank returns k such that the interval from the k-th of the sorted pairwise
// differences (or quotients) of n and m runs to the k-th from their end holds the
// shift between the sides with at least 95 %; 0 when there are too few runs. It
// turns the Mann-Whitney test around, so that it leaves out "no change" when the
// test shows one, and only then, but for ties.
//
// Source: M. Hollander, D. Wolfe, "Nonparametric Statistical Methods", 1999,
// section 4.3, after E. Lehmann, 1963.
func shiftRank(n, m int) int {
	if n > mostExact || m > mostExact {
		pairs := float64(n * m)
		return max(int(pairs/2-1.959964*math.Sqrt(pairs*float64(n+m+1)/12)), 0)
	}
	ways := rankSums(n, m)
	total := 0.0
	for _, w := range ways {
		total += w
	}
	k, below := 0, 0.0
	for _, w := range ways {
		if below += w; below/total > Alpha/2 {
			break
		}
		k++
	}
	return k
}

// rankSums returns in how many ways u of the n × m pairs can stand the wrong way
// round, for each u from 0.
func rankSums(n, m int) []float64 {
	// row[j] is for i values of one side and j of the other.
	row := make([][]float64, m+1)
	for j := range row {
		row[j] = []float64{1}
	}
	for i := 1; i <= n; i++ {
		next := make([][]float64, m+1)
		next[0] = []float64{1}
		for j := 1; j <= m; j++ {
			sum := make([]float64, i*j+1)
			for u, w := range row[j] {
				sum[u+j] += w // the greatest value is of the first side: above all j
			}
			for u, w := range next[j-1] {
				sum[u] += w
			}
			next[j] = sum
		}
		row = next
	}
	return row[m]
}

// medianOf returns the median of what was measured.
func medianOf(values []Value) Value {
	v := known(values)
	if len(v) == 0 {
		return Value{}
	}
	return Value{median.Of(v), true}
}

// known returns what was measured.
func known(values []Value) []float64 {
	var out []float64
	for _, v := range values {
		if v.OK {
			out = append(out, v.Value)
		}
	}
	return out
}

// each reads one figure of every run of a side.
func each(runs []*kasoku.Recording, read func(*kasoku.Recording) Value) []Value {
	out := make([]Value, len(runs))
	for i, r := range runs {
		out[i] = read(r)
	}
	return out
}
