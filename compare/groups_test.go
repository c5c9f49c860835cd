package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku"
)

// group makes n runs of one step at 100/s, whose medians scatter by spread between
// the runs.
func group(label string, seed uint64, n int, median time.Duration, spread float64) []*kasoku.Recording {
	rng := newRand(seed)
	var out []*kasoku.Recording
	for i := range n {
		m := time.Duration(float64(median) * math.Exp(spread*rng.NormFloat64()))
		r := build(label, seed*100+uint64(i), shape{perSec: 200, seconds: 6, success: 1, median: m, spread: 0.2})
		r.Run.ID += fmt.Sprint(i + 1)
		r.Run.Group, r.Run.Repeat = "g-"+label, i+1
		out = append(out, r)
	}
	return out
}

func scored(runs []*kasoku.Recording, scores ...float64) []*kasoku.Recording {
	for i, s := range scores {
		runs[i].Run.Score = &kasoku.Score{Value: math.Abs(s), Outcome: kasoku.Passed}
		if s < 0 {
			runs[i].Run.Score.Outcome = kasoku.Failed
		}
	}
	return runs
}

func compared(t *testing.T, before, after []*kasoku.Recording, o Options) *Comparison {
	t.Helper()
	c, err := Compare(before, after, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompareGroups(t *testing.T) {
	c := compared(t, group("before", 1, 5, 20*time.Millisecond, 0.05), group("after", 2, 5, 10*time.Millisecond, 0.05), Options{})
	r := c.Row("latency.p99")
	if r.Moved != Better || r.Samples == nil || r.Samples.P > 0.008 || len(r.BeforeRuns) != 5 {
		t.Errorf("p99 %+v", r)
	}
	if !r.Change.Interval || r.Change.High >= 1 || r.Change.Low > r.Change.Value || r.Change.High < r.Change.Value {
		t.Errorf("interval %+v", r.Change)
	}
	if c.Outcome != Better || !strings.HasPrefix(c.Verdict, "Better: at 200 req/s success stays at 100 %, p99 ") || !strings.HasSuffix(c.Verdict, "Medians of 5 runs against 5; p99 p 0.008.") {
		t.Errorf("verdict %q", c.Verdict)
	}
	if c.Label != "5 runs against 5: medians, Mann-Whitney test" || c.Drawn.Block != 0 || c.Drawn.Resamples != 0 {
		t.Errorf("label %q, block %d", c.Label, c.Drawn.Block)
	}
	if r.Spread == nil || r.Spread.Half < 0.02 || r.Spread.Half > 0.6 || !c.Floor.Own {
		t.Errorf("spread %+v", r.Spread)
	}
	for _, w := range c.Warnings {
		t.Errorf("warning %+v", w)
	}
	if n := c.Tested(); n < 6 {
		t.Errorf("%d rows tested", n)
	}
}

func TestCompareGroupsNoDifference(t *testing.T) {
	c := compared(t, group("before", 1, 5, 20*time.Millisecond, 0.1), group("after", 2, 5, 20*time.Millisecond, 0.1), Options{})
	if c.Outcome != Noise || !strings.HasPrefix(c.Verdict, "No difference shown: ") {
		t.Errorf("%s: %q", c.Outcome, c.Verdict)
	}
	if r := c.Row("latency.p99"); !r.Inside() {
		t.Errorf("%v lies outside of the floor %v", r.Change.Value, r.Spread)
	}
}

func TestCompareTooFew(t *testing.T) {
	before, after := group("before", 1, 3, 20*time.Millisecond, 0.05), group("after", 2, 3, 10*time.Millisecond, 0.05)
	c := compared(t, before, after, Options{})
	if c.Outcome != NotJudged || !strings.HasPrefix(c.Verdict, "Too few runs: ") || !strings.HasSuffix(c.Verdict, "3 runs against 3: 4 runs a side are the least that can show a difference.") {
		t.Errorf("verdict %q", c.Verdict)
	}
	c = compared(t, before[:1], after, Options{})
	if c.Outcome != NotJudged || !strings.HasPrefix(c.Verdict, "One run against 3: ") || strings.Count(strings.ToLower(c.Verdict), "one run against 3") != 1 || !strings.HasSuffix(c.Verdict, ". 4 runs a side are the least that can show a difference.") || c.Label != "one run against 3: not judged" || c.Warnings[0].Code != "one-run" {
		t.Errorf("verdict %q, label %q, warnings %v", c.Verdict, c.Label, c.Warnings)
	}
}

// TestVerdictCountsOnce: also where there is nothing to judge by.
func TestVerdictCountsOnce(t *testing.T) {
	bare := func(n int) (out []*kasoku.Recording) {
		for range n {
			out = append(out, &kasoku.Recording{})
		}
		return out
	}
	c := compared(t, bare(3), bare(1), Options{})
	if want := "3 runs against one: These runs have no load to compare. Not judged."; c.Verdict != want {
		t.Errorf("verdict %q, want %q", c.Verdict, want)
	}
}

// TestCompareFloor: one run a side is held against the noise of unchanged runs.
func TestCompareFloor(t *testing.T) {
	unchanged := group("base", 3, 5, 20*time.Millisecond, 0.1)
	before, slow := group("before", 1, 1, 20*time.Millisecond, 0), group("after", 2, 1, 22*time.Millisecond, 0)
	alone := compared(t, before, slow, Options{})
	if alone.Outcome != Worse {
		t.Fatalf("the seconds alone say %q, want worse: the test shows nothing", alone.Outcome)
	}
	c := compared(t, before, slow, Options{Unchanged: unchanged})
	if c.Outcome != Unsure || !strings.HasPrefix(c.Label, OneRun+"; held against the noise of 5 unchanged runs, group base") {
		t.Errorf("%q, label %q", c.Outcome, c.Label)
	}
	if !strings.Contains(c.Verdict, "One run a side: no test of significance. Unchanged runs (5 of group base) differ by ±") || !strings.HasSuffix(c.Verdict, "in p99: this is within it.") {
		t.Errorf("verdict %q", c.Verdict)
	}
	far := compared(t, before, group("after", 2, 1, 60*time.Millisecond, 0), Options{Unchanged: unchanged})
	if far.Outcome != Worse || !strings.HasSuffix(far.Verdict, "this is beyond it.") {
		t.Errorf("%q, verdict %q", far.Outcome, far.Verdict)
	}
	other := build("other", 9, shape{perSec: 100, seconds: 6, success: 1, median: time.Millisecond})
	other.Load.Targets = []string{"GET /"}
	if c := compared(t, before, slow, Options{Unchanged: []*kasoku.Recording{other, other, other}}); c.Floor != nil {
		t.Error("runs of another load gave the floor")
	}
}

func TestCompareScores(t *testing.T) {
	before := scored(group("before", 1, 5, 20*time.Millisecond, 0.05), 1000, 1010, 990, 1005, 995)
	after := scored(group("after", 2, 5, 20*time.Millisecond, 0.05), 1200, -1400, -1390, -1380, 1210)
	c := compared(t, before, after, Options{})
	score, best, passes := c.Row("score"), c.Row("score_best"), c.Row("passes")
	if score.After.Value != 0 || best.After.Value != 1210 || best.Moved != NotJudged || best.Change.WhyNot != bestIsLuck {
		t.Errorf("a failed run counts as nothing: score %+v best %+v", score.After, best)
	}
	if b, a := passes.Print(); b != "5 of 5" || a != "2 of 5" {
		t.Errorf("passes %s → %s", b, a)
	}
	if c.Primary().ID != "score" || !strings.Contains(c.Verdict, "score 1,000 → 0.") || !strings.Contains(c.Verdict, "Passes: 5 of 5 before, 2 of 5 after.") || strings.Contains(c.Verdict, "1,210") {
		t.Errorf("verdict %q", c.Verdict)
	}
}

// TestCompareAgainst: the score fell and the work got cheaper; both are reported.
func TestCompareAgainst(t *testing.T) {
	before := scored(group("before", 1, 5, 20*time.Millisecond, 0.05), 1000, 1010, 990, 1005, 995)
	after := scored(group("after", 2, 5, 20*time.Millisecond, 0.05), 900, 910, 890, 905, 895)
	for i := range 5 {
		n := int(before[i].Run.Length / time.Second)
		before[i].Series = []kasoku.Series{counterSeries("mysql", questions, "", n, 300+float64(i))}
		after[i].Series = []kasoku.Series{counterSeries("mysql", questions, "", n, 100+float64(i))}
	}
	c := compared(t, before, after, Options{})
	if c.Outcome != Worse || len(c.Against()) != 1 || !strings.Contains(c.Verdict, " But the mechanism improved: statements per 2xx 1.51 → 0.510.") {
		t.Errorf("%q against %v: %q", c.Outcome, c.Against(), c.Verdict)
	}
	c = compared(t, after, before, Options{})
	if !strings.Contains(c.Verdict, " But the mechanism got worse: statements per 2xx") {
		t.Errorf("%q", c.Verdict)
	}
}

// TestUnrecordedSettings: a side that did not ask the database has not changed it.
func TestUnrecordedSettings(t *testing.T) {
	with := func(label string, seed uint64, scopes ...string) []*kasoku.Recording {
		runs := group(label, seed, 1, 20*time.Millisecond, 0)
		for _, s := range scopes {
			runs[0].Settings = append(runs[0].Settings, kasoku.Setting{Scope: s, Name: s + ".a", Value: label}, kasoku.Setting{Scope: s, Name: s + ".b", Value: label})
		}
		return runs
	}
	for _, x := range []struct {
		before, after []string
		changes       int
		want          []string
	}{
		{[]string{"sysctl"}, []string{"sysctl", "mysql"}, 2, []string{"the settings of mysql were not recorded before"}},
		{[]string{"limits", "sysctl", "mysql"}, []string{"sysctl"}, 2, []string{"the settings of limits and mysql were not recorded after"}},
		{[]string{"app"}, []string{"mysql"}, 0, []string{"the settings of mysql were not recorded before", "the settings of app were not recorded after"}},
		{nil, []string{"mysql", "clock"}, 0, []string{"the settings of mysql were not recorded before"}},
		{[]string{"mysql"}, []string{"mysql"}, 2, nil},
		{[]string{"mysql", "answers", "agents"}, []string{"mysql", "answers", "again", "variants"}, 2, nil}, // what was found is no choice
		{nil, nil, 0, nil},
	} {
		c := compared(t, with("before", 1, x.before...), with("after", 2, x.after...), Options{})
		var got []string
		for _, w := range c.Warnings {
			if w.Code == "settings-not-recorded" {
				got = append(got, w.Text)
			}
		}
		if !slices.Equal(got, x.want) || len(c.Settings) != x.changes || len(c.Changes) != x.changes {
			t.Errorf("%v against %v: %q, settings %v, changes %v", x.before, x.after, got, c.Settings, c.Changes)
		}
	}
}

func TestComparePrices(t *testing.T) {
	price := func(runs []*kasoku.Recording, perHour float64, currency string) []*kasoku.Recording {
		for _, r := range runs {
			r.Run.Price = kasoku.Price{PerHour: perHour, Currency: currency}
			r.Summary = &kasoku.Summary{Requests: 600, Succeeded: 600, PerSec: 100, CPU: 3 * time.Second, LoadTime: 6 * time.Second}
		}
		return runs
	}
	before := price(scored(group("before", 1, 1, time.Millisecond, 0), 960), 0.096, "USD")
	after := price(scored(group("after", 2, 1, time.Millisecond, 0), 912), 0.0768, "USD")
	c := compared(t, before, after, Options{})
	for id, want := range map[string][2]float64{
		"score_per_price": {10000, 11875}, "success_per_price": {3750000, 4687500}, "success_per_cpu": {200, 200}, "score_per_cpu": {320, 304}, "throughput": {100, 100},
	} {
		r := c.Row(id)
		if r == nil || math.Abs(r.Before.Value-want[0]) > 1e-6*want[0] || math.Abs(r.After.Value-want[1]) > 1e-6*want[1] {
			t.Errorf("%s: %+v, want %v", id, r, want)
		}
	}
	if r := c.Row("score_per_price"); r.Name != "score per USD an hour" {
		t.Errorf("name %q", r.Name)
	}
	after[0].Run.Price.Currency = "JPY"
	if c := compared(t, before, after, Options{}); c.Row("score_per_price") != nil {
		t.Error("prices of two currencies were compared")
	}
}

func TestUnlikeRuns(t *testing.T) {
	before := group("before", 1, 4, 20*time.Millisecond, 0.05)
	before[2].Run.Revision, before[0].Run.Revision = "main@2", "main@1"
	c := compared(t, before, group("after", 2, 4, 20*time.Millisecond, 0.05), Options{})
	if i := slices.IndexFunc(c.Warnings, func(w kasoku.Warning) bool { return w.Code == "unlike-runs" }); i < 0 ||
		c.Warnings[i].Text != "before and before stand on one side and differ: code" {
		t.Errorf("%+v", c.Warnings)
	}
}

func TestShiftRank(t *testing.T) {
	// The published critical values of U, plus one.
	for _, x := range []struct{ n, m, k int }{{3, 3, 0}, {3, 5, 1}, {4, 4, 1}, {5, 5, 3}, {6, 4, 3}, {10, 10, 24}, {20, 20, 128}, {21, 21, 142}} {
		if k := shiftRank(x.n, x.m); k != x.k {
			t.Errorf("%d against %d: %d, want %d", x.n, x.m, k, x.k)
		}
	}
}

// TestShiftAgreesWithTest: without ties the interval leaves out no change when the
// test shows one, and only then.
func TestShiftAgreesWithTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(2, 12).Draw(t, "n"), rapid.IntRange(2, 12).Draw(t, "m")
		seen := map[float64]bool{}
		draw := func(n int) []Value {
			var out []Value
			for len(out) < n {
				v := rapid.Float64Range(1, 100).Draw(t, "value")
				if !seen[v] {
					seen[v] = true
					out = append(out, Value{v, true})
				}
			}
			return out
		}
		r := Row{Goal: More}
		r.put(draw(n), draw(m), true)
		shown := r.Samples.Verdict.Shown()
		if out := r.Change.Judged && (r.Change.DiffLow > 0 || r.Change.DiffHigh < 0); out != shown {
			t.Fatalf("interval %v to %v, verdict %q, p %v", r.Change.DiffLow, r.Change.DiffHigh, r.Samples.Verdict, r.Samples.P)
		}
	})
}

