package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/unit"
)

// Primary returns the one row by which the sides are judged: the score; else at
// the focus step success when it broke there, p99 when it did not, the throughput
// when no rate was asked; else the throughput of the run; else the time of the
// command. It is nil when there is none of them. It is one row, chosen by what was
// measured and by whether a step broke, not by how far a row moved; so its p is
// taken as it is, while of all others together about one in twenty moves by chance.
func (c *Comparison) Primary() *Row {
	ids := []string{"score"}
	switch {
	case c.Before.Step.Number > 0 && c.PerSec == 0:
		ids = append(ids, "reached")
	case c.Before.Step.Number > 0 && c.Broke:
		ids = append(ids, "success")
	case c.Before.Step.Number > 0:
		ids = append(ids, "latency.p99", "success")
	}
	for _, id := range append(ids, "throughput", "command.wall") {
		if r := c.Row(id); r != nil && r.Before.OK && r.After.OK {
			return r
		}
	}
	return nil
}

// settle sets which way the primary row went. Where one side failed altogether, that decides. Where both
// did no row went any way: figures that are alike because nothing was done are not equal.
func (c *Comparison) settle() {
	b, a := c.Before.Failed != "", c.After.Failed != ""
	p := c.Primary()
	switch {
	case c.Incomparable() != "":
		c.eachRow(func(r *Row) { r.Moved = NotJudged })
	case a && !b:
		c.Outcome = Worse
	case b && (p == nil || p.ID != "score" && p.ID != "success"):
		c.Outcome = NotJudged // the command of a benchmark that fails at once is quick
	case p != nil:
		c.Outcome = p.Moved
	}
}

// Incomparable describes why the sides cannot be compared: all runs of both failed, or none scored
// anything. Empty where they can.
func (c *Comparison) Incomparable() string {
	b, a := c.Before.Failed, c.After.Failed
	switch s := c.Row("score"); {
	case c.sameRun():
		return ""
	case b != "" && a == b:
		return "all runs of both sides failed, " + b
	case b != "" && a != "":
		return "all runs of both sides failed, before: " + b + ", after: " + a
	case s != nil && s.Before.OK && s.After.OK && allZero(s.BeforeRuns, s.Before) && allZero(s.AfterRuns, s.After):
		return "no run of either side scored anything"
	}
	return ""
}

// allZero reports whether the figure of a side is 0 in all runs that have it.
func allZero(runs []Value, one Value) bool {
	return one.Value == 0 && !slices.ContainsFunc(runs, func(v Value) bool { return v.OK && v.Value != 0 })
}

// failedSentence begins the verdict where one side failed altogether.
func (c *Comparison) failedSentence() string {
	switch {
	case c.After.Failed != "":
		return "Every run after failed, " + c.After.Failed + ". "
	case c.Before.Failed != "":
		return "Every run before failed, " + c.Before.Failed + ". "
	}
	return ""
}

// mechanism are the ids of [Comparison.Mechanism].
var mechanism = []string{"cpu_per_success", "connections_per_request", "refused", "statements_per_success",
	"prepares_per_success", "commits_per_success", "sent_per_success", "spooled_per_success"}

// Against returns the rows of the mechanism that moved against the primary one: better
// where it got worse or shows nothing, worse where it got better. Both say
// something, so both are reported.
func (c *Comparison) Against() []Row {
	want := Better
	switch c.Outcome {
	case Better:
		want = Worse
	case Worse, Noise:
	case Unsure:
		if c.Floor == nil {
			return nil // one run: how far it may be off is unknown
		}
	default:
		return nil
	}
	var out []Row
	for _, r := range c.Mechanism() {
		if r.Moved == want && c.counts(r) {
			out = append(out, r)
		}
	}
	return out
}

// counts reports whether a row that moved did so by enough to be spoken of. With one
// run a side that is more than two runs commonly differ by; with several the least
// change: counters are so steady that a difference of a thousandth shows.
func (c *Comparison) counts(r Row) bool {
	switch {
	case c.Single():
		return r.far()
	case r.Change.Points:
		return math.Abs(r.Change.Value) >= LeastPoints
	}
	return !r.Change.OK || math.Abs(r.Change.Value-1) >= LeastChange
}

