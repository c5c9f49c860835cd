package rules

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules/measurement"
	"github.com/kasoku/kasoku/diagnose/rules/operation"
)

// scored makes runs that differ in their score alone; a negative one failed.
func scored(values ...float64) []*kasoku.Recording {
	var out []*kasoku.Recording
	for i, v := range values {
		r := &kasoku.Recording{Run: kasoku.Run{ID: "r", Repeat: i + 1, Observers: kasoku.ObserversOn, Revision: "main@1",
			Length: time.Minute, Score: &kasoku.Score{Value: max(v, -v), Outcome: kasoku.Passed}}}
		if v < 0 {
			r.Run.Score.Outcome = kasoku.Failed
		}
		out = append(out, r)
	}
	return out
}

// grouped is the case of runs against others; before may be empty.
func grouped(before, after []*kasoku.Recording) *diagnose.Case {
	c := diagnose.NewCase(after[0], nil)
	c.Repeats = after[1:]
	if len(before) > 0 {
		c.Baseline, c.Baselines = before[0], before[1:]
	}
	return c
}

func watched(by string, runs []*kasoku.Recording) []*kasoku.Recording {
	for _, r := range runs {
		r.Run.Observers = by
	}
	return runs
}

// speaks checks that a rule finds something and says a part.
func speaks(t *testing.T, r diagnose.Rule, c *diagnose.Case, level kasoku.Level, parts ...string) kasoku.Finding {
	t.Helper()
	found, silent := r.Check(c)
	if len(found) != 1 {
		t.Errorf("%s silent: %+v", r.ID(), silent)
		return kasoku.Finding{}
	}
	f := found[0]
	said := f.Title + "\n" + f.Cause
	for _, e := range f.Evidence {
		said += "\n" + e.Text + " " + e.Value + " " + e.Note
	}
	for _, x := range f.Fixes {
		said += "\n" + x.Text
	}
	for _, p := range parts {
		if !strings.Contains(said, p) {
			t.Errorf("%s does not say %q:\n%s", r.ID(), p, said)
		}
	}
	if f.Confidence.Level != level {
		t.Errorf("%s: confidence %+v, want %s", r.ID(), f.Confidence, level)
	}
	return f
}

// keepsQuiet checks that a rule says nothing and why.
func keepsQuiet(t *testing.T, r diagnose.Rule, c *diagnose.Case, blind bool, part string) {
	t.Helper()
	found, silent := r.Check(c)
	if len(found) > 0 || len(silent) != 1 || silent[0].Blind != blind || !strings.Contains(silent[0].Reason, part) {
		t.Errorf("%s: %d findings, silences %+v; want blind %v and %q", r.ID(), len(found), silent, blind, part)
	}
}

func TestUnsettled(t *testing.T) {
	r := measurement.Unsettled{}
	same := scored(1000, 1010, 990, 1005, 995)
	speaks(t, r, grouped(same, scored(1001, 1012, 991, 1004, 996)), kasoku.High, "Repeated runs show no difference in score", "runs a side", "1,000 → 1,001")
	speaks(t, r, grouped(same[:3], scored(1100, 1101, 1102)), kasoku.Medium, "Too few runs", "Make about 6 runs a side")
	speaks(t, r, grouped(same[:1], scored(1100)), kasoku.Medium, "One run against one cannot show a difference in score", "Make about 4 runs a side")
	keepsQuiet(t, r, grouped(same, scored(1100, 1110, 1090, 1105, 1095)), false, "p 0.008")
	keepsQuiet(t, r, grouped(same[:1], scored(1300)), false, "one run a side all the same")
	// Without a baseline the repeats speak for themselves.
	speaks(t, r, grouped(nil, scored(1000, 1300, 800, 1150, 900)), kasoku.High, "Repeated runs differ by ±", "commonly differ by")
	keepsQuiet(t, r, grouped(nil, same), false, "commonly differs by ±")
	keepsQuiet(t, r, grouped(nil, same[:1]), true, "no repeat of this run")
	keepsQuiet(t, r, grouped(nil, []*kasoku.Recording{{}, {}, {}}), true, "no figure in common")
	keepsQuiet(t, r, grouped([]*kasoku.Recording{{}}, []*kasoku.Recording{{}}), true, "no figure in common")
}

