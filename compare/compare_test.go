package compare

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func ladderOf(label string, seed uint64, top shape) *kasoku.Recording {
	return build(label, seed,
		shape{perSec: 10, seconds: 10, success: 1, median: 10 * time.Millisecond, spread: 0.2},
		shape{perSec: 100, seconds: 10, success: 1, median: 9 * time.Millisecond, spread: 0.2},
		top)
}

func broken() *kasoku.Recording {
	r := ladderOf("before", 1, shape{perSec: 1000, seconds: 10, success: 0.305, median: 331 * time.Millisecond, spread: 0.4})
	r.Settings = []kasoku.Setting{
		{Scope: "mysql", Name: "version", Value: "10.11.14-MariaDB"}, {Scope: "mysql", Name: "max_connections", Value: "151"},
		{Scope: "mysql", Name: "port", Value: "33061"}, {Scope: "mysql", Name: "sync_binlog", Value: "0"},
	}
	return r
}

func fixed() *kasoku.Recording {
	r := ladderOf("after", 2, shape{perSec: 1000, seconds: 10, success: 1, median: 24 * time.Millisecond, spread: 0.7})
	r.Settings = []kasoku.Setting{
		{Scope: "mysql", Name: "version", Value: "10.11.14-MariaDB"}, {Scope: "mysql", Name: "max_connections", Value: "300"},
		{Scope: "mysql", Name: "port", Value: "33062"}, {Scope: "mysql", Name: "sync_binlog", Value: "0"},
	}
	return r
}