// Mechanism returns the rows that show how the work is done rather than how much
// of it gets done.
func (c *Comparison) Mechanism() []Row {
	var out []Row
	for _, id := range mechanism {
		if r := c.Row(id); r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// far reports whether a row moved by more than two runs commonly differ by; a difference of
// ratios always has.
func (r *Row) far() bool {
	return r.Change.Points || r.Change.Value >= LeastFactor || r.Change.Value <= 1/LeastFactor
}

// Tested returns how many rows were tested, and so could move by chance: those in
// which not all runs are the same.
func (c *Comparison) Tested() int {
	n := 0
	c.eachRow(func(r *Row) {
		if s := r.Samples; s != nil && r.Moved != NotJudged && min(s.Before.Least, s.After.Least) < max(s.Before.Most,
			s.After.Most) {
			n++
		}
	})
	return n
}

// label describes how sure the comparison is.
func (c *Comparison) label() string {
	floor := ""
	if c.Floor != nil && !c.Floor.Own {
		floor = fmt.Sprintf("; held against the noise of %s unchanged runs, %s", unit.Count(c.Floor.Runs),
			c.Floor.Source)
	}
	if c.Single() {
		return OneRun + floor
	}
	n, m := len(c.Before.Runs), len(c.After.Runs)
	s := Significance{Before: Sample{N: n}, After: Sample{N: m}}
	label := s.counts() + ": medians"
	switch {
	case min(n, m) == 1:
		return s.counts() + ": not judged" + floor
	case leastP(n, m) > Alpha:
		return label + fmt.Sprintf("; too few to judge, %d a side are the least", LeastRuns) + floor
	}
	return label + ", Mann-Whitney test" + floor
}

// headline begins the verdict on several runs.
func (c *Comparison) headline() string {
	n, m := len(c.Before.Runs), len(c.After.Runs)
	switch {
	case c.Outcome == Better:
		return "Better"
	case c.Outcome == Worse:
		return "Worse"
	case c.Outcome == Noise:
		return "No difference shown"
	case min(n, m) == 1:
		s := Significance{Before: Sample{N: n}, After: Sample{N: m}}
		return capital(s.counts())
	}
	return "Too few runs"
}

// sureness ends the verdict on several runs: how the primary row was judged.
func (c *Comparison) sureness() string {
	p := c.Primary()
	if p == nil || p.Samples == nil {
		return capital(c.Label) + "."
	}
	s := p.Samples
	if s.Verdict == TooFewRuns {
		return fmt.Sprintf("%s: %d runs a side are the least that can show a difference.", capital(s.counts()),
			LeastRuns)
	}
	return fmt.Sprintf("Medians of %s; %s p %s.", s.counts(), p.Name, PValue(s.P))
}

// noiseSentence says, with one run a side, whether the primary row moved by more
// than unchanged runs do.
func (c *Comparison) noiseSentence() string {
	p := c.Primary()
	if !c.Single() || p == nil || p.Spread == nil {
		return ""
	}
	where := "beyond"
	if p.Inside() {
		where = "within"
	}
	return fmt.Sprintf(" Unchanged runs (%s of %s) differ by %s in %s: this is %s it.",
		unit.Count(c.Floor.Runs), c.Floor.Source, p.Spread, p.Name, where)
}

// againstSentence describes what the mechanism did when the primary row went another
// way.
func (c *Comparison) againstSentence() string {
	rows := c.Against()
	if len(rows) == 0 {
		return ""
	}
	var said []string
	for _, r := range rows[:min(2, len(rows))] {
		said = append(said, r.Label()+" "+printPair(r))
	}
	word := "improved"
	if c.Outcome == Better {
		word = "got worse"
	}
	return " But the mechanism " + word + ": " + strings.Join(said, ", ") + "."
}

// passSentence keeps passes apart from the score, and says that a best score is no
// promise where runs of its side failed.
func (c *Comparison) passSentence() string {
	r := c.Row("passes")
	if r == nil || !r.Before.OK && !r.After.OK {
		return ""
	}
	b, a := r.Print()
	if r.Before.Value == float64(len(known(r.BeforeRuns))) && r.After.Value == float64(len(known(r.AfterRuns))) {
		return ""
	}
	return " Passes: " + b + " before, " + a + " after."
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
