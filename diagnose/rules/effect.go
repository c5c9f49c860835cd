package rules

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
	// enoughSeconds are needed to know how much seconds vary.
	enoughSeconds = 5
)

// An effect is how one run differs from another at the same rate. The noise is
// the standard error of the difference, from how the seconds of each run vary;
// two runs vary more than the seconds of one, so it is a lower bound.
type effect struct {
	goodBefore, goodAfter, goodNoise float64
	meanBefore, meanAfter, meanNoise time.Duration
	seconds                          int // of the shorter run
}

func (e effect) good() float64 { return e.goodAfter - e.goodBefore }

func (e effect) mean() time.Duration { return e.meanAfter - e.meanBefore }

func (e effect) goodBar() float64 { return max(2*e.goodNoise, leastGood) }

func (e effect) meanBar() time.Duration {
	return max(2*e.meanNoise, time.Duration(leastMean*float64(e.meanBefore)))
}

// better reports whether the later run is better by more than the noise, and
// not worse in the other measure.
func (e effect) better() bool {
	if e.worse() {
		return false
	}
	return e.good() > e.goodBar() || e.mean() < -e.meanBar()
}

// unclear reports whether the later run looks better, but by no more than the
// seconds vary: then there is no telling whether it is.
func (e effect) unclear() bool { return !e.better() && !e.worse() && e.nearNone() < 1 }

// nearNone returns how near a gain is to none that counts: 1 when it is none, 0
// when it is far beyond.
func (e effect) nearNone() float64 {
	return 1 / max(e.good()/leastGood, -e.mean().Seconds()/max(leastMean*e.meanBefore.Seconds(), 1e-9), 1)
}

// worse reports whether more requests failed than before, or, with as many
// successes, they took longer.
func (e effect) worse() bool {
	return e.good() < -e.goodBar() || e.good() <= e.goodBar() && e.mean() > e.meanBar()
}

// perSecond is the load of one run at one step, second by second.
type perSecond struct {
	tally *kasoku.Tally
	good  []float64 // success ratios
	mean  []float64 // mean latencies, s
}

// sameStep returns the loads of the baseline and of the run at the focus's rate.
func sameStep(c *diagnose.Case) (before, after perSecond, err error) {
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

func secondsOf(rec *kasoku.Recording, step int) perSecond {
	p := perSecond{tally: rec.Tally(step)}
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

func effectOf(before, after perSecond) effect {
	seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	return effect{
		goodBefore: before.tally.SuccessRatio(), goodAfter: after.tally.SuccessRatio(),
		goodNoise:  math.Hypot(standardError(before.good), standardError(after.good)),
		meanBefore: before.tally.Latency.Mean(), meanAfter: after.tally.Latency.Mean(),
		meanNoise: seconds(math.Hypot(standardError(before.mean), standardError(after.mean))),
		seconds:   min(len(before.good), len(after.good)),
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
