package compare

import (
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// verdict is the sentence at the top. With one run a side it says what moved and
// claims nothing more.
func (c *Comparison) verdict() string {
	if c.sameRun() {
		return "Both sides are the same run: there is nothing to compare."
	}
	if why := c.Incomparable(); why != "" {
		return "Nothing can be compared: " + why + "."
	}
	return c.failedSentence() + c.judged()
}

// sameRun reports whether a run is compared with itself.
func (c *Comparison) sameRun() bool {
	b, a := c.Before.Runs, c.After.Runs
	return c.Single() && b[0].ID != "" && b[0].ID == a[0].ID
}

// judged is the verdict on sides that can be compared.
func (c *Comparison) judged() string {
	const label = "One run a side: no test of significance."
	var worse string
	if rows := c.clearlyWorse(); len(rows) > 0 {
		worse = " Worse: " + names(rows) + "."
	}
	rest := worse + c.passSentence() + c.againstSentence()
	if c.Single() {
		return c.figures() + rest + " " + label + c.noiseSentence()
	}
	figures := c.figures()
	if strings.HasPrefix(figures, "At ") || strings.HasPrefix(figures, "Score ") || strings.HasPrefix(figures, "The ") {
		figures = strings.ToLower(figures[:1]) + figures[1:]
	}
	head := c.headline() + ": "
	return head + figures + rest + " " + capital(strings.TrimPrefix(c.sureness(), head))
}

// figures prints the rows that matter most.
func (c *Comparison) figures() string {
	var parts []string
	if r := c.Row("score"); r != nil {
		parts = append(parts, "Score "+printPair(*r)+".")
	}
	success, p99 := c.Row("success"), c.Row("latency.p99")
	switch {
	case success != nil:
		where := "Under load"
		if c.PerSec > 0 {
			where = "At " + unit.PerSec(c.PerSec)
		}
		s := where + " success " + printPair(*success)
		if p99 != nil && p99.Before.OK && p99.After.OK {
			s += ", p99 " + printPair(*p99)
		}
		parts = append(parts, s+".")
	case len(parts) == 0:
		parts = append(parts, c.commandSentence())
	}
	return strings.Join(parts, " ")
}

// clearlyWorse returns the rows, controls left out, that got worse by more than the
// runs of one side would differ.
func (c *Comparison) clearlyWorse() []Row {
	var out []Row
	for _, g := range c.Groups {
		for _, r := range g.Rows {
			shown := g.ID == "focus" && (r.ID == "success" || r.ID == "latency.p99") || r.ID == "score" ||
				r.ID == "passes" // stands in the sentence before
			if g.ID != "controls" && r.Moved == Worse && c.counts(r) && !shown {
				if g.ID == "focus" {
					r.PerSec = 0 // so does its step
				}
				out = append(out, r)
			}
		}
	}
	return out
}

func (c *Comparison) commandSentence() string {
	if r := c.Row("throughput"); r != nil {
		return "Throughput " + printPair(*r) + "."
	}
	if r := c.Row("command.wall"); r != nil {
		return "The command took " + printPair(*r) + "."
	}
	return "These runs have no load to compare."
}

// printPair prints both values of a row: 30.5 % → 100 %. A pair with one unit has it
// once: 1,116 → 137 ms.
func printPair(r Row) string {
	b, a := r.Print()
	x, unitX, _ := strings.Cut(b, " ")
	if _, unitY, ok := strings.Cut(a, " "); ok && unitX == unitY && r.Unit != Ratio {
		b = x
	}
	if b == a {
		return "stays at " + a
	}
	return b + " → " + a
}

// names lists a few rows and says how many more there are.
func names(rows []Row) string {
	const most = 3
	var out []string
	for _, r := range rows[:min(most, len(rows))] {
		out = append(out, r.Label())
	}
	s := strings.Join(out, ", ")
	if n := len(rows) - most; n > 0 {
		s += " and " + unit.Count(n) + " more"
	}
	return s
}

// Label names the row apart from its group: "100/s p99", "CPU of mariadbd".
func (r Row) Label() string {
	switch {
	case strings.HasPrefix(r.ID, "cpu."):
		return "CPU of " + r.Name
	case strings.HasPrefix(r.ID, "latency.") && r.PerSec > 0:
		return unit.Plain(r.PerSec) + "/s " + r.Name
	}
	return r.Name
}

// Print returns both values with their unit, "–" for what was not measured.
func (r Row) Print() (before, after string) {
	return r.print(r.Before, r.BeforeRuns), r.print(r.After, r.AfterRuns)
}

func (r Row) print(v Value, runs []Value) string {
	if !v.OK {
		return unit.Missing
	}
	switch r.Unit {
	case Ratio:
		return unit.Percent(v.Value)
	case Seconds:
		return unit.DurationIn(seconds(v.Value), r.Scale()) + " " + unit.Name(r.Scale())
	case PerSecond:
		return unit.Sig3(v.Value) + "/s"
	case Count:
		return unit.Count(int64(v.Value + 0.5))
	case Cores:
		return unit.Sig3(v.Value) + " cores"
	case CoreShare:
		return unit.Percent(v.Value) + " of a core"
	case Bytes:
		return unit.Bytes(uint64(v.Value))
	case Score:
		return unit.Plain(v.Value)
	case OfRuns:
		return unit.Count(int64(v.Value)) + " of " + unit.Count(len(known(runs)))
	case PerPrice, PerCPU:
		return unit.Sig3(v.Value)
	}
	return unit.Sig3Fine(v.Value)
}

// Scale is the unit in which both durations of the row are printed.
func (r Row) Scale() time.Duration {
	return unit.Unit(unit.Longest([]time.Duration{seconds(r.Before.Value), seconds(r.After.Value)}))
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
