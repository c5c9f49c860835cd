package operation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Repeatable is the rule OPS-06.
type Repeatable struct{}

// ID returns OPS-06.
func (Repeatable) ID() string { return "OPS-06" }

// Doc describes the rule.
func (Repeatable) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary:  `says that a score cannot be relied on: the same thing fails at times.`,
		Evidence: `of the repeated runs that the benchmark judged, some passed and at least one failed.`,
		Cause: `the setting lies past what the service bears; a run passes by luck, and its score is no
			promise for the one that counts.`,
		Fix: `a setting that never fails, found by repeating it, even at a lower score.`,
		Silent: `when fewer than two runs of the group were judged, when all of them passed, and when none
			did.`,
	}
}

// Check counts the passes of the group.
func (r Repeatable) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	var passed, failed []*kasoku.Recording
	for _, run := range c.Runs() {
		switch s := run.Run.Score; {
		case s == nil || s.Outcome == kasoku.Unjudged:
		case s.Outcome == kasoku.Failed:
			failed = append(failed, run)
		default:
			passed = append(passed, run)
		}
	}
	n := len(passed) + len(failed)
	switch {
	case n == 0:
		return nil, diagnose.Blind(r.ID(), errors.New("no benchmark said whether the run passes"))
	case n == 1:
		return nil, diagnose.Blind(r.ID(),
			errors.New("only one run was judged by the benchmark, and nothing repeats it"))
	case len(failed) == 0:
		return nil, diagnose.Quiet(r.ID(), 1/float64(n+1), "all %d runs pass", n)
	case len(passed) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "none of %d runs passes: that can be relied on", n)
	}
	return []kasoku.Finding{r.finding(c, passed, failed)}, nil
}

func (r Repeatable) finding(c *diagnose.Case, passed, failed []*kasoku.Recording) kasoku.Finding {
	n := len(passed) + len(failed)
	best := slices.MaxFunc(slices.Concat(passed, failed), func(a, b *kasoku.Recording) int {
		return cmp.Compare(a.Run.Score.Value, b.Run.Score.Value)
	})
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "benchmark", Name: "score"}, Severity: kasoku.Problem,
		Title:  fmt.Sprintf("The best score is not repeatable: %d of %d runs pass", len(passed), n),
		Clause: fmt.Sprintf("%d of %d repeated runs fail", len(failed), n),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: n >= compare.LeastRuns,
			Lacks: fmt.Sprintf("only %d runs", n)},
			diagnose.Signal{Holds: sameThing(passed, failed), Lacks: "the runs were not all made of the same thing"}),
		Impact: failureImpact(failed, n),
		Evidence: []kasoku.Evidence{
			{Source: "benchmark", Text: "passes", Value: fmt.Sprintf("%d of %d", len(passed), n),
				Number: float64(len(passed)), Strong: true},
			{Source: "benchmark", Text: "scores", Note: "the best " + string(best.Run.Score.Outcome),
				Value: scoresOf(passed, failed), Number: best.Run.Score.Value, Strong: true},
		},
		Cause: fmt.Sprintf("The same thing was run %d times: %d passed and %d failed. The best score, %s, is what one "+
			"run reached, not what the next one will.", n, len(passed), len(failed), unit.Plain(best.Run.Score.Value)),
		Expect: "every run passes, perhaps at a lower score",
		Verify: fmt.Sprintf("repeat the run at least %d times: all must pass", max(n, 5)),
		Fixes: []kasoku.Fix{{Text: "Take a setting that never fails, one step back from this one",
			Note: "Repeat it as often as this one before it counts.", Risk: kasoku.RiskAppRestart}},
		Interval: c.Focus.Interval,
	}
	if e, ok := topError(failed); ok {
		f.Evidence = append(f.Evidence, e)
	}
	return f
}

// failureImpact is the part of the runs that failed; where their access logs have the answers that did,
// the part that these are of all: one of thousands costs little, whatever it makes of a score.
func failureImpact(failed []*kasoku.Recording, runs int) kasoku.Impact {
	i := kasoku.Impact{Share: float64(len(failed)) / float64(runs), Of: "of the runs"}
	var all, bad uint64
	for _, r := range failed {
		_, endpoints := r.FrontLog()
		for k := range endpoints {
			all += endpoints[k].Count
			for code, n := range endpoints[k].Codes {
				if code >= 500 {
					bad += n
				}
			}
		}
	}
	if share := float64(bad) / float64(max(all, 1)); bad > 0 && share < i.Share {
		i = kasoku.Impact{Share: share, Of: "of the answers of runs that failed"}
	}
	return i
}

// scoresOf lists what the runs reached, failed ones marked.
func scoresOf(passed, failed []*kasoku.Recording) string {
	var out []string
	for _, r := range passed {
		out = append(out, unit.Plain(r.Run.Score.Value))
	}
	for _, r := range failed {
		out = append(out, unit.Plain(r.Run.Score.Value)+" (fail)")
	}
	return wording.List(out, 6)
}

// topError quotes the most frequent error of the runs that failed.
func topError(failed []*kasoku.Recording) (kasoku.Evidence, bool) {
	t := kasoku.NewTally()
	for _, r := range failed {
		for i := range r.Seconds {
			t.Add(&r.Seconds[i])
		}
	}
	errs := t.TopErrors()
	if len(errs) == 0 {
		return kasoku.Evidence{}, false
	}
	e := errs[0]
	return kasoku.Evidence{Source: "load", Text: strings.TrimSpace(wording.Cut(e.Message, 120)),
		Note:  "in the runs that failed",
		Value: "× " + unit.Count(e.Count), Number: float64(e.Count)}, true
}

// sameThing reports whether all runs measured the same code and settings.
func sameThing(passed, failed []*kasoku.Recording) bool {
	all := slices.Concat(passed, failed)
	return !slices.ContainsFunc(all, func(r *kasoku.Recording) bool { return len(compare.Changes(all[0], r)) > 0 })
}
