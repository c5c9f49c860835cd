package compare

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/kasoku/kasoku/internal/unit"
)

// Alpha is the share of equal pairs of groups that may be called different.
const Alpha = 0.05

// LeastRuns is how many runs a side the test needs at the least: even when all of
// one side lie above all of the other, 3 against 3 come out so by chance in one
// case of ten, 4 against 4 in one of 35.
const LeastRuns = 4

// A SampleVerdict says in words what two samples show.
type SampleVerdict string

// The verdicts.
const (
	IsBetter    SampleVerdict = "better"
	IsWorse     SampleVerdict = "worse"
	IsDifferent SampleVerdict = "different" // and neither way is better
	NotShown    SampleVerdict = "no difference shown"
	OneAgainst  SampleVerdict = "one run against one"
	TooFewRuns  SampleVerdict = "too few runs"
)

// Shown reports whether the samples differ by more than chance.
func (v SampleVerdict) Shown() bool { return v == IsBetter || v == IsWorse || v == IsDifferent }

// A Sample is the figures of one side's runs, one a run.
type Sample struct {
	N           int
	Median      float64
	Low, High   float64 // 95 % interval of the median; both the median when Exact is false
	Exact       bool    // there were enough values for the interval: 6
	Least, Most float64
}

// A Significance is what two samples of runs show.
type Significance struct {
	Before, After Sample
	P             float64 // of the Mann-Whitney test, two-sided; 1 when it cannot be said
	Delta         float64 // median after / median before − 1; 0 when before's is 0
	Effect        float64 // Cliff's delta, −1..1: 1 when all of after lie above all of before
	Verdict       SampleVerdict
	Need          int    // about how many runs a side would settle it; 0 when it is settled or unknown
	Why           string // one sentence with the figures
}

// Samples compares the figures of repeated runs, one figure a run. It assumes
// nothing of how they are distributed: it takes medians, with intervals from the
// order of the values, and the Mann-Whitney test at [Alpha]. Figures that are not
// finite are left out. Runs must be independent of each other: seconds of one run
// are not.
//
// Need is Noether's number for a power of 80 % at the effect seen, so it is a
// guide only: it takes the effect as it came out.
//
// Source: golang.org/x/perf/benchmath, AssumeNothing; N. Cliff, "Dominance
// statistics", 1993; G. Noether, "Sample size determination for some common
// nonparametric tests", 1987.
func Samples(before, after []float64, goal Goal) Significance {
	b, a := finiteOnly(before), finiteOnly(after)
	s := Significance{Before: sampleOf(b), After: sampleOf(a), P: 1}
	if len(b) == 0 || len(a) == 0 {
		s.Verdict, s.Why = TooFewRuns, s.counts()+": one side has no figure"
		return s
	}
	if s.Before.Median != 0 {
		s.Delta = s.After.Median/s.Before.Median - 1
	}
	s.Effect = cliff(b, a)
	if len(b) > 1 && len(a) > 1 {
		s.P = probability(b, a)
	}
	s.judge(goal)
	return s
}

// probability is the p of the Mann-Whitney test. With ties and sides of different
// size the distribution of U is skewed, and benchmath doubles the tail at the lesser
// U on whichever side that is; the greater p of both orders is never too small, and
// the same for both.
func probability(before, after []float64) float64 {
	t := benchmath.DefaultThresholds
	b, a := benchmath.NewSample(before, &t), benchmath.NewSample(after, &t)
	there, back := benchmath.AssumeNothing.Compare(b, a), benchmath.AssumeNothing.Compare(a, b)
	return min(max(there.P, back.P), 1)
}

func (s *Significance) judge(goal Goal) {
	n, m := s.Before.N, s.After.N
	switch {
	case n == 1 && m == 1:
		s.Verdict, s.Need = OneAgainst, LeastRuns
		s.Why = fmt.Sprintf("one run against one: %s, but how far two runs of the same thing differ is not known; %d "+
			"runs a side are the least that can show it",
			s.moved(), LeastRuns)
	case min(n, m) == 1:
		s.Verdict, s.Need = TooFewRuns, LeastRuns
		s.Why = fmt.Sprintf("%s: %s, but a side of one run has no spread of its own; %d a side are the least",
			s.counts(), s.moved(), LeastRuns)
	case leastP(n, m) > Alpha:
		s.Verdict, s.Need = TooFewRuns, max(LeastRuns, noether(s.Effect))
		s.Why = fmt.Sprintf("%s: %s, but so few come out all apart by chance with a probability of %s; %d a side are "+
			"the least",
			s.counts(), s.moved(), unit.Sig3(leastP(n, m)), LeastRuns)
	case s.P > Alpha:
		s.Verdict, s.Need = NotShown, s.need()
		s.Why = fmt.Sprintf("%s: %s, p %s: no difference shown; %s", s.counts(), s.moved(), PValue(s.P), s.needed())
	default:
		s.Verdict = direction(s.Effect, goal)
		s.Why = fmt.Sprintf("%s: %s, p %s, %s", s.counts(), s.moved(), PValue(s.P), s.apart())
	}
}