func TestBundled(t *testing.T) {
	r := measurement.Bundled{}
	a, b := scored(1)[0], scored(1)[0]
	keepsQuiet(t, r, grouped(nil, []*kasoku.Recording{b}), true, "no baseline")
	keepsQuiet(t, r, grouped([]*kasoku.Recording{a}, []*kasoku.Recording{b}), false, "nothing that was recorded was changed")
	b.Run.Revision = "main@2"
	keepsQuiet(t, r, grouped([]*kasoku.Recording{a}, []*kasoku.Recording{b}), false, "only one thing was changed since the baseline: code")
	a.Configs = []kasoku.Config{{Kind: "schema", Name: "shop.orders", Text: "a"}}
	b.Configs = []kasoku.Config{{Kind: "schema", Name: "shop.orders", Text: "b"}}
	f := speaks(t, r, grouped([]*kasoku.Recording{a}, []*kasoku.Recording{b}), kasoku.High, "2 things were changed at once", "code, schema shop.orders", "main@1 → main@2")
	if len(f.Evidence) != 2 {
		t.Errorf("evidence %+v", f.Evidence)
	}
	a.Run.Revision = ""
	a.Settings, b.Settings = []kasoku.Setting{{Scope: "app", Name: "pool", Value: "1"}}, []kasoku.Setting{{Scope: "app", Name: "pool", Value: "2"}}
	speaks(t, r, grouped([]*kasoku.Recording{a}, []*kasoku.Recording{b}), kasoku.Medium, "1 → 2")
}

func TestRepeatable(t *testing.T) {
	r := operation.Repeatable{}
	f := speaks(t, r, grouped(nil, scored(44269, -44500, -43000)), kasoku.Medium, "The best score is not repeatable: 1 of 3 runs pass", "44,500, is what one run reached", "44,269, 44,500 (fail), 43,000 (fail)", "never fails")
	if f.Severity != kasoku.Problem || f.Impact.Share < 0.66 || f.Impact.Share > 0.67 {
		t.Errorf("%s, impact %+v", f.Severity, f.Impact)
	}
	speaks(t, r, grouped(nil, scored(1, 2, 3, 4, -5)), kasoku.High, "4 of 5 runs pass", "the best fail")
	unlike := scored(1, -2)
	unlike[1].Run.Revision = "main@2"
	speaks(t, r, grouped(nil, unlike), kasoku.Low, "1 of 2 runs pass")
	keepsQuiet(t, r, grouped(nil, scored(1, 2, 3)), false, "all 3 runs pass")
	keepsQuiet(t, r, grouped(nil, scored(-1, -2)), false, "none of 2 runs passes")
	keepsQuiet(t, r, grouped(nil, scored(1)), true, "only one run was judged")
	keepsQuiet(t, r, grouped(nil, []*kasoku.Recording{{}}), true, "no benchmark said")
}

func TestObservation(t *testing.T) {
	r := measurement.Observation{}
	off := func(by string, v ...float64) []*kasoku.Recording { return watched(by, scored(v...)) }
	on := scored(1683, 1700, 1650, 1690, 1660)
	both := func(off []*kasoku.Recording) *diagnose.Case {
		return grouped(nil, append(append([]*kasoku.Recording(nil), on...), off...))
	}
	f := speaks(t, r, both(off(kasoku.ObserversOff, 2974, 2900, 3000, 2950, 2990)), kasoku.High, "Observation costs 43.4 % of the score", "2,974 → 1,683", "5 runs against 5")
	if f.Severity != kasoku.Problem {
		t.Errorf("severity %s", f.Severity)
	}
	f = speaks(t, r, both(off("no slow log", 1829, 1830, 1840, 1820, 1825)), kasoku.High, "The slow log costs 8.0 % of the score")
	if f.Severity != kasoku.Info {
		t.Errorf("severity %s", f.Severity)
	}
	// The other state stands in the baseline; one run a side is not judged by a
	// number that has no spread.
	keepsQuiet(t, r, grouped(off(kasoku.ObserversOff, 2974), on[:1]), false, "no cost is shown by one run against one")
	speaks(t, r, grouped(off(kasoku.ObserversOff, 2974, 2900, 3000, 2950, 2990), on), kasoku.High, "Observation costs")
	keepsQuiet(t, r, both(off(kasoku.ObserversOff, 1750, 1755, 1745, 1752, 1748)), false, "the cost is under 5.0 %")
	keepsQuiet(t, r, both(off(kasoku.ObserversOff, 1684, 1700, 1651, 1688, 1660)), false, "no cost is shown by 5 runs against 5, p 0.984; two runs of one side differ by ±")
	keepsQuiet(t, r, grouped(off(kasoku.ObserversOff, 2974, 2900, 3000), on[:3]), false, "no cost is shown by 3 runs against 3, 4 a side are the least; two runs of one side differ by ±")
	// A side that scatters widely hides nothing from the test.
	speaks(t, r, both(off(kasoku.ObserversOff, 2974, 9000, 1900, 5950, 2990)), kasoku.High, "Observation costs")
	// A run without observers does not ask the database for its settings.
	asked := scored(1683, 1700, 1650, 1690, 1660)
	for _, x := range asked {
		x.Run.Observers = kasoku.ObserversOn
		x.Settings = []kasoku.Setting{{Scope: "sysctl", Name: "vm.swappiness", Value: "60"}, {Scope: "mysql", Name: "max_connections", Value: "151"}}
	}
	unasked := off(kasoku.ObserversOff, 2974, 2900, 3000, 2950, 2990)
	for _, x := range unasked {
		x.Settings = []kasoku.Setting{{Scope: "sysctl", Name: "vm.swappiness", Value: "60"}}
	}
	speaks(t, r, grouped(unasked, asked), kasoku.High, "Observation costs")
	keepsQuiet(t, r, grouped(nil, on), true, "no two runs")
	other := off(kasoku.ObserversOff, 2974, 2900, 3000, 2950)
	for _, x := range other {
		x.Run.Revision = "main@2"
	}
	keepsQuiet(t, r, both(other), true, "no two runs")
}

