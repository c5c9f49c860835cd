package measurement

import (
	"errors"
	"fmt"
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Unsettled is the rule MES-02.
type Unsettled struct{}

// ID returns MES-02.
func (Unsettled) ID() string { return "MES-02" }

// Doc describes the rule.
func (Unsettled) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that a difference may be noise.`,
		Evidence: `against a baseline, the figure that the runs are judged by shows no difference by the
			Mann-Whitney test of repeated runs, or there are too few of them; with one run a side, it moved by
			less than a quarter, or 5 points of success. Without a baseline, two of the repeated runs commonly
			differ by a fifth or more.`,
		Cause: `runs of one thing differ by themselves; a change that is smaller than that is not to be
			seen in so few of them.`,
		Fix: `as many runs a side as the spread asks for.`,
		Silent: `when repeated runs show the difference, when one run a side moved further, and without a
			baseline when fewer than 3 runs repeat or they agree.`,
	}
}

// The thresholds of [Unsettled].
const (
	// leastPoints is the least difference of success ratios of one run a side that
	// is taken as one.
	leastPoints = 0.05
	// wideSpread is the difference between two unchanged runs from which on they are
	// called unsteady: a gain of a fifth is a good day's work in a tuning contest.
	wideSpread = 0.20
)

// Check asks whether the difference to the baseline, or between the repeats, is
// more than noise.
func (r Unsettled) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return r.spread(c)
	}
	cmp, err := c.Compared()
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	p := cmp.Primary()
	switch {
	case p == nil || !p.Change.OK:
		return nil, diagnose.Blind(r.ID(), errors.New("the two sides have no figure in common to be judged by"))
	case p.Samples == nil:
		return r.single(c, cmp, *p)
	case p.Samples.Verdict.Shown():
		return nil, diagnose.Quiet(r.ID(), p.Samples.P/compare.Alpha, "%s differs: %s", p.Name, p.Samples.Why)
	}
	s := p.Samples
	f := r.finding(c, *p, "Repeated runs show no difference in "+p.Name, s.Why+".")
	if s.Verdict == compare.TooFewRuns {
		f.Title = "Too few runs to show a difference in " + p.Name
	}
	f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "load", Text: "runs", Note: "p " + compare.PValue(s.P),
		Value: fmt.Sprintf("%s against %s", unit.Count(s.Before.N), unit.Count(s.After.N)), Number: float64(s.After.N),
		Strong: true})
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true},
		diagnose.Signal{Holds: s.Verdict == compare.NotShown, Lacks: "too few runs to test"}, likeSides(c, cmp))
	f.Fixes = []kasoku.Fix{repeatFix(s.Need)}
	return []kasoku.Finding{f}, nil
}

// single judges one run a side by the size of the change alone.
func (r Unsettled) single(c *diagnose.Case, cmp *compare.Comparison, p compare.Row) ([]kasoku.Finding,
	[]kasoku.Silence) {
	size, bar := math.Abs(p.Change.Value), leastPoints
	if !p.Change.Points {
		size, bar = math.Abs(math.Log(p.Change.Value)), math.Log(compare.LeastFactor)
	}
	b, a := p.Print()
	if size >= bar || math.IsNaN(size) {
		return nil, diagnose.Quiet(r.ID(), bar/size,
			"%s went from %s to %s, by more than two runs of one thing commonly differ; one run a side all the same",
			p.Name, b, a)
	}
	f := r.finding(c, p, "One run against one cannot show a difference in "+p.Name,
		fmt.Sprintf("%s went from %s to %s. That is one run against one, and no one knows by how much two runs of the "+
			"same thing differ here.", wording.Capital(p.Name), b, a))
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Lacks: "no repeated runs"},
		likeSides(c, cmp))
	f.Fixes = []kasoku.Fix{repeatFix(compare.LeastRuns)}
	return []kasoku.Finding{f}, nil
}

// spread looks at repeated runs without a baseline.
func (r Unsettled) spread(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	runs := c.Runs()
	if len(runs) < compare.LeastUnchanged {
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("there is no baseline, and %s of this run to judge noise by",
			runsWords(len(runs))))
	}
	p, err := compare.Steadiness(runs)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	bar := wideSpread
	if p.Spread.Points {
		bar = leastPoints
	}
	if p.Spread.Half < bar {
		return nil, diagnose.Quiet(r.ID(), p.Spread.Half/bar, "%s of two of the %d runs commonly differs by %s",
			p.Name, len(runs), p.Spread)
	}
	_, median := p.Print()
	f := r.finding(c, *p, fmt.Sprintf("Repeated runs differ by %s in %s", p.Spread, p.Name),
		fmt.Sprintf("The %d runs have a median %s of %s, and two of them commonly differ by %s: a smaller change "+
			"cannot be seen from one run to the next.", len(runs), p.Name, median, p.Spread))
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: len(runs) >= evidence.EnoughSeconds,
		Lacks: fmt.Sprintf("only %d runs", len(runs))})
	f.Fixes = []kasoku.Fix{{Text: "Find what differs between the runs before tuning further",
		Note: "Data that grows, caches that are cold at first, other work on the host: start each run from the " +
			"same state.", Risk: kasoku.RiskNone}}
	return []kasoku.Finding{f}, nil
}

func (r Unsettled) finding(c *diagnose.Case, p compare.Row, title, cause string) kasoku.Finding {
	b, a := p.Print()
	e := kasoku.Evidence{Source: "load", Text: p.Name, Value: b + " → " + a, Number: p.After.Value - p.Before.Value,
		Strong: true, Interval: c.Focus.Interval}
	if p.Spread != nil {
		e.Note = "two unchanged runs: " + p.Spread.String()
	}
	if c.Baseline == nil {
		e.Value = a
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "comparison", Name: p.Name}, Title: title, Severity: kasoku.Info,
		Impact: kasoku.Impact{Of: evidence.OfRequests(c)}, Evidence: []kasoku.Evidence{e}, Cause: wording.Capital(cause),
		Expect: "with more runs the difference shows, or shows to be none", Verify: "compare the groups again",
		Interval: c.Focus.Interval,
	}
}

// likeSides is the signal that the sides differ in the change that is judged and in
// little else.
func likeSides(c *diagnose.Case, cmp *compare.Comparison) diagnose.Signal {
	return diagnose.Signal{Holds: len(cmp.Changes) <= 1, Lacks: "several things changed together"}
}

// repeatFix is the advice to make that many runs a side; 0 is unknown.
func repeatFix(need int) kasoku.Fix {
	f := kasoku.Fix{Text: "Repeat the runs until the difference shows, or let it be", Risk: kasoku.RiskNone,
		Note: "More runs would hardly change the answer: the difference is too small for this spread."}
	if need > 0 {
		f.Text = fmt.Sprintf("Make about %s runs a side", unit.Count(need))
		f.Note = "As the spread is now; a steadier start needs fewer."
	}
	return f
}

// runsWords describes how many runs there are.
func runsWords(n int) string {
	if n == 1 {
		return "no repeat"
	}
	return fmt.Sprintf("only %d runs", n)
}
