package measurement

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Bundled is the rule MES-12.
type Bundled struct{}

// ID returns MES-12.
func (Bundled) ID() string { return "MES-12" }

// Doc describes the rule.
func (Bundled) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that several things were changed at once.`,
		Evidence: `between the baseline and the run, at least two of these differ: the code's revision or
			its uncommitted changes, settings, texts of the configuration, definitions of tables and indexes,
			what watched the run, the machine. A variable that the server sets by itself after another one
			does not count.`,
		Cause: `what several changes did together cannot be shared out among them; one may even have
			undone the other.`,
		Fix:    `one change a run; or take one back and run again.`,
		Silent: `without a baseline, and when at most one thing was changed.`,
	}
}

// oneChange is how near one change is to two.
const oneChange = 0.8

// mostChanges are quoted.
const mostChanges = 8

// Check lists what was changed since the baseline.
func (r Bundled) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoBaseline)
	}
	changes := compare.Changes(c.Baseline, c.Recording)
	switch len(changes) {
	case 0:
		return nil, diagnose.Quiet(r.ID(), 0, "nothing that was recorded was changed since the baseline")
	case 1:
		return nil, diagnose.Quiet(r.ID(), oneChange, "only one thing was changed since the baseline: %s", changes[0])
	}
	var names []string
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "comparison", Name: "changes"}, Severity: kasoku.Info,
		Title:      fmt.Sprintf("%s things were changed at once", unit.Count(len(changes))),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, codeKnown(c)),
		Impact:     kasoku.Impact{Of: evidence.OfRequests(c)},
		Expect:     "each change shows its own effect", Verify: "compare each run with the one before",
		Interval: c.Focus.Interval,
	}
	for i, x := range changes {
		names = append(names, x.String())
		if i < mostChanges {
			f.Evidence = append(f.Evidence, changeEvidence(x))
		}
	}
	f.Cause = fmt.Sprintf("Since the baseline %s were changed. What moved, moved by all of them together.",
		wording.List(names, mostChanges))
	f.Fixes = []kasoku.Fix{{Text: "Change one thing a run",
		Note: "Where they belong together, say so in the note: then they are one change.", Risk: kasoku.RiskNone}}
	return []kasoku.Finding{f}, nil
}

// codeKnown is the signal that the code of both runs is known.
func codeKnown(c *diagnose.Case) diagnose.Signal {
	if c.Run.Revision == "" || c.Baseline.Run.Revision == "" {
		return diagnose.Signal{Blind: "the code's revision was not recorded"}
	}
	return diagnose.Signal{Holds: true}
}

func changeEvidence(x compare.Changed) kasoku.Evidence {
	source := "config"
	if x.Kind == compare.SettingChanged {
		source = "var"
	}
	e := kasoku.Evidence{Source: source, Text: x.Name, Value: "changed", Strong: true}
	if x.Name == "" {
		e.Text = string(x.Kind)
	}
	if x.Before != "" || x.After != "" {
		e.Value = wording.Cut(wording.OrMissing(x.Before), 40) + " → " + wording.Cut(wording.OrMissing(x.After), 40)
	}
	return e
}
