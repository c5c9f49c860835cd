package diagnose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/kasoku/kasoku"
)

// Diagnose asks every rule and returns what they say: findings in the order in
// which to fix them, silences with the nearest to its threshold first, and the
// verdict.
func Diagnose(c *Case, rules []Rule) *kasoku.Diagnosis {
	if c == nil {
		c = NewCase(nil, nil)
	}
	if c.Recording == nil || c.Focus.Why == "" {
		whole := NewCase(c.Recording, c.Baseline)
		whole.Repeats, whole.Baselines = c.Repeats, c.Baselines
		c = whole
	}
	d := &kasoku.Diagnosis{Rules: len(rules)}
	for _, r := range rules {
		found, silent := r.Check(c)
		found, silent = shown(r.ID(), found, silent)
		d.Findings = append(d.Findings, found...)
		d.Silences = append(d.Silences, silent...)
	}
	settle(d.Findings)
	d.Findings = ranked(d.Findings)
	slices.SortStableFunc(d.Silences, func(a, b kasoku.Silence) int {
		return cmp.Or(cmp.Compare(b.Near, a.Near), cmp.Compare(number(a.Blind), number(b.Blind)), cmp.Compare(a.ID, b.ID))
	})
	d.Verdict = verdict(c, d)
	return d
}

var (
	errNoReason   = errors.New("the rule gave no reason")
	errNoEvidence = errors.New("the finding had no evidence to quote, so it is not shown")
)

// shown drops findings that quote nothing, and makes sure that a rule that says
// nothing gives a reason.
func shown(id string, found []kasoku.Finding, silent []kasoku.Silence) ([]kasoku.Finding, []kasoku.Silence) {
	n := len(found)
	found = slices.DeleteFunc(slices.Clone(found), func(f kasoku.Finding) bool { return len(f.Evidence) == 0 })
	switch {
	case len(found) < n:
		silent = append(silent, Blind(id, errNoEvidence)...)
	case n == 0 && len(silent) == 0:
		silent = Blind(id, errNoReason)
	}
	silent = slices.Clone(silent)
	for i := range silent {
		silent[i].Near = unitInterval(silent[i].Near)
	}
	return found, silent
}

// settle makes the findings of one diagnosis fit each other: they name only
// those that are there, and hold only numbers that can be stored.
func settle(found []kasoku.Finding) {
	there := map[string]bool{}
	for i := range found {
		there[found[i].ID] = true
	}
	for i := range found {
		f := &found[i]
		absent := func(id string) bool { return !there[id] || id == f.ID }
		f.Explains = slices.DeleteFunc(slices.Clone(f.Explains), absent)
		f.Impact.Shared = slices.DeleteFunc(slices.Clone(f.Impact.Shared), absent)
		f.Impact.Share = unitInterval(f.Impact.Share)
		f.Evidence = slices.Clone(f.Evidence)
		for k := range f.Evidence {
			if n := f.Evidence[k].Number; math.IsNaN(n) || math.IsInf(n, 0) {
				f.Evidence[k].Number = 0
			}
		}
	}
}

// ranked puts findings into the order in which to fix them: what explains
// another comes before it, remarks come last, and otherwise the order is that
// of before.
func ranked(found []kasoku.Finding) []kasoku.Finding {
	rest := slices.Clone(found)
	slices.SortStableFunc(rest, before)
	var out []kasoku.Finding
	for len(rest) > 0 {
		next := 0 // two that explain each other: the first by before
		for i := range rest {
			if !slices.ContainsFunc(rest, func(o kasoku.Finding) bool { return explains(o, rest[i]) }) {
				next = i
				break
			}
		}
		out = append(out, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	return out
}

// explains reports whether fixing o makes f go. A remark explains nothing that
// costs something, so that remarks stay last.
func explains(o, f kasoku.Finding) bool {
	if o.Severity == kasoku.Info && f.Severity != kasoku.Info {
		return false
	}
	return o.ID != f.ID && slices.Contains(o.Explains, f.ID)
}

// before orders findings that do not explain each other: remarks last, then
// fixes that change what a crash or an answer means, then estimates, then the
// smaller share, then by id and object so that the order is always the same.
func before(a, b kasoku.Finding) int {
	return cmp.Or(
		cmp.Compare(number(a.Severity == kasoku.Info), number(b.Severity == kasoku.Info)),
		cmp.Compare(number(grave(a)), number(grave(b))),
		cmp.Compare(number(a.Impact.Estimate), number(b.Impact.Estimate)),
		cmp.Compare(b.Impact.Share, a.Impact.Share),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Object.String(), b.Object.String()),
	)
}

func grave(f kasoku.Finding) bool {
	r := f.Risk()
	return r == kasoku.RiskDurability || r == kasoku.RiskSemantics
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