func TestCompareFixed(t *testing.T) {
	c, err := Compare(one(broken()), one(fixed()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.PerSec != 1000 || !c.Broke {
		t.Errorf("focus %v broke %v, want the step at 1000 that broke", c.PerSec, c.Broke)
	}
	for _, want := range []struct {
		id    string
		moved Moved
	}{{"success", Better}, {"reached", Better}, {"latency.mean", Better}, {"latency.p50", Better}, {"latency.p95", Better}, {"latency.p99", Better}, {"latency.max", NotJudged}} {
		r := c.Row(want.id)
		if r == nil {
			t.Fatalf("no row %s", want.id)
		}
		if r.Moved != want.moved {
			t.Errorf("%s moved %q, want %q: %+v", r.ID, r.Moved, want.moved, r.Change)
		}
		if r.Change.Interval && (r.Change.Low > r.Change.Value || r.Change.High < r.Change.Value) {
			t.Errorf("%s: %v lies outside of its interval %v to %v", r.ID, r.Change.Value, r.Change.Low, r.Change.High)
		}
	}
	const want = "At 1,000 req/s success 30.5 % → 100 %, p99 "
	if !strings.HasPrefix(c.Verdict, want[:len("At 1,000 req/s success ")]) || !strings.Contains(c.Verdict, "→ 100 %") {
		t.Errorf("verdict %q, want something like %q", c.Verdict, want)
	}
	if !strings.HasSuffix(c.Verdict, "One run a side: no test of significance.") {
		t.Errorf("verdict %q claims more than one run a side gives", c.Verdict)
	}
	titles := map[string]string{}
	for _, g := range c.Groups {
		titles[g.ID] = g.Title
	}
	if want := map[string]string{"focus": "At 1,000 req/s", "below": "Below the limit", "controls": "Controls, must not move"}; !reflect.DeepEqual(titles, want) {
		t.Errorf("groups %v, want %v", titles, want)
	}
}

func TestCompareWithItself(t *testing.T) {
	c, err := Compare(one(broken()), one(broken()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range c.Groups {
		for _, r := range g.Rows {
			if r.Moved == Better || r.Moved == Worse {
				t.Errorf("%s %s is called %s against itself", g.ID, r.ID, r.Moved)
			}
		}
	}
}

func TestCompareSameSeedSameIntervals(t *testing.T) {
	run := func(seed uint64) []Group {
		c, err := Compare(one(broken()), one(fixed()), Options{Seed: seed, Resamples: 200})
		if err != nil {
			t.Fatal(err)
		}
		return c.Groups
	}
	if !reflect.DeepEqual(run(5), run(5)) {
		t.Error("the same seed gave different intervals")
	}
	if reflect.DeepEqual(run(5), run(6)) {
		t.Error("two seeds gave the same intervals")
	}
}

func TestCompareMismatch(t *testing.T) {
	short := build("short", 3, shape{perSec: 10, seconds: 10, success: 1, median: time.Millisecond}, shape{perSec: 100, seconds: 10, success: 1, median: time.Millisecond})
	other := build("other", 3, shape{perSec: 10, seconds: 10, success: 1, median: time.Millisecond})
	other.Load.Targets = []string{"GET /"}
	for _, x := range []struct {
		name          string
		before, after []*kasoku.Recording
		o             Options
		message, hint string
	}{
		{"ladder", one(broken()), one(short), Options{}, "before and short differ in load: ladder 10,100,1000 and 10,100", "--step 100 compares a step that both have"},
		{"step", one(broken()), one(short), Options{Step: 1000}, `run "short" has no step at 1,000 req/s`, "its steps are 10,100 req/s"},
		{"targets", one(other), one(short), Options{}, "other and short differ in load: GET / and POST /orders", "compare runs that ask for the same targets"},
		{"count", nil, one(short), Options{}, "a side has no run", "name at least one run for before and one for after"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := Compare(x.before, x.after, x.o)
			var m *MismatchError
			if !errors.As(err, &m) {
				t.Fatalf("error %v, want a MismatchError", err)
			}
			if m.Error() != x.message || m.Hint() != x.hint {
				t.Errorf("error %q hint %q, want %q and %q", m.Error(), m.Hint(), x.message, x.hint)
			}
		})
	}
	c, err := Compare(one(broken()), one(short), Options{Step: 100})
	if err != nil || c.PerSec != 100 || c.Row("latency.p50") == nil {
		t.Errorf("one step of two ladders: %+v, %v", c, err)
	}
}

func TestCompareSettings(t *testing.T) {
	c, err := Compare(one(broken()), one(fixed()), Options{Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := []SettingChange{{Scope: "mysql", Name: "max_connections", Before: "151", After: "300"}}
	if !reflect.DeepEqual(c.Settings, want) || c.SettingsEqual != 2 {
		t.Errorf("settings %+v and %d equal, want %+v and 2", c.Settings, c.SettingsEqual, want)
	}
}

func TestCompareFindings(t *testing.T) {
	f := func(id, object string) kasoku.Finding {
		return kasoku.Finding{ID: id, Object: kasoku.Object{Kind: "table", Name: object}, Title: id + " " + object}
	}
	before := &kasoku.Diagnosis{Findings: []kasoku.Finding{f("A-1", "x"), f("A-1", "y"), f("B-1", ""), f("C-1", "")}}
	after := &kasoku.Diagnosis{
		Findings: []kasoku.Finding{f("A-1", "y"), f("D-1", "")},
		Silences: []kasoku.Silence{{ID: "B-1", Reason: "no slow log", Blind: true}, {ID: "C-1", Reason: "0.01, the threshold is 0.2"}},
	}
	var got []string
	for _, c := range Findings(before, after) {
		got = append(got, strings.TrimSpace(string(c.State)+" "+c.Title+" "+c.Why))
	}
	want := []string{"gone A-1 x", "left A-1 y", "not looked at B-1  no slow log", "gone C-1  0.01, the threshold is 0.2", "new D-1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("findings\n%q, want\n%q", got, want)
	}
	if Findings(nil, after) != nil {
		t.Error("a run that was not diagnosed has no findings that went")
	}
}

func TestCompareWarnings(t *testing.T) {
	b, a := broken(), fixed()
	a.Run.Hosts[0].BootID, a.Run.Hosts[0].Cores = "b2", 4
	a.Settings = append(a.Settings, kasoku.Setting{Scope: "mysql", Name: "sync_frm", Value: "1"})
	a.Run.State, a.Run.StopReason = kasoku.Incomplete, "interrupt"
	b.Warnings = []kasoku.Warning{{Code: "late-generator", Text: "send delay p99 40 ms"}, {Code: "one-run", Text: "no"}}
	c, err := Compare(one(b), one(a), Options{Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, w := range c.Warnings {
		codes = append(codes, w.Code)
	}
	want := []string{"one-run", "changed-together", "rebooted", "cores-differ", "late-generator", "incomplete", "not-in-note"}
	if !reflect.DeepEqual(codes, want) {
		t.Errorf("warnings %q, want %q", codes, want)
	}
}

func TestCompareCounters(t *testing.T) {
	b, a := broken(), fixed()
	for _, x := range []struct {
		r           *kasoku.Recording
		opened, cpu float64
		pid         string
	}{{b, 300, 0.6, "1204"}, {a, 1, 0.3, "77"}} {
		n := int(x.r.Run.Length / time.Second)
		x.r.Series = []kasoku.Series{
			counterSeries("mysql", opened, "", n, x.opened), counterSeries("mysql", refused, "", n, x.opened*2),
			counterSeries("process", "cpu.user", x.pid+" shopd", n, x.cpu), counterSeries("process", "cpu.system", x.pid+" shopd", n, x.cpu),
			counterSeries("process", "cpu.user", "9 kasoku", n, 0.1), counterSeries("process", "cpu.user", "10 kasoku", n, 0.4),
			counterSeries("self", "cpu.user", "", n, 0.09),
		}
	}
	c, err := Compare(one(b), one(a), Options{Resamples: 200})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		id            string
		before, after float64
	}{
		{"connections_per_request", 0.9, 0.003}, {"refused", 6000, 20}, {"cpu.shopd", 1.2, 0.6}, {"cpu.kasoku", 0.4, 0.4},
		{"cpu.kasoku itself", 0.1, 0.1}, {"observer", 0.09, 0.09},
	} {
		r := c.Row(x.id)
		if r == nil {
			t.Errorf("no row %s", x.id)
			continue
		}
		if err := within(r.Before.Value, x.before*0.99, x.before*1.01); err != nil {
			t.Errorf("%s before: %v", x.id, err)
		}
		if err := within(r.After.Value, x.after*0.99, x.after*1.01); err != nil {
			t.Errorf("%s after: %v", x.id, err)
		}
	}
	if r := c.Row("connections_per_request"); r.Moved != Better {
		t.Errorf("connections per request moved %q, want better", r.Moved)
	}
	if r := c.Row("cpu_per_success"); r.After.Value < 0.0009 || r.After.Value > 0.0011 {
		t.Errorf("CPU per success %v s, want (0.6 + 0.4) / 1000: kasoku itself does not count", r.After.Value)
	}
}

func TestCompareCommands(t *testing.T) {
	r := func(wall time.Duration) *kasoku.Recording {
		return &kasoku.Recording{Run: kasoku.Run{Label: "x", Command: &kasoku.Command{Wall: wall, User: wall / 2}}}
	}
	c, err := Compare(one(r(12*time.Second)), one(r(3*time.Second)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "The command took 12.0 → 3.00 s. One run a side: no test of significance."; c.Verdict != want {
		t.Errorf("verdict %q, want %q", c.Verdict, want)
	}
	if w := c.Row("command.wall"); w.Change.Interval || w.Change.WhyNot == "" || w.Change.Value != 0.25 {
		t.Errorf("wall %+v: one number a run has no interval", w)
	}
}

func TestSmallChangesAreUnsure(t *testing.T) {
	after := fixed()
	for i := range after.Seconds {
		after.Seconds[i] = shape{perSec: 100, success: 1, median: 9 * time.Millisecond, spread: 0.001}.second(newRand(9), after.Seconds[i].Second, after.Seconds[i].Step)
	}
	before := fixed()
	for i := range before.Seconds {
		before.Seconds[i] = shape{perSec: 100, success: 1, median: 9270 * time.Microsecond, spread: 0.001}.second(newRand(9), before.Seconds[i].Second, before.Seconds[i].Step)
	}
	c, err := Compare(one(before), one(after), Options{Resamples: 200})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Row("latency.p50")
	if r.Change.High >= 1 || r.Moved != Unsure {
		t.Errorf("3 %% faster in every second is %q with %v to %v, want unsure: two runs differ by that", r.Moved, r.Change.Low, r.Change.High)
	}
}

func TestPercentileOfFewRequestsHasNoInterval(t *testing.T) {
	c, err := Compare(one(broken()), one(fixed()), Options{Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range c.Groups {
		for _, r := range g.Rows {
			if r.ID == "latency.p99" && r.PerSec == 10 && (r.Change.Interval || r.Change.WhyNot != "fewer than 10 requests lie beyond it") {
				t.Errorf("p99 of 100 requests has an interval: %+v", r.Change)
			}
			if r.ID == "latency.p99" && r.PerSec == 100 && !r.Change.Interval {
				t.Errorf("p99 of 1,000 requests has none: %+v", r.Change)
			}
		}
	}
}

func TestVerdictNamesWhatGotWorse(t *testing.T) {
	slow := ladderOf("after", 2, shape{perSec: 1000, seconds: 10, success: 1, median: 900 * time.Millisecond, spread: 0.4})
	c, err := Compare(one(broken()), one(slow), Options{Resamples: 200})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.Verdict, " Worse: mean, p50, p95. One run a side") {
		t.Errorf("verdict %q does not name what got worse beside p99", c.Verdict)
	}
}

// TestCompareSameRun: a run that is given as both sides is said so, at the top and among
// the warnings; what is on both sides of groups is a warning.
func TestCompareSameRun(t *testing.T) {
	a := build("a", 1, shape{perSec: 20, seconds: 10, success: 1, median: 5 * time.Millisecond, spread: 0.1})
	b := build("b", 2, shape{perSec: 20, seconds: 10, success: 1, median: 5 * time.Millisecond, spread: 0.1})
	said := func(before, after []*kasoku.Recording) (verdict, warning string) {
		t.Helper()
		c, err := Compare(before, after, Options{Resamples: 50})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.Warnings {
			if w.Code == "same-run" {
				warning = w.Text
			}
		}
		return c.Verdict, warning
	}
	v, w := said([]*kasoku.Recording{a}, []*kasoku.Recording{a})
	if !strings.HasPrefix(v, "Both sides are the same run") || !strings.HasPrefix(w, `run "a" stands on both sides`) {
		t.Errorf("%q, %q", v, w)
	}
	if v, w := said([]*kasoku.Recording{a}, []*kasoku.Recording{b}); strings.Contains(v, "same run") || w != "" {
		t.Errorf("%q, %q", v, w)
	}
	if _, w := said([]*kasoku.Recording{a, b}, []*kasoku.Recording{b, a}); !strings.HasPrefix(w, `runs "a", "b" stand on both`) {
		t.Errorf("%q", w)
	}
}

// TestCompare_Spilled: where a step's answers come long after it, what was counted in its time is
// not divided by its requests: a database that kept up looked worse than one that did not.
func TestCompare_Spilled(t *testing.T) {
	slow := build("before", 1, shape{perSec: 40, seconds: 12, success: 1, median: 8 * time.Second, spread: 0.8})
	fast := build("after", 2, shape{perSec: 40, seconds: 12, success: 1, median: 20 * time.Millisecond, spread: 0.3})
	slow.Series = []kasoku.Series{counterSeries("mysql", "Questions", "", 40, 80)}
	fast.Series = []kasoku.Series{counterSeries("mysql", "Questions", "", 40, 170)}
	between := func(b, a *kasoku.Recording) *Comparison {
		t.Helper()
		c, err := Compare(one(b), one(a), Options{Resamples: 200})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := between(slow, fast)
	if r := c.Row("statements_per_success"); r != nil && (r.Moved == Worse || r.Before.OK) {
		t.Errorf("%+v", r)
	}
	again := build("again", 3, shape{perSec: 40, seconds: 12, success: 1, median: 20 * time.Millisecond, spread: 0.3})
	again.Series = fast.Series
	c = between(fast, again)
	if r := c.Row("statements_per_success"); r == nil || r.Before.Value < 4 || r.Before.Value > 4.5 {
		t.Errorf("kept up: %+v", r)
	}
}