// TestSpread: two unchanged runs differ by less than the spread in about 19 of 20
// cases, in 17 of 20 when it is guessed from three.
func TestSpread(t *testing.T) {
	rng := newRand(5)
	draw := func() float64 { return 1000 * math.Exp(0.05*rng.NormFloat64()) }
	for _, n := range []int{3, 4, 5, 8, 20} {
		inside := 0
		const rounds = 4000
		for range rounds {
			values := make([]Value, n)
			for i := range values {
				values[i] = Value{draw(), true}
			}
			if spreadOf(values, false).Holds(Change{OK: true, Value: draw() / draw()}) {
				inside++
			}
		}
		if share := float64(inside) / rounds; share < 0.84 || share > 0.985 {
			t.Errorf("of %d runs: %.1f %% of pairs inside", n, 100*share)
		}
	}
	if s := spreadOf([]Value{{1, true}, {2, true}}, false); s != nil {
		t.Error("two runs have a spread")
	}
	same := []Value{{1, true}, {1, true}, {1, true}}
	if s := spreadOf(same, true); s.Half != 0 || !s.Holds(Change{OK: true, Points: true}) {
		t.Errorf("equal runs: %+v", s)
	}
	if s := spreadOf(append(same, Value{0.9, true}), true); s.Half <= 0 {
		t.Error("one of four differs, and the spread is nothing")
	}
}

