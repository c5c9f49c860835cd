package application

import (
	"errors"
	"maps"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// Population is the rule APP-08.
type Population struct{}

// ID returns APP-08.
func (Population) ID() string { return "APP-08" }

// Doc describes the rule.
func (Population) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds answers with a value that its own statistics do not include.`,
		Evidence: `a golden answer in JSON, asked at the end of the run, has a number beside the mean, the least
			and the greatest of its kind (gpa, gpa_avg, gpa_min, gpa_max), and lies outside of both by more than
			the numbers are rounded; or the mean does.`,
		Cause: `the statistics are those of a population to which what is asked for does not belong, as a student
			without a single grade; or they are older than the value. What is computed from both, as a score by
			the deviation from the mean, is far outside of what it means.`,
		Fix: `say nothing, instead of a number, where the value is not of the population. It is a remark: a service
			may mean it so.`,
		Silent: `where only a least and a greatest value stand beside the number, which may be limits; blind where no
			golden answer was asked ([answers] in kasoku.toml).`,
	}
}

// Check looks at what the answers at the end of the run say of themselves.
func (r Population) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	got, ok := c.ComparedAnswers()
	if !ok {
		return nil, diagnose.Blind(r.ID(), errors.New("no golden answer was asked: [answers] file in kasoku.toml"))
	}
	var out []kasoku.Finding
	for _, endpoint := range slices.Sorted(maps.Keys(got.Outside)) {
		out = append(out, r.finding(c, endpoint, got.Outside[endpoint]))
	}
	if len(out) == 0 {
		return nil, diagnose.Quiet(r.ID(), 0, "no value of %d answers lies outside of statistics beside it", got.Asked)
	}
	return out, nil
}

func (r Population) finding(c *diagnose.Case, endpoint, words string) kasoku.Finding {
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: endpoint}, Severity: kasoku.Info,
		Interval: c.Focus.Interval,
		Title:    wording.Cut(endpoint+" answers a value outside of its own statistics", wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "the statistics may be meant to be others'"}),
		Evidence: []kasoku.Evidence{{Source: "answers", Text: endpoint, Note: "asked at the end of the run",
			Value: words, Strong: true, Interval: c.Whole()}},
		Cause: "The statistics are those of a population to which this value does not belong, or they are older than " +
			"it. What is computed from both, as a score by the deviation from the mean, says nothing then.",
		Fixes: []kasoku.Fix{{Text: "Send no number where the value is not of the population",
			Where: evidence.HandlerOf(endpoint), Risk: kasoku.RiskAppRestart,
			Note: "Where it is meant so, as today's value beside last year's, nothing is to be done."}},
		Expect: "each value within its statistics, or none", Verify: "`kasoku answers check`, and the next run",
	}
}