func TestAgainst(t *testing.T) {
	r := measurement.Against{}
	keepsQuiet(t, r, grouped(nil, scored(1)), true, "no baseline")
	keepsQuiet(t, r, grouped(scored(1000), scored(900)), false, "may be noise: one run a side")
	// The ladder's step at 1,000 a second, one run a side.
	run := func(statements float64, slow time.Duration) *build {
		return ladder().latency(3, slow, 0).counter("Questions", 10, 100, statements)
	}
	pair := func(before, after *build) *diagnose.Case { return diagnose.NewCase(after.Recording, before.Recording) }
	f := speaks(t, r, pair(run(3000, 20*time.Millisecond), run(1000, 60*time.Millisecond)), kasoku.Medium,
		"P99 got worse, but the mechanism improved", "statements per 2xx went from 0.300 to 0.100", "one run a side", "limited by now")
	if f.Severity != kasoku.Info || len(f.Evidence) != 2 {
		t.Errorf("%+v", f)
	}
	speaks(t, r, pair(run(1000, 60*time.Millisecond), run(3000, 20*time.Millisecond)), kasoku.Medium, "P99 got better, but the mechanism got worse", "extra work")
	keepsQuiet(t, r, pair(run(3000, 60*time.Millisecond), run(1000, 20*time.Millisecond)), false, "no figure of the mechanism went the other way")
	keepsQuiet(t, r, pair(run(3000, 20*time.Millisecond), run(2500, 60*time.Millisecond)), false, "only statements per 2xx, 0.300 → 0.250, went the other way")
	keepsQuiet(t, r, pair(run(3000, 20*time.Millisecond), run(1000, 20*time.Millisecond)), false, "may be noise")
}

// TestStoriesKept: steps that their authors kept though the score did not gain, four recorded runs a side:
// the work of each request got less in all of them, which is said, and without that figure nothing is.
func TestStoriesKept(t *testing.T) {
	for step, figure := range map[string]string{"isucond-icons": "Bytes_sent", "isucholar-tags": "Com_commit",
		"isucholar-streams": "temporary file", "isucond-body-buffer": "temporary file"} {
		data, err := os.ReadFile("testdata/MES-11/fires/mariadb-" + step + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, without := range []bool{false, true} {
			g, err := extract.ParseGroup(data)
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Concat([]*kasoku.Recording{g.Run, g.Baseline}, g.Repeats, g.Baselines)
			if len(all) != 8 {
				t.Fatalf("%s: %d runs", step, len(all))
			}
			for _, rec := range all {
				rec.Series = slices.DeleteFunc(rec.Series, func(s kasoku.Series) bool {
					return without && s.Key.Name == figure
				})
				rec.Messages = slices.DeleteFunc(rec.Messages, func(m kasoku.Message) bool {
					return without && strings.Contains(m.Sample, figure)
				})
			}
			found, silent := measurement.Against{}.Check(caseOf(g))
			if (len(found) == 0) != without || !without && !strings.HasPrefix(found[0].Fixes[0].Text, "Keep the change") {
				t.Errorf("%s, without %s %t: %+v %+v", step, figure, without, found, silent)
			}
		}
	}
}
