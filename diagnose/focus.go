package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// When a step broke.
const (
	// slowFactor is how many times the p95 of the lowest step a step's p95 must be for it to
	// count as broken though its requests succeed: an order of magnitude, because a busy
	// machine easily answers a few times slower.
	slowFactor = 10
	// slowerFactor is how many times it must be for a step to be looked at because it is slow;
	// below that the steps are alike, and the one with the most load is.
	slowerFactor = 1.5
	// fewRequests is the least number of requests that a step's share of successes is read
	// from: one failure in fewer is more than 1 %. Of fewer, only a share below one half
	// counts.
	fewRequests = 100
	// lastAnswers bounds the time after a step in which its late answers are
	// still looked for.
	lastAnswers = 10 * time.Second
)

// A Focus is the part of a run where evidence is taken.
type Focus struct {
	Step     *kasoku.Step    // nil when the focus is the load of a run without steps
	Base     *kasoku.Step    // the step with the lowest rate, nil when that is Step or there is none
	Interval kasoku.Interval // the step and the time that its last answers took
	Tally    *kasoku.Tally   // what the load counted in it; nil when the load was not counted
	BaseLoad *kasoku.Tally   // the same of Base
	Broke    bool            // requests failed, took an order of magnitude longer than at Base, or queued without end
	Pace     float64         // requests a second that the service kept up with; 0 when it did with all, or that is not seen
	Why      string          // what made it the focus: "30.5 % of requests succeed"
}

// FocusOf chooses the focus of a recording: the first step that broke, by [kasoku.FirstBroken]
// or because the service did not keep up with its rate; else the step whose p95 grew most over
// that of the lowest step; else, when steps are alike, the one with the highest rate. Of a run
// without steps it is the longest stretch of load in its traffic, else all of it.
func FocusOf(rec *kasoku.Recording) Focus {
	steps := usableSteps(rec)
	if len(steps) == 0 {
		return withoutSteps(rec)
	}
	base := steps[0]
	for _, s := range steps {
		if s.step.PerSec > 0 && s.step.PerSec < base.step.PerSec {
			base = s
		}
	}
	chosen, broke, why := worstStep(steps, base)
	f := Focus{
		Step: chosen.step, Interval: settledPart(rec, chosen), Tally: chosen.tally,
		Broke: broke, Pace: chosen.pace, Why: why,
	}
	if base.step != chosen.step {
		f.Base, f.BaseLoad = base.step, base.tally
	}
	return f
}

// A stepLoad is a step with what was counted in it.
type stepLoad struct {
	step  *kasoku.Step
	tally *kasoku.Tally // nil when the load was not counted
	asked uint64
	good  float64 // success ratio
	pace  float64 // [kasoku.Recording.Pace]; 0 when the service kept up
}

// usableSteps returns the steps that lasted and in which requests were counted.
func usableSteps(rec *kasoku.Recording) []stepLoad {
	var out []stepLoad
	for i := range rec.Steps {
		s := &rec.Steps[i]
		if s.Interval.Empty() {
			continue
		}
		l := stepLoad{step: s}
		if t := rec.Tally(s.Number); s.Number > 0 && t.Asked > 0 {
			l.tally, l.asked, l.good = t, t.Asked, t.SuccessRatio()
		} else if r, ok := countLogged(rec, s.Interval); ok {
			l.asked, l.good = r.Count, r.SuccessRatio()
		}
		if l.asked > 0 {
			l.pace, _ = rec.Pace(*s)
			out = append(out, l)
		}
	}
	return out
}

