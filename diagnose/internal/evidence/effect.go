package evidence

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// What counts as an effect between one run and another.
const (
	// leastGood is the least difference of success ratios that is called one.
	leastGood = 0.005
	// leastMean is the least part of the mean latency that is called one.
	leastMean = 0.10
	// EnoughSeconds are needed to know how much seconds vary.
	EnoughSeconds = 5
)

// An Effect is how one run differs from another at the same rate. The noise is
// the standard error of the difference, from how the seconds of each run vary;
// two runs vary more than the seconds of one, so it is a lower bound.
type Effect struct {
	GoodBefore, GoodAfter, GoodNoise float64
	MeanBefore, MeanAfter, MeanNoise time.Duration
	Seconds                          int // of the shorter run
}

// Good returns by how much the success ratio rose, as a difference of ratios.
func (e Effect) Good() float64 { return e.GoodAfter - e.GoodBefore }

// Mean returns by how much the mean latency rose; a gain is below 0.
func (e Effect) Mean() time.Duration { return e.MeanAfter - e.MeanBefore }

func (e Effect) goodBar() float64 { return max(2*e.GoodNoise, leastGood) }

func (e Effect) meanBar() time.Duration {
	return max(2*e.MeanNoise, time.Duration(leastMean*float64(e.MeanBefore)))
}

// Better reports whether the later run is better by more than the noise, and
// not worse in the other measure.
func (e Effect) Better() bool {
	if e.Worse() {
		return false
	}
	return e.Good() > e.goodBar() || e.Mean() < -e.meanBar()
}

// Unclear reports whether the later run looks better, but by no more than the
// seconds vary: then no one can say whether it is.
func (e Effect) Unclear() bool { return !e.Better() && !e.Worse() && e.NearNone() < 1 }

// NearNone returns how near a gain is to none that counts: 1 when it is none, 0
// when it is far beyond.
func (e Effect) NearNone() float64 {
	return 1 / max(e.Good()/leastGood, -e.Mean().Seconds()/max(leastMean*e.MeanBefore.Seconds(), 1e-9), 1)
}

// Worse reports whether, by more than the noise, more requests failed than before, or, with as
// many successes, they took longer.
func (e Effect) Worse() bool {
	return e.Good() < -e.goodBar() || e.Good() <= e.goodBar() && e.Mean() > e.meanBar()
}

// PerSecond is the load of one run at one step, second by second.
type PerSecond struct {
	tally *kasoku.Tally
	good  []float64 // success ratios
	mean  []float64 // mean latencies, s
}

// SameStep returns the loads of the baseline and of the run at the focus's rate.
func SameStep(c *diagnose.Case) (before, after PerSecond, err error) {
	if len(c.Seconds) == 0 || len(c.Baseline.Seconds) == 0 {
		return before, after, errors.New("the load was not counted in both runs")
	}
	if c.Focus.Step == nil {
		return secondsOf(c.Baseline, 0), secondsOf(c.Recording, 0), nil
	}
	i := slices.IndexFunc(c.Baseline.Steps, func(s kasoku.Step) bool {
		return s.PerSec == c.Focus.Step.PerSec &&
			s.Number > 0
	})
	if i < 0 {
		return before, after, fmt.Errorf("the baseline has no step at %s", unit.PerSec(c.Focus.Step.PerSec))
	}
	before, after = secondsOf(c.Baseline, c.Baseline.Steps[i].Number), secondsOf(c.Recording, c.Focus.Step.Number)
	if before.tally.Asked == 0 || after.tally.Asked == 0 {
		return before, after, errors.New("no requests were counted in one of the runs")
	}
	return before, after, nil
}

func secondsOf(rec *kasoku.Recording, step int) PerSecond {
	p := PerSecond{tally: rec.Tally(step)}
	per := map[int]*kasoku.Tally{}
	for i := range rec.Seconds {
		s := &rec.Seconds[i]
		if step != 0 && s.Step != step {
			continue
		}
		if per[s.Second] == nil {
			per[s.Second] = kasoku.NewTally()
		}
		per[s.Second].Add(s)
	}
	keys := make([]int, 0, len(per))
	for k := range per {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if t := per[k]; t.Asked > 0 {
			p.good = append(p.good, t.SuccessRatio())
			p.mean = append(p.mean, t.Latency.Mean().Seconds())
		}
	}
	return p
}

// EffectOf compares two loads. One of fewer than two seconds adds nothing to the noise.
func EffectOf(before, after PerSecond) Effect {
	seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	return Effect{
		GoodBefore: before.tally.SuccessRatio(), GoodAfter: after.tally.SuccessRatio(),
		GoodNoise:  math.Hypot(standardError(before.good), standardError(after.good)),
		MeanBefore: before.tally.Latency.Mean(), MeanAfter: after.tally.Latency.Mean(),
		MeanNoise: seconds(math.Hypot(standardError(before.mean), standardError(after.mean))),
		Seconds:   min(len(before.good), len(after.good)),
	}
}

// standardError returns the standard error of the mean, 0 for fewer than two
// values.
func standardError(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	var mean, sum float64
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	n := float64(len(v))
	return math.Sqrt(sum / (n - 1) / n)
}
