package pool

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// IdleControl is the rule POOL-03.
type IdleControl struct{}

// ID returns POOL-03.
func (IdleControl) ID() string { return "POOL-03" }

// Doc describes the rule.
func (IdleControl) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that a change of the idle pool had no effect.`,
		Evidence: `against the baseline nothing but the pool's idle limit changed, and at the same rate
			the success ratio did not rise by half a point nor the mean latency fall by 10 %.`,
		Cause: `the idle pool was no longer the limit; the limit now lies elsewhere.`,
		Fix:   `put the limit back to the size of the pool and look at the server's side.`,
		Silent: `without a baseline, when the idle limit was not recorded or did not change, when anything
			else changed too, when the run got better, or when it looks better by no more than the seconds of
			the two runs vary among themselves.`,
	}
}

// Check compares the run with its baseline.
func (r IdleControl) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("there is no baseline to compare with"))
	}
	idle, others, known := idleChange(c.Baseline, c.Recording)
	switch {
	case !known:
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("the pool's idle limit was not recorded in both runs"))
	case idle == nil:
		return nil, diagnose.Quiet(r.ID(), 0, "the pool's idle limit did not change")
	case len(others) > 0:
		return nil, diagnose.Quiet(r.ID(), 1/float64(1+len(others)), "the idle limit was not all that changed: %s",
			wording.List(others, 3))
	}
	before, after, err := evidence.SameStep(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	e := evidence.EffectOf(before, after)
	says := "the idle limit made a difference"
	if e.Unclear() {
		says = "the seconds of the runs vary too much for an answer"
	}
	if e.Better() || e.Unclear() {
		return nil, diagnose.Quiet(r.ID(), e.NearNone(), "%s: success %s → %s, mean %s → %s",
			says, unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter), unit.Duration(e.MeanBefore),
			unit.Duration(e.MeanAfter))
	}
	return []kasoku.Finding{r.finding(c, *idle, e)}, nil
}

func (r IdleControl) finding(c *diagnose.Case, idle evidence.SettingChange, e evidence.Effect) kasoku.Finding {
	title := "A changed idle pool shows no effect"
	if e.Worse() {
		title = "A changed idle pool shows no gain; the run got worse"
	}
	notLimit := diagnose.Signal{Lacks: "connections were opened and closed again before"}
	if p, err := connectionsOf(diagnose.NewCase(c.Baseline, nil)); err != nil {
		notLimit.Blind = "connections of the baseline: " + err.Error()
	} else {
		notLimit.Holds = !p.churns()
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "pool", Name: idle.Name}, Title: title, Severity: kasoku.Info,
		Confidence: diagnose.Confidence(
			diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, notLimit,
			diagnose.Signal{Holds: e.Seconds >= evidence.EnoughSeconds, Lacks: fmt.Sprintf("only %d s a run", e.Seconds)}),
		Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Evidence: []kasoku.Evidence{
			{Source: "var", Text: idle.Name, Value: idle.Before + " → " + idle.After, Strong: true},
			{Source: "load", Text: "success", Note: "noise ± " + unit.PercentCell(2*e.GoodNoise) + " points",
				Value:  unit.Percent(e.GoodBefore) + " → " + unit.Percent(e.GoodAfter),
				Number: e.GoodAfter - e.GoodBefore, Strong: true, Interval: c.Focus.Interval},
			{Source: "load", Text: "mean latency", Note: "noise ± " + unit.Duration(2*e.MeanNoise),
				Value:  unit.Duration(e.MeanBefore) + " → " + unit.Duration(e.MeanAfter),
				Number: (e.MeanAfter - e.MeanBefore).Seconds(), Strong: true, Interval: c.Focus.Interval},
		},
		Cause: fmt.Sprintf("Only %s changed, from %s to %s, and %s the success ratio went from %s to %s and the mean "+
			"latency from %s to %s: the idle pool was not the limit.",
			idle.Name, idle.Before, idle.After, c.At(), unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter),
			unit.Duration(e.MeanBefore), unit.Duration(e.MeanAfter)),
		Fixes: []kasoku.Fix{{
			Text: fmt.Sprintf("Put %s back to %s and look at what the connections wait for", idle.Name, idle.Before),
			Note: "One run a side: repeat both to separate a small effect from noise.", Risk: kasoku.RiskAppRestart,
		}},
		Expect: "the same figures", Verify: "repeat the load with the old value and compare",
		Interval: c.Focus.Interval,
	}
}

// idleChange returns the change of the pool's idle limit and the names of all
// else that changed. known is false when the limit was not recorded in both.
func idleChange(a, b *kasoku.Recording) (idle *evidence.SettingChange, others []string, known bool) {
	before, after := evidence.SettingsOf(a), evidence.SettingsOf(b)
	for _, s := range after.Order {
		was, ok := before.Value[s]
		is := after.Value[s]
		limit := evidence.IsIdleLimit(s)
		known = known || limit && ok
		switch {
		case ok && was == is:
		case limit && ok && idle == nil:
			idle = &evidence.SettingChange{Name: s.Name, Before: was, After: is}
		case !ok && was == "" && limit:
		default:
			others = append(others, s.Name)
		}
	}
	for _, s := range before.Order {
		if _, ok := after.Value[s]; !ok {
			others = append(others, s.Name)
		}
	}
	if a.Run.Revision != b.Run.Revision {
		others = append(others, "the code's revision")
	}
	return idle, others, known
}