// worstStep returns the step to look at.
func worstStep(steps []stepLoad, base stepLoad) (s stepLoad, broke bool, why string) {
	ratios := make([]float64, len(steps))
	for i, s := range steps {
		ratios[i] = s.good
		if s.asked < fewRequests && s.good >= 0.5 {
			ratios[i] = 1
		}
	}
	failed := kasoku.FirstBroken(ratios)
	overrun := slices.IndexFunc(steps, func(s stepLoad) bool { return s.pace > 0 })
	switch {
	case overrun >= 0 && (failed < 0 || overrun < failed):
		s := steps[overrun]
		return s, true, fmt.Sprintf("the service keeps up with %s of %s req/s", unit.Sig3(s.pace), unit.Plain(s.step.PerSec))
	case failed >= 0:
		return steps[failed], true, unit.Percent(steps[failed].good) + " of requests succeed"
	}
	chosen, most := base, 1.0
	if p := p95(base.tally); p > 0 {
		for _, s := range steps {
			if r := float64(p95(s.tally)) / float64(p); r > most {
				chosen, most = s, r
			}
		}
	}
	if most < slowerFactor {
		for _, s := range steps {
			if s.step.PerSec > chosen.step.PerSec || chosen.step.PerSec == 0 && s.asked > chosen.asked {
				chosen = s
			}
		}
		return chosen, false, "no step is much slower than the lowest; this one has most load"
	}
	why = fmt.Sprintf("p95 is %s, %s times that %s", unit.Duration(p95(chosen.tally)), unit.Sig3(most),
		stepWords(base.step))
	return chosen, most >= slowFactor, why
}

func p95(t *kasoku.Tally) time.Duration {
	if t == nil {
		return 0
	}
	return t.Latency.Quantile(0.95)
}

// withoutSteps is the focus of a run without steps.
func withoutSteps(rec *kasoku.Recording) Focus {
	f := Focus{Interval: kasoku.Interval{To: endOf(rec)}, Why: "the run has no load steps"}
	var load kasoku.Interval
	for _, p := range rec.Phases {
		if p.Kind == kasoku.PhaseLoad && p.Interval.Len() > load.Len() {
			load = p.Interval
		}
	}
	if !load.Empty() {
		f.Interval, f.Why = load, "the load in the traffic"
	}
	good, asked := 1.0, uint64(0)
	if t := rec.Tally(0); t.Asked > 0 {
		f.Tally, good, asked = t, t.SuccessRatio(), t.Asked
	} else if r, ok := countLogged(rec, f.Interval); ok {
		r.Failed += min(GivenUp(rec), r.Count)
		good, asked = r.SuccessRatio(), r.Count
	}
	if good < kasoku.FailingBelow && (asked >= fewRequests || good < 0.5) {
		f.Broke, f.Why = true, unit.Percent(good)+" of requests succeed"
	}
	return f
}

// settledPart returns the step's interval and after it the time that its last
// answers took, but nothing of the next step: counters go on while requests
// that were due in the step are answered.
func settledPart(rec *kasoku.Recording, l stepLoad) kasoku.Interval {
	iv := l.step.Interval
	wait := time.Second
	if l.tally != nil {
		wait = min(max(wait, l.tally.Latency.Max()), lastAnswers)
	}
	to := iv.To + wait
	for _, s := range rec.Steps {
		if s.Interval.From >= iv.To {
			to = min(to, s.Interval.From)
		}
	}
	if e := endOf(rec); e > iv.To {
		to = min(to, e)
	}
	return kasoku.Interval{From: iv.From, To: to}
}

// endOf returns the offset of the run's end, found from what was recorded when
// the run never got to write it.
func endOf(rec *kasoku.Recording) time.Duration {
	if rec.Run.Length > 0 {
		return rec.Run.Length
	}
	var last time.Duration
	for i := range rec.Series {
		if p := rec.Series[i].Points; len(p) > 0 {
			last = max(last, p[len(p)-1].At)
		}
	}
	for i := range rec.Steps {
		last = max(last, rec.Steps[i].Interval.To)
	}
	for i := range rec.Seconds {
		last = max(last, secondInterval(rec.Seconds[i].Second).To)
	}
	return last
}

func stepWords(s *kasoku.Step) string {
	switch {
	case s == nil:
		return "over the run"
	case s.PerSec > 0:
		return "at " + unit.PerSec(s.PerSec)
	}
	return "in step " + unit.Count(s.Number)
}
