package cache

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// QueryCache is the rule DBC-06.
type QueryCache struct{}

// ID returns DBC-06.
func (QueryCache) ID() string { return "DBC-06" }

// Doc describes the rule.
func (QueryCache) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that a change of the query cache was no gain.`,
		Evidence: `against the baseline nothing but variables of MariaDB's query cache changed, and at the
			same rate the success ratio did not rise by half a point nor the mean latency fall by 10 %.`,
		Cause: `whether the cache helps depends on how often the same question comes before a write to its
			table; advice to switch it off, or on, holds for other mixes.`,
		Fix: `put it back and go on by measuring.`,
		Silent: `without a baseline, when nothing of the cache changed or something else did too, when the
			run got better, or when its seconds vary too much for a verdict. MySQL has no query cache since
			8.0.`,
	}
}

// Check compares the run with its baseline.
func (r QueryCache) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoBaseline)
	}
	changed, others, known := cacheChange(c.Baseline, c.Recording)
	switch {
	case !known:
		return nil, diagnose.Blind(r.ID(),
			errors.New("the server has no query cache, or its variables were not recorded in both runs"))
	case len(changed) == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "the query cache was not changed")
	case len(others) > 0:
		return nil, diagnose.Quiet(r.ID(), 0.5, "the query cache was not all that changed: %s", wording.List(others, 3))
	}
	before, after, err := evidence.SameStep(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	e := evidence.EffectOf(before, after)
	if e.Better() || e.Unclear() {
		return nil, diagnose.Quiet(r.ID(), e.NearNone(),
			"the change made a difference, or the seconds vary too much for an answer: success %s → %s, mean %s → %s",
			unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter), unit.Duration(e.MeanBefore),
			unit.Duration(e.MeanAfter))
	}
	title := "A changed query cache shows no effect"
	if e.Worse() {
		title = "A changed query cache shows no gain; the run got worse"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "variable", Name: changed[0].Name}, Title: title, Severity: kasoku.Info,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: e.Seconds >= evidence.EnoughSeconds, Lacks: fmt.Sprintf("only %d s a run", e.Seconds)}),
		Impact: kasoku.Impact{Of: evidence.OfRequests(c)},
		Cause: fmt.Sprintf("Only the query cache was changed, and %s the success ratio went from %s to %s and the mean "+
			"latency from %s to %s.",
			c.At(), unit.Percent(e.GoodBefore), unit.Percent(e.GoodAfter), unit.Duration(e.MeanBefore),
			unit.Duration(e.MeanAfter)),
		Expect: "the same figures as before", Verify: "repeat the load with the old values and compare",
		Interval: c.Focus.Interval,
	}
	fix := kasoku.Fix{Text: "Put the query cache back", Where: "now; in the option file for the next start",
		Lang: "sql", Risk: kasoku.RiskNone, Note: "One run a side: repeat both to separate a small effect from noise."}
	for _, x := range changed {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "var", Text: x.Name,
			Value: wording.OrMissing(x.Before) + " → " + wording.OrMissing(x.After), Strong: true})
		fix.Code += "SET GLOBAL " + x.Name + " = " + x.Before + ";\n"
		fix.Edits = append(fix.Edits, kasoku.Edit{Kind: kasoku.EditVariable,
			Do: "SET GLOBAL " + x.Name + " = " + x.Before, Conf: x.Name + " = " + x.Before})
	}
	f.Evidence = append(f.Evidence,
		kasoku.Evidence{Source: "load", Text: "success", Value: unit.Percent(e.GoodBefore) + " → " +
			unit.Percent(e.GoodAfter), Number: e.Good(), Strong: true, Interval: c.Focus.Interval},
		kasoku.Evidence{Source: "load", Text: "mean latency", Note: "noise ± " + unit.Duration(2*e.MeanNoise),
			Value:  unit.Duration(e.MeanBefore) + " → " + unit.Duration(e.MeanAfter),
			Number: e.Mean().Seconds(), Strong: true, Interval: c.Focus.Interval})
	f.Fixes = []kasoku.Fix{fix}
	return []kasoku.Finding{f}, nil
}

// cacheChange returns the variables of the query cache that differ and the names of
// all else that does. known is false when a run has none of them.
func cacheChange(a, b *kasoku.Recording) (changed []evidence.SettingChange, others []string, known bool) {
	before, after := evidence.SettingsOf(a), evidence.SettingsOf(b)
	for _, s := range after.Order {
		was, had := before.Value[s]
		is := after.Value[s]
		cache := s.Scope == "mysql" && strings.HasPrefix(s.Name, "query_cache_")
		known = known || cache && had
		switch {
		case had && was == is || s.Name == "have_query_cache":
		case cache && had:
			changed = append(changed, evidence.SettingChange{Name: s.Name, Before: was, After: is})
		default:
			others = append(others, s.Name)
		}
	}
	if a.Run.Revision != b.Run.Revision {
		others = append(others, "the code's revision")
	}
	return changed, others, known
}
