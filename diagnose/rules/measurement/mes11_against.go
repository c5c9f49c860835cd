package measurement

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// Against is the rule MES-11.
type Against struct{}

// ID returns MES-11.
func (Against) ID() string { return "MES-11" }

// Doc describes the rule.
func (Against) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that the result went one way and the mechanism the other.`,
		Evidence: `against the baseline, the figure that the runs are judged by got worse or shows no
			difference, while the work for each request got less: CPU, connections, statements, prepares, commits,
			bytes that the database sends, bodies in temporary files of nginx, or refusals; or the result got
			better while one of them got more. Repeated runs show it by their test and by 5 %, because counters are so steady that a thousandth shows; one run a side by the seconds
			of the runs and by a quarter.`,
		Cause: `a change can save work where work is not the limit, or bring load to what is; then the
			result says little of the change itself.`,
		Fix: `keep what saves work, and look at what the result is limited by now.`,
		Silent: `without a baseline, when both went the same way, and with one run a side when the result
			is unsure.`,
	}
}

// Check looks for a mechanism that moved against the result.
func (r Against) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	cmp, err := c.Compared()
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	p := cmp.Primary()
	if p == nil {
		return nil, diagnose.Blind(r.ID(), errors.New("the two sides have no figure in common to be judged by"))
	}
	rows := cmp.Against()
	if len(rows) == 0 {
		return nil, r.quiet(cmp, *p)
	}
	return []kasoku.Finding{r.finding(c, cmp, *p, rows)}, nil
}

func (r Against) quiet(cmp *compare.Comparison, p compare.Row) []kasoku.Silence {
	b, a := p.Print()
	switch cmp.Outcome {
	case compare.Better, compare.Worse, compare.Noise:
	default:
		return diagnose.Quiet(r.ID(), 0, "%s went from %s to %s, which may be noise: %s", p.Name, b, a, cmp.Label)
	}
	near, name := r.nearest(cmp)
	if name == "" {
		return diagnose.Quiet(r.ID(), 0, "%s went from %s to %s, and no figure of the mechanism went the other way",
			p.Name, b, a)
	}
	return diagnose.Quiet(r.ID(), near, "%s went from %s to %s, and of the mechanism only %s went the other way, by "+
		"too little", p.Name, b, a, name)
}

// nearest returns how near the figure of the mechanism that moved furthest against
// the result is to a change that counts.
func (r Against) nearest(cmp *compare.Comparison) (near float64, name string) {
	for _, row := range cmp.Mechanism() {
		if !row.Change.OK || row.Change.Points || row.Change.Value <= 0 {
			continue
		}
		by := math.Log(row.Change.Value)
		if cmp.Outcome != compare.Better {
			by = -by // less work is better
		}
		bar := math.Log(compare.LeastFactor)
		if !cmp.Single() {
			bar = math.Log1p(compare.LeastChange)
		}
		if x := min(by/bar, 0.99); x > near {
			b, a := row.Print()
			near, name = x, fmt.Sprintf("%s, %s → %s,", row.Label(), b, a)
		}
	}
	return near, name
}

func (r Against) finding(c *diagnose.Case, cmp *compare.Comparison, p compare.Row, rows []compare.Row) kasoku.Finding {
	better := cmp.Outcome != compare.Better // of the mechanism
	title := map[compare.Moved]string{
		compare.Worse:  " got worse, but the mechanism improved",
		compare.Noise:  " shows no difference, but the mechanism improved",
		compare.Better: " got better, but the mechanism got worse",
		compare.Unsure: " is within the noise, but the mechanism improved",
	}[cmp.Outcome]
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "comparison", Name: p.Name}, Title: wording.Capital(p.Name) + title,
		Severity: kasoku.Info,
		Impact:   kasoku.Impact{Of: evidence.OfRequests(c)}, Evidence: []kasoku.Evidence{rowEvidence(c, p)},
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: !cmp.Single(), Lacks: "one run a side"}, likeSides(c, cmp)),
		Interval: c.Focus.Interval,
	}
	var said []string
	for _, row := range rows {
		b, a := row.Print()
		f.Evidence = append(f.Evidence, rowEvidence(c, row))
		said = append(said, fmt.Sprintf("%s went from %s to %s", row.Label(), b, a))
	}
	b, a := p.Print()
	f.Cause = fmt.Sprintf("%s went from %s to %s, while %s.", wording.Capital(p.Name), b, a, strings.Join(said, " and "))
	if better {
		f.Cause += " The change saves work, and something else limits the result or got worse with it."
		f.Fixes = []kasoku.Fix{{Text: "Keep the change in mind and look for what the result is limited by now",
			Risk: kasoku.RiskNone,
			Note: "The saving shows when that limit is gone; try it again then."}}
		f.Expect, f.Verify = "the result rises once the limit is gone", "compare again after the next fix"
		return f
	}
	f.Cause += " The result came at the price of more work for each request."
	f.Fixes = []kasoku.Fix{{Text: "See whether the extra work is what was meant",
		Note: "It will be the limit at a higher load.", Risk: kasoku.RiskNone}}
	f.Expect, f.Verify = "the result stays when the work falls again", "compare again after the next fix"
	return f
}

// rowEvidence quotes a row of a comparison.
func rowEvidence(c *diagnose.Case, row compare.Row) kasoku.Evidence {
	b, a := row.Print()
	e := kasoku.Evidence{Source: "load", Text: row.Label(), Value: b + " → " + a,
		Number: row.After.Value - row.Before.Value, Strong: true, Interval: c.Focus.Interval}
	switch {
	case row.Samples != nil:
		e.Note = "p " + compare.PValue(row.Samples.P)
	case row.Spread != nil:
		e.Note = "two unchanged runs: " + row.Spread.String()
	default:
		e.Note = "one run a side"
	}
	return e
}
