package measurement

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Interval is the rule MES-06.
type Interval struct{}

// Thresholds of MES-06.
const (
	// samplesWanted of each step: with ten, the two at the edges are a fifth.
	samplesWanted = 10
	// jitter is how much later than asked a sample may be.
	jitter = 1.05
	// remainder of the longest load phase: a shorter one is its last slow answers, or some requests before it.
	remainder = 0.1
)

// wholeRun is what is judged of a run without steps and phases.
const wholeRun = "a run"

// ID returns MES-06.
func (Interval) ID() string { return "MES-06" }

// Doc describes the rule.
func (Interval) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a run that was sampled too rarely for its length.`,
		Evidence: `the time between two samples is more than a tenth of the shortest load step, load phase
			or, without either, of the run. A phase that is less than a tenth of the longest is none of its own.`,
		Cause: `a few samples show neither a peak nor how much values vary, and those at both edges hold
			time without load.`,
		Fix: `sample more often, or make the steps longer.`,
		Silent: `when each step has ten samples or more, or no load was seen; blind when nothing was sampled. It is a remark:
			counts of logs and of the load do not depend on it.`,
	}
}

// Check compares the interval with the shortest stretch of load.
func (r Interval) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	tick := c.Processes().Tick().Round(10 * time.Millisecond)
	if tick <= 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("nothing was sampled"))
	}
	shortest, what := shortestLoad(c)
	shortest = shortest.Round(100 * time.Millisecond)
	if shortest <= 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("the length of the run is not known"))
	}
	if counts, _ := c.BySecond(); what == wholeRun && len(counts) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "no load was seen in the run, so that no stretch of it is too short")
	}
	of := tick.Seconds() * samplesWanted / shortest.Seconds()
	if of <= jitter {
		// The defaults of interval and step are at the threshold: that is no reason
		// to name this rule before one that is about the service.
		return nil, diagnose.Quiet(r.ID(), min(of, 1)/2, "a sample every %s for %s of %s; the threshold is a tenth",
			unit.Exact(tick), what, unit.Exact(shortest))
	}
	// Rounded down to a tenth of a second, which is as often as can be sampled.
	finer := max((shortest / samplesWanted).Truncate(100*time.Millisecond), 100*time.Millisecond)
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "run", Name: "sampling interval"},
		Title: fmt.Sprintf("A sample every %s is too coarse for %s of %s", unit.Exact(tick), what,
			unit.Exact(shortest)),
		Severity: kasoku.Info, Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}),
		Impact: kasoku.Impact{Of: evidence.Unmeasured, Estimate: true},
		Evidence: []kasoku.Evidence{
			{Source: "run", Text: "time between two samples", Value: unit.Exact(tick), Number: tick.Seconds(),
				Strong: true},
			{Source: "run", Text: "length of " + what, Value: unit.Exact(shortest), Number: shortest.Seconds(),
				Strong: true},
		},
		Cause: fmt.Sprintf("%s of %s sees host, processes and database sampled %s; a peak or a pause between two "+
			"samples does not show. What logs and the load count is complete.",
			wording.Capital(what), unit.Exact(shortest), timesWords(shortest.Seconds()/tick.Seconds())),
		Fixes: []kasoku.Fix{
			{Text: "Make each step last ten samples or more", Where: "the load",
				Note: "At the present interval that is " + unit.Exact(samplesWanted*tick) + ".", Risk: kasoku.RiskNone},
			{Text: "Or sample more often: --interval " + finer.String(), Where: "the recording",
				Note: "Its cost in CPU grows as often; the run reports it.", Risk: kasoku.RiskNone},
		},
		Expect: "ten samples or more in each step", Verify: "repeat the run: this remark must be gone",
		Interval: c.Focus.Interval,
	}}, nil
}

// shortestLoad returns the length of the shortest step, else load phase that is more than a remainder of
// another, else of the run, and what it is. A step that was cut short counts as planned: it ended
// because enough was seen.
func shortestLoad(c *diagnose.Case) (shortest time.Duration, what string) {
	var steps, phases []time.Duration
	for _, s := range c.Steps {
		steps = append(steps, max(s.Planned, s.Interval.Len()))
	}
	for _, p := range c.Phases {
		if p.Kind == kasoku.PhaseLoad {
			phases = append(phases, p.Interval.Len())
		}
	}
	switch {
	case len(steps) > 0:
		return slices.Min(steps), "a load step"
	case len(phases) > 0:
		longest := slices.Max(phases).Seconds()
		phases = slices.DeleteFunc(phases, func(d time.Duration) bool { return d.Seconds() < remainder*longest })
		return slices.Min(phases), "a load phase"
	}
	return c.Run.Length, wholeRun
}

// timesWords describes how often: once, twice, 7 times.
func timesWords(n float64) string {
	switch {
	case n < 1.5:
		return "once at most"
	case n < 2.5:
		return "twice"
	}
	return diagnose.Whole(n) + " times"
}