// leaveOut gives a run a load of one step of 10 s, a part of which was traced.
func leaveOut(r *kasoku.Recording, from, to time.Duration) {
	r.Steps = []kasoku.Step{{Number: 1, Interval: kasoku.Interval{To: 10 * time.Second}}}
	r.Seconds = []kasoku.LoadSecond{{Step: 1}}
	r.Traces = []kasoku.Trace{{Interval: kasoku.Interval{From: from, To: to}}}
}

func TestChanges(t *testing.T) {
	run := func(change func(*kasoku.Recording)) *kasoku.Recording {
		r := &kasoku.Recording{Run: kasoku.Run{Revision: "main@1", Observers: kasoku.ObserversOn}}
		r.Settings = []kasoku.Setting{{Scope: "mysql", Name: "max_connections", Value: "151"}, {Scope: "mysql", Name: "back_log", Value: "80"}, {Scope: "mysql", Name: "sync_binlog", Value: "1"}}
		r.Configs = []kasoku.Config{{Kind: "nginx", Name: "/etc/nginx/nginx.conf", Text: "a"}, {Kind: "mysql", Name: "/etc/my.cnf", Text: "a"}, {Kind: "schema", Name: "shop.users", Text: "a"}}
		change(r)
		return r
	}
	for _, x := range []struct {
		name string
		f    func(*kasoku.Recording)
		want string
	}{
		{"nothing", func(*kasoku.Recording) {}, ""},
		{"code", func(r *kasoku.Recording) { r.Run.Revision = "main@2" }, "code"},
		{"unknown code", func(r *kasoku.Recording) { r.Run.Revision = "" }, ""},
		{"work tree", func(r *kasoku.Recording) {
			r.Run.Dirty = true
			r.Configs = append(r.Configs, kasoku.Config{Kind: "git", Name: "diff", Text: "+x"})
		}, "code work tree"},
		{"dirty, diff not kept", func(r *kasoku.Recording) { r.Run.Dirty = true }, ""},
		{"setting with a follower", func(r *kasoku.Recording) { r.Settings[0].Value, r.Settings[1].Value = "300", "150" }, "setting max_connections"},
		{"follower alone", func(r *kasoku.Recording) { r.Settings[1].Value = "150" }, "setting back_log"},
		{"scope not recorded", func(r *kasoku.Recording) {
			r.Settings = []kasoku.Setting{{Scope: "sysctl", Name: "vm.swappiness", Value: "60"}}
		}, ""},
		{"one of a scope gone", func(r *kasoku.Recording) { r.Settings = r.Settings[:2] }, "setting sync_binlog"},
		{"unit failed", func(r *kasoku.Recording) {
			r.Settings = append(r.Settings, kasoku.Setting{Scope: "unit", Name: "userapi", Value: "failed"})
		}, "setting userapi"},
		{"file of a scope not recorded", func(r *kasoku.Recording) {
			r.Settings, r.Configs[1].Text = []kasoku.Setting{{Scope: "sysctl", Name: "vm.swappiness", Value: "60"}}, "b"
		}, "configuration /etc/my.cnf"},
		{"file and its setting", func(r *kasoku.Recording) { r.Settings[2].Value, r.Configs[1].Text = "0", "b" }, "setting sync_binlog"},
		{"file alone", func(r *kasoku.Recording) { r.Configs[1].Text = "b" }, "configuration /etc/my.cnf"},
		{"index", func(r *kasoku.Recording) { r.Configs[2].Text = "b" }, "schema shop.users"},
		{"kind not captured", func(r *kasoku.Recording) { r.Configs = r.Configs[1:] }, ""},
		{"two", func(r *kasoku.Recording) { r.Run.Revision, r.Configs[0].Text = "main@2", "b" }, "code, configuration /etc/nginx/nginx.conf"},
		{"observers", func(r *kasoku.Recording) { r.Run.Observers = kasoku.ObserversOff }, "observation"},
		{"traced", func(r *kasoku.Recording) { r.Traces = []kasoku.Trace{{}} }, "observation"},
		{"traced and left out", func(r *kasoku.Recording) { leaveOut(r, 6*time.Second, 10*time.Second) }, ""},
		{"traced and in the step", func(r *kasoku.Recording) { leaveOut(r, 2*time.Second, 10*time.Second) }, "observation"},
		{"trace refused", func(r *kasoku.Recording) { r.Traces = []kasoku.Trace{{Refused: "no rights"}} }, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			var got []string
			for _, c := range Changes(run(func(*kasoku.Recording) {}), run(x.f)) {
				got = append(got, c.String())
			}
			if s := strings.Join(got, ", "); s != x.want {
				t.Errorf("%q, want %q", s, x.want)
			}
		})
	}
}
