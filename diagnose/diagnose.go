package diagnose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
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
	points, warns := map[string]bool{}, map[string]bool{}
	for _, r := range rules {
		found, silent := checkRule(r, c)
		found, silent = keepShown(r.ID(), found, silent)
		stateNeighbours(c, r.Doc().Host, found)
		d.Findings = append(d.Findings, found...)
		d.Silences = append(d.Silences, silent...)
		points[r.ID()], warns[r.ID()] = r.Doc().Points, r.Doc().Warns
	}
	quoteBenchmark(c, d.Findings)
	yieldSigns(d.Findings, points)
	d.Findings = joinRemarks(d.Findings)
	settleFindings(d.Findings)
	noteShared(d.Findings)
	d.Findings = rankFindings(d.Findings, points, warns)
	nameHosts(c, d.Findings)
	slices.SortStableFunc(d.Silences, func(a, b kasoku.Silence) int {
		return cmp.Or(cmp.Compare(b.Near, a.Near), cmp.Compare(boolNumber(a.Blind), boolNumber(b.Blind)),
			cmp.Compare(a.ID, b.ID))
	})
	d.Verdict = writeVerdict(c, d)
	return d
}

// checkRule asks a rule. One that panics is silent, and says why.
func checkRule(r Rule, c *Case) (found []kasoku.Finding, silent []kasoku.Silence) {
	id := r.ID()
	if err := contain.Run(contain.Part{Kind: contain.Rule, Name: id},
		func() { found, silent = r.Check(c) }); err != nil {
		return nil, Blind(id, err)
	}
	return found, silent
}

var (
	errNoReason   = errors.New("the rule gave no reason")
	errNoEvidence = errors.New("the finding had no evidence to quote, so it is not shown")
)

// keepShown drops findings that quote nothing, and makes sure that a rule that says
// nothing gives a reason.
func keepShown(id string, found []kasoku.Finding, silent []kasoku.Silence) ([]kasoku.Finding, []kasoku.Silence) {
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

// settleFindings drops from the findings of one diagnosis the ids of findings that are not
// among them, and sets numbers that cannot be stored to 0.
func settleFindings(found []kasoku.Finding) {
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

func boolNumber(b bool) int {
	if b {
		return 1
	}
	return 0
}
