package measurement

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// Observation is the rule MES-01.
type Observation struct{}

// ID returns MES-01.
func (Observation) ID() string { return "MES-01" }

// Doc describes the rule.
func (Observation) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says what it costs to watch.`,
		Evidence: `runs of one thing differ only in what watched them: the group has runs with fewer
			observers, or the baseline has. With observers the score, the throughput or the median latency is
			worse by 5 % or more, as repeated runs show by their test; with one run a side, by a quarter or
			more.`,
		Cause: `the server writes a line for each statement, programs are sampled, and both take CPU and
			disk from the work; on a busy host that is the last bit that was left.`,
		Fix:    `watch with less, or take the last run, the one that counts, without.`,
		Silent: `when all runs were watched alike, and when the cost is less or not shown.`,
	}
}

const (
	// leastCost is the least cost that is worth a word: less is hard to distinguish from
	// the noise of a few runs.
	leastCost = 0.05
	// greatCost is the cost from which on figures of watched runs mislead.
	greatCost = 0.10
)

// Check compares runs with and without observers.
func (r Observation) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	off, on := r.sides(c)
	if len(off) == 0 || len(on) == 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("no two runs of the same thing differ in what watched them"))
	}
	cmp, err := compare.Compare(off, on, compare.Options{})
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	row := watchedRow(cmp)
	if row == nil || !row.Change.OK || row.Change.Points || row.Change.Value <= 0 {
		return nil, diagnose.Blind(r.ID(), errors.New("the runs have no figure in common by which a cost would show"))
	}
	cost := row.Change.Value - 1
	if row.Goal == compare.More {
		cost = 1 - row.Change.Value
	}
	b, a := row.Print()
	figures := fmt.Sprintf("%s is %s without %s and %s with", row.Name, b, watcherOf(off, on), a)
	bar := leastCost
	if cmp.Single() {
		bar = compare.LeastFactor - 1
	}
	switch {
	case row.Moved != compare.Worse:
		return nil, diagnose.Quiet(r.ID(), min(max(cost, 0)/bar, 0.5), "%s: no cost is shown by %s%s", figures,
			runsOf(off, on), whyNot(row))
	case cost < bar:
		return nil, diagnose.Quiet(r.ID(), cost/bar, "%s: the cost is under %s", figures, unit.Percent(bar))
	}
	return []kasoku.Finding{r.finding(c, cmp, *row, cost, off, on)}, nil
}

// whyNot describes what repeated runs lack to show a cost: the test decides where it can,
// and the spread between runs of one side only says why it may not.
func whyNot(row *compare.Row) string {
	s := row.Samples
	if s == nil {
		return ""
	}
	why := ""
	switch s.Verdict {
	case compare.NotShown:
		why = ", p " + compare.PValue(s.P)
	case compare.TooFewRuns:
		why = fmt.Sprintf(", %d a side are the least", compare.LeastRuns)
	default:
		return ""
	}
	if row.Spread != nil {
		why += "; two runs of one side differ by " + row.Spread.String()
	}
	return why
}

// sides parts the runs of the case and of its baseline into those with fewer
// observers and those with all that were used. Runs of something else than the
// case are left out.
func (Observation) sides(c *diagnose.Case) (off, on []*kasoku.Recording) {
	all := append([]*kasoku.Recording{c.Recording}, c.Repeats...)
	if c.Baseline != nil {
		all = append(append(all, c.Baseline), c.Baselines...)
	}
	fewer := ""
	for _, run := range all {
		for _, x := range compare.Changes(c.Recording, run) {
			if x.Kind != compare.ObserverChange {
				run = nil
				break
			}
		}
		switch {
		case run == nil || run.Run.Observers == "":
		case run.Run.Observers == kasoku.ObserversOn:
			on = append(on, run)
		case fewer == "" || fewer == run.Run.Observers:
			fewer = run.Run.Observers
			off = append(off, run)
		}
	}
	return off, on
}

// watchedRow is the row by which a cost shows: the score, the throughput when no
// rate was asked, else the median latency. The tail is too unsteady for costs of
// some percent.
func watchedRow(c *compare.Comparison) *compare.Row {
	for _, id := range []string{"score", "latency.p50", "throughput", "command.wall"} {
		if id == "latency.p50" && c.PerSec == 0 {
			id = "reached"
		}
		if r := c.Row(id); r != nil && r.Before.OK && r.After.OK {
			return r
		}
	}
	return nil
}

func (r Observation) finding(c *diagnose.Case, cmp *compare.Comparison, row compare.Row, cost float64, off,
	on []*kasoku.Recording) kasoku.Finding {
	what := watcherOf(off, on)
	b, a := row.Print()
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "observation", Name: what}, Severity: kasoku.Info,
		Title: fmt.Sprintf("%s costs %s of the %s", wording.Capital(what), unit.Percent(cost), nameOf(row)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: !cmp.Single(), Lacks: "one run a side"},
			diagnose.Signal{Holds: row.Samples != nil && row.Samples.Verdict == compare.IsWorse,
				Lacks: "no test of significance"}),
		Impact:   kasoku.Impact{Share: cost, Of: "of the " + nameOf(row)},
		Evidence: []kasoku.Evidence{rowEvidence(c, row)},
		Cause: fmt.Sprintf("Runs of the same thing differ only in %s. Without it %s is %s, with it %s (%s).", what,
			row.Name, b, a, runsOf(off, on)),
		Expect: fmt.Sprintf("%s near %s", row.Name, b), Verify: "run it once more with `kasoku run --observers-off`",
		Fixes: []kasoku.Fix{{Text: "Take the run that counts without " + what, Where: "kasoku run --observers-off",
			Note: "Keep it on while looking for causes: what it shows is worth more than what it costs.",
			Risk: kasoku.RiskNone}},
		Interval: c.Focus.Interval,
	}
	if cost >= greatCost {
		f.Severity = kasoku.Problem
	}
	for _, id := range []string{"latency.p99", "cpu_per_success"} {
		if x := cmp.Row(id); x != nil && x.Before.OK && x.After.OK {
			e := rowEvidence(c, *x)
			e.Strong = false
			f.Evidence = append(f.Evidence, e)
		}
	}
	return f
}

// nameOf is what the row is called in a title.
func nameOf(row compare.Row) string {
	if strings.HasPrefix(row.ID, "latency.") {
		return row.Name + " latency"
	}
	return row.Name
}

// watcherOf names what the runs differ in: "the slow log" when only that was left
// out, else "observation".
func watcherOf(off, _ []*kasoku.Recording) string {
	if what, ok := strings.CutPrefix(off[0].Run.Observers, "no "); ok {
		return "the " + what
	}
	return "observation"
}

// runsOf describes how many runs stand against how many.
func runsOf(off, on []*kasoku.Recording) string {
	if len(off) == 1 && len(on) == 1 {
		return "one run against one"
	}
	return fmt.Sprintf("%d runs against %d", len(off), len(on))
}