// direction is the verdict on samples that differ. Effect decides and not the
// medians, because it is what the test looks at.
func direction(effect float64, goal Goal) SampleVerdict {
	switch {
	case goal == Neither:
		return IsDifferent
	case (effect > 0) == (goal == More):
		return IsBetter
	}
	return IsWorse
}

// mostNeed bounds Need: beyond it, the answer is that there is no difference to
// speak of.
const mostNeed = 1000

func (s *Significance) need() int {
	n := noether(s.Effect)
	if n == 0 || n > mostNeed {
		return 0
	}
	return max(n, min(s.Before.N, s.After.N)+1)
}

func (s *Significance) needed() string {
	if s.Need == 0 {
		return "more runs would hardly change that"
	}
	return fmt.Sprintf("if it is real, about %s runs a side would show it", unit.Count(s.Need))
}

// noether returns how many runs a side show an effect of that size in four cases
// of five at a level of 5 %: (1.96 + 0.84)² / (6 (P − ½)²), with P, the chance
// that a run of after lies above one of before, = (1 + effect) / 2. It is 0 when
// there is no effect.
func noether(effect float64) int {
	const z = 1.959964 + 0.841621
	if effect == 0 {
		return 0
	}
	return int(math.Ceil(z * z / (1.5 * effect * effect)))
}

// leastP is the least p that the two-sided test can give: both ways in which the
// sides can lie all apart, among all ways to deal out n + m ranks.
func leastP(n, m int) float64 {
	ways := 1.0
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return min(2/ways, 1)
}

// cliff returns how much more often a value of after lies above one of before
// than below it, as a share of all pairs.
func cliff(before, after []float64) float64 {
	sum := 0
	for _, x := range before {
		for _, y := range after {
			switch {
			case y > x:
				sum++
			case y < x:
				sum--
			}
		}
	}
	return float64(sum) / float64(len(before)*len(after))
}

// sampleOf summarises values, which it sorts.
func sampleOf(values []float64) Sample {
	s := Sample{N: len(values)}
	if s.N == 0 {
		return s
	}
	t := benchmath.DefaultThresholds
	sum := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &t), 1-Alpha)
	s.Median, s.Low, s.High = sum.Center, sum.Center, sum.Center
	s.Least, s.Most = values[0], values[s.N-1]
	if len(sum.Warnings) == 0 && !math.IsInf(sum.Lo, 0) && !math.IsInf(sum.Hi, 0) {
		s.Low, s.High, s.Exact = sum.Lo, sum.Hi, true
	}
	return s
}

// finiteOnly copies the values that are numbers.
func finiteOnly(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// counts describes how many runs stand against how many.
func (s *Significance) counts() string {
	b, a := unit.Count(s.Before.N), unit.Count(s.After.N)
	switch {
	case s.Before.N == 1:
		return "one run against " + a
	case s.After.N == 1:
		return b + " runs against one"
	}
	return b + " runs against " + a
}

func (s *Significance) moved() string {
	word := "median "
	if s.Before.N == 1 && s.After.N == 1 {
		word = ""
	}
	return word + unit.Change(s.Before.Median, s.After.Median)
}

// apart describes in words in how many pairs of runs the effect shows.
func (s *Significance) apart() string {
	switch s.Effect {
	case 1:
		return "every run of after lies above every run of before"
	case -1:
		return "every run of after lies below every run of before"
	}
	where, p := "above", (1+s.Effect)/2
	if s.Effect < 0 {
		where, p = "below", (1-s.Effect)/2
	}
	return "a run of after lies " + where + " one of before in " + unit.Percent(p) + " of pairs"
}

// PValue prints a p with three decimals, "< 0.001" below.
func PValue(p float64) string { return unit.Fixed(p, 3) }
