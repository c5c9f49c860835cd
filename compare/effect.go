package compare

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// A Cut is one step of one run.
type Cut struct {
	Run  *kasoku.Recording
	Step int // Step.Number
}

// A Judgement says in a word what one change did.
type Judgement string

// The judgements.
const (
	Fixes    Judgement = "fixes it"
	Improves Judgement = "better"
	NoEffect Judgement = "no effect"
	Harms    Judgement = "worse"
)

// Gain reports whether the change helped.
func (j Judgement) Gain() bool { return j == Fixes || j == Improves }

// The thresholds of [Effect].
const (
	// FixedAt is the success ratio from which a step counts as fixed.
	FixedAt = 0.999
	// LeastFactor is the least factor of p99 that is called a change. The interval
	// speaks for the seconds of one run; the p99 of repeated 10 s runs of the
	// same thing spreads by a tenth to a fifth.
	LeastFactor = 1.25
)

// An EffectResult is what one change did to one step.
type EffectResult struct {
	PerSec   float64
	Success  Row
	P50, P99 Row
	Verdict  Judgement
	Why      string // the figures that the verdict rests on, in a sentence
}

// Effect judges one change tried alone: after differs from before only in that
// change. The step of both must have been asked at the same rate.
//
// Success has moved when the interval of its difference leaves out 0 and the
// difference is at least 1 point; p99 has moved when the interval of its ratio
// leaves out 1 and the ratio is at least 1.25 either way. Then:
//
//   - success rose, to at least 99.9 %, and p99 did not rise: "fixes it";
//   - success rose otherwise: "better";
//   - success fell: "worse";
//   - success did not move: "better" when p99 fell, "worse" when it rose, and
//     "no effect" when it did not move either.
//
// Success leads because the latency of requests that fail fast is no comfort. A
// step too short for intervals, below 6 s, is judged by the differences alone.
func Effect(before, after Cut, o Options) (*EffectResult, error) {
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Resamples <= 0 {
		o.Resamples = Resamples
	}
	b, err := before.step()
	if err != nil {
		return nil, err
	}
	a, err := after.step()
	if err != nil {
		return nil, err
	}
	if !sameRate(b.PerSec, a.PerSec) {
		return nil, &MismatchError{
			What: "the steps differ in load: " + unit.PerSec(b.PerSec) + " and " + unit.PerSec(a.PerSec),
			Help: "try a change at the rate of the step that it is held against",
		}
	}
	j := judge{
		before: []*stepData{newStepData(before.Run, b, nil)}, after: []*stepData{newStepData(after.Run, a, nil)},
		seed: o.Seed, resamples: o.Resamples,
	}
	rows := j.rows([]metric{
		successMetric(), percentileMetric("latency.p50", "p50", 0.50), percentileMetric("latency.p99", "p99", 0.99),
	})
	e := &EffectResult{PerSec: b.PerSec}
	for _, r := range rows {
		r.PerSec = b.PerSec
		switch r.ID {
		case "success":
			e.Success = r
		case "latency.p50":
			e.P50 = r
		case "latency.p99":
			e.P99 = r
		}
	}
	e.judge()
	return e, nil
}

func (c Cut) step() (kasoku.Step, error) {
	for _, s := range c.Run.Steps {
		if s.Number == c.Step {
			if c.Run.Tally(s.Number).Asked == 0 {
				return s, &MismatchError{What: "step " + unit.Count(c.Step) + " of " + name(c.Run) +
					" has no requests", Help: "the step must have run"}
			}
			return s, nil
		}
	}
	return kasoku.Step{}, &MismatchError{
		What: "run " + name(c.Run) + " has no step " + unit.Count(c.Step),
		Help: "its ladder is " + ladder(c.Run),
	}
}

func (e *EffectResult) judge() {
	success, p99 := e.successMoved(), e.p99Moved()
	switch {
	case success > 0 && e.Success.After.Value >= FixedAt && p99 <= 0:
		e.Verdict = Fixes
	case success > 0:
		e.Verdict = Improves
	case success < 0:
		e.Verdict = Harms
	case p99 < 0:
		e.Verdict = Improves
	case p99 > 0:
		e.Verdict = Harms
	default:
		e.Verdict = NoEffect
	}
	e.Why = "success " + printPair(e.Success)
	if e.P99.Before.OK && e.P99.After.OK {
		e.Why += ", p99 " + printPair(e.P99)
	}
}

// successMoved returns 1 when success rose, -1 when it fell, else 0.
func (e *EffectResult) successMoved() int {
	c := e.Success.Change
	switch {
	case !c.OK, c.Judged && c.DiffLow <= 0 && c.DiffHigh >= 0:
		return 0
	case c.Value >= LeastPoints:
		return 1
	case c.Value <= -LeastPoints:
		return -1
	}
	return 0
}

// p99Moved returns 1 when p99 rose, -1 when it fell, else 0.
func (e *EffectResult) p99Moved() int {
	c := e.P99.Change
	switch {
	case !c.OK, c.Interval && c.Low <= 1 && c.High >= 1:
		return 0
	case c.Value >= LeastFactor:
		return 1
	case c.Value <= 1/LeastFactor:
		return -1
	}
	return 0
}
