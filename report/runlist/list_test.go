package runlist

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/store"
	"pgregory.net/rapid"
)

// A quick is a finished run, n minutes after the first.
func quick(n int, label string, perSec float64) store.Info {
	at := time.Date(2026, 11, 20, 14, n, 0, 0, time.UTC)
	return store.Info{ID: kasoku.NewRunID(at, label), Label: label, Project: "p", Load: "GET /", State: kasoku.Finished, Started: at,
		Summary: &kasoku.Summary{Source: "load", PerSec: perSec}}
}

func repeated(group string, r ...store.Info) []store.Info {
	for i := range r {
		r[i].Group, r[i].Repeat = group, i+1
	}
	return r
}

func words(runs ...store.Info) []string {
	var out []string
	for _, s := range listSteps(runs) {
		out = append(out, s.name+": "+s.verdict().Text+"; "+s.againstBest().Text)
	}
	return out
}

func TestListVerdicts(t *testing.T) {
	f := func(got []string, want ...string) {
		t.Helper()
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f(words(quick(1, "b", 110), quick(0, "a", 100), quick(2, "c", 90), quick(3, "d", 99)),
		"a: first; highest", "b: +10.0 % one run; highest", "c: −18.2 % one run; the one before", "d: +10.0 % one run; −10.0 % one run")
	runs := append(repeated("g", quick(0, "a", 100), quick(1, "a", 101), quick(2, "a", 99), quick(3, "a", 102)),
		repeated("h", quick(4, "b", 120), quick(5, "b", 121), quick(6, "b", 119), quick(7, "b", 122))...)
	runs = append(runs, repeated("i", quick(8, "c", 121), quick(9, "c", 119.5), quick(10, "c", 120), quick(11, "c", 122))...)
	runs = append(runs, repeated("j", quick(12, "d", 110), quick(13, "d", 111))...)
	f(words(runs...), "a: first; highest", "b: better +19.9 %; highest", "c: no difference shown; the one before", "d: −8.3 % too few runs; −8.3 % too few runs")

	// Loads, projects, and rates against scores are different things.
	other, project, scored := quick(1, "b", 50), quick(2, "c", 50), quick(3, "d", 50)
	other.Load, project.Project, scored.Score = "POST /", "q", &kasoku.Score{Value: 9}
	f(words(quick(0, "a", 100), other, project, scored, quick(4, "e", 100)),
		"a: first; highest", "b: another command; highest", "c: first; highest", "d: first; highest", "e: 0 % one run; the one before")

	// What was not measured is not compared.
	failed, cut, running, check, empty := quick(1, "b", 1), quick(2, "c", 1), quick(3, "d", 1), quick(4, "e", 0), quick(5, "f", 0)
	failed.Score = &kasoku.Score{Value: 500, Outcome: kasoku.Failed}
	cut.State, running.State, check.Load, empty.Summary = kasoku.Incomplete, kasoku.Running, store.Checkpoint, &kasoku.Summary{}
	f(words(quick(0, "a", 100), failed, cut, running, check, empty, quick(6, "g", 100)),
		"a: first; highest", "b: failed; –", "c: incomplete; –", "d: being recorded; –", "e: checkpoint; –", "f: no figure; –", "g: 0 % one run; the one before")

	// A fast wrong answer is never the best.
	whole, part := quick(0, "a", 1), quick(1, "b", 1)
	whole.Score = &kasoku.Score{Value: 100, Requests: 1000}
	part.Score = &kasoku.Score{Value: 900, Requests: 9000, Failures: 3}
	f(words(whole, part), "a: first; highest", "b: ×9.00 one run; 3 of 9,000 failed")

	// What failed is not compared with what failed as well, nor a score of 0 with another.
	lost, gone, none, nil0 := quick(1, "b", 0), quick(2, "c", 50), quick(3, "d", 7), quick(4, "e", 7)
	lost.Summary.Requests, gone.Exit = 9, 1
	none.Score, nil0.Score = &kasoku.Score{}, &kasoku.Score{}
	f(words(quick(0, "a", 100), lost, gone), "a: first; highest", "b: nothing succeeded; –", "c: benchmark failed; –")
	f(words(none, nil0), "d: first; highest", "e: 0 as before: nothing to compare; the one before")
	if v := List([]store.Info{lost, gone}, ListOptions{}).Verdict; v != "Nothing can be compared: no run succeeded." {
		t.Errorf("verdict %q", v)
	}

	exited, one, two := empty, quick(1, "b", 0), quick(2, "b", 0)
	exited.Exit = 7
	one.Summary, two.State = nil, kasoku.Incomplete
	f(words(append(repeated("g", one, two), exited)...), "b: no figure; –", "f: benchmark failed; –")
	if c := nameCell(listSteps(repeated("g", one, two))[0]); c.Small != "×2, 1 complete" {
		t.Errorf("small %q", c.Small)
	}

	off := quick(1, "b", 130)
	off.Observers = kasoku.ObserversOff
	f(words(quick(0, "a", 100), off, quick(2, "c", 100)),
		"a: first; highest", "b: +30.0 %, observers off; highest", "c: −23.1 %, observers on; the one before")
}

// TestListNames: each name finds its run again.
func TestListNames(t *testing.T) {
	runs := append(repeated("20261120-140000-a", quick(0, "a", 1), quick(1, "a", 1)), quick(2, "b", 1), quick(3, "a", 1), quick(4, "", 1))
	var got []string
	for _, s := range listSteps(runs) {
		got = append(got, s.name)
	}
	if want := "20261120-140000-a b a 20261120-140400"; strings.Join(got, " ") != want {
		t.Errorf("names %q, want %q", got, want)
	}
}

// TestListGroup: repeats are one step, the median of those that count, the others reported.
func TestListGroup(t *testing.T) {
	runs := repeated("g", quick(0, "a", 100), quick(1, "a", 300), quick(2, "a", 110), quick(3, "a", 1))
	for i, v := range []float64{1000, 3000, 1100, 0} {
		runs[i].Score = &kasoku.Score{Value: v, Outcome: kasoku.Passed}
	}
	runs[3].Score.Outcome = kasoku.Failed
	d := List(runs, ListOptions{})
	table := d.Sections[0].Blocks[0].(*report.Table)
	got := map[string]string{}
	for i, c := range table.Columns {
		got[c.Key] = table.Rows[0].Cells[i].Text
	}
	for k, want := range map[string]string{"run": "a", "score": "1,100", "lowest": "1,000", "highest": "3,000", "passed": "3 of 4", "req_per_s": "110"} {
		if got[k] != want {
			t.Errorf("%s is %q, want %q", k, got[k], want)
		}
	}
	if len(table.Rows) != 1 || table.Rows[0].Cells[1].Small != "×4" {
		t.Errorf("rows %+v", table.Rows)
	}
}

func TestListLimit(t *testing.T) {
	runs := []store.Info{quick(0, "a", 100), quick(1, "b", 50), quick(2, "c", 60)}
	steps := ListSteps(runs, ListOptions{Limit: 2, Reverse: true})
	if len(steps) != 2 || steps[0].Runs[0].Label != "c" || steps[0].AgainstBest != "÷1.67 one run" || steps[1].Number != 2 {
		t.Errorf("%+v", steps)
	}
}

func TestSubject(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := subject(in); got != want {
			t.Errorf("%q is of %q, want %q", in, got, want)
		}
	}
	f("mysqld 1.84 of 2 cores", "mysqld")
	f("disk vda 98.0 % busy", "disk vda")
	f("php-fpm8.2 1.84 of 2 cores on web", "php-fpm8.2")
	f("pool: idle connections", "pool: idle connections")
	f("7zip 1.00 of 1 core", "7zip")
	f("", "")
}

// TestListChanges: a step says what was changed since the one that it is compared with.
func TestListChanges(t *testing.T) {
	runs := []store.Info{quick(0, "a", 100), quick(1, "b", 110)}
	runs[0].Revision, runs[1].Revision, runs[1].Dirty = "main@1", "main@2", true
	var asked []string
	o := ListOptions{Changes: func(before, after store.Info) []compare.Changed {
		asked = append(asked, before.Label+after.Label)
		out := []compare.Changed{{Kind: compare.CodeChange, Before: "x", After: "y"}, {Kind: compare.SettingChanged, Name: "max_connections", Before: "151", After: "1000"},
			{Kind: compare.SettingChanged, Name: "new", After: "1"}}
		for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
			out = append(out, compare.Changed{Kind: compare.ConfigChange, Name: "/etc/" + n})
		}
		return out
	}}
	d := List(runs, o)
	var chapters []report.Chapter
	for _, b := range d.Sections[0].Blocks {
		if tale, ok := b.(*report.Tale); ok {
			chapters = tale.List
		}
	}
	want := "Code main@1 → main@2*. Changed since a: setting max_connections 151 → 1000; setting new – → 1; configuration /etc/a; configuration /etc/b; configuration /etc/c; configuration /etc/d; 2 more. "
	if len(chapters) != 2 || !strings.Contains(chapters[1].Text, want) || strings.Join(asked, " ") != "ab" {
		t.Errorf("asked %v, reported %+v", asked, chapters)
	}
}

// TestListAny: whatever the runs, each is in one step, and nothing is printed that is
// no number.
func TestListAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []store.Info
		for n := range rapid.IntRange(0, 12).Draw(t, "runs") {
			r := quick(n, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "label"), rapid.SampledFrom([]float64{0, 1, 1e9, -1, math.NaN(), math.Inf(1)}).Draw(t, "rate"))
			r.State = rapid.SampledFrom([]kasoku.RunState{kasoku.Finished, kasoku.Running, kasoku.Incomplete}).Draw(t, "state")
			r.Group = rapid.SampledFrom([]string{"", "", "g", "h"}).Draw(t, "group")
			r.Observers = rapid.SampledFrom([]string{"", kasoku.ObserversOn, kasoku.ObserversOff}).Draw(t, "observers")
			if rapid.Bool().Draw(t, "scored") {
				r.Score = &kasoku.Score{Value: rapid.Float64().Draw(t, "score")}
			}
			if rapid.Bool().Draw(t, "unknown") {
				r.Summary = nil
			}
			runs = append(runs, r)
		}
		d := List(runs, ListOptions{Limit: rapid.IntRange(0, 3).Draw(t, "limit"), Reverse: rapid.Bool().Draw(t, "reverse")})
		seen := 0
		for i, s := range ListSteps(runs, ListOptions{}) {
			seen += len(s.Runs)
			if s.Number != i+1 {
				t.Fatalf("step %d is numbered %d", i+1, s.Number)
			}
		}
		if seen != len(runs) {
			t.Fatalf("%d runs in steps, want %d", seen, len(runs))
		}
		d.Tables(func(_ *report.Section, x *report.Table) {
			for _, r := range x.Rows {
				for i, c := range r.Cells {
					if len(r.Cells) != len(x.Columns) || strings.Contains(c.Text, "NaN") || strings.Contains(c.Text, "Inf") {
						t.Fatalf("column %s has %q", x.Columns[i].Key, c.Text)
					}
				}
			}
		})
	})
}

// TestList_Mixed: where some steps have a score and others only a rate, the rate
// stands beside the score, in front of what gives way.
func TestList_Mixed(t *testing.T) {
	f := func(want string, runs ...store.Info) {
		t.Helper()
		var got []string
		for _, c := range listTable(listSteps(runs), ListOptions{}).Columns {
			if c.Key == "score" || c.Key == "req_per_s" || c.Key == "verdict" {
				got = append(got, c.Key)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("columns %s, want %s", s, want)
		}
	}
	rated, scored := quick(0, "a", 100), quick(1, "b", 100)
	scored.Score = &kasoku.Score{Value: 5}
	f("req_per_s verdict", rated)
	f("score verdict req_per_s", scored)
	f("score req_per_s verdict", rated, scored)
}

// TestListSeries: what was run by another command, or against another target, begins a
// series of its own; its figures are not set against each other.
func TestListSeries(t *testing.T) {
	scored := func(n int, label, command string, score float64) store.Info {
		r := quick(n, label, 1)
		r.Load, r.Score = command, &kasoku.Score{Value: score}
		return r
	}
	got := words(scored(0, "a", "bench --for 3s", 100), scored(1, "b", "bench --for 6s", 225),
		scored(2, "c", "bench --for 3s", 110))
	want := []string{"a: first; highest", "b: another command; highest", "c: +10.0 % one run; highest"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestListApart: another target, rate, length or host begins a series, what a file does not
// say begins none, and the headline says what is not compared.
func TestListApart(t *testing.T) {
	ladder := func(each time.Duration, perSec ...float64) (out []kasoku.Step) {
		for _, v := range perSec {
			out = append(out, kasoku.Step{PerSec: v, Planned: each})
		}
		return out
	}
	base := func() store.Info {
		r := quick(0, "a", 100)
		r.Hosts, r.Targets, r.Entries = []string{"web1"}, []string{"GET /"}, []string{"127.0.0.1:8080"}
		r.Steps = ladder(time.Second, 100, 200)
		r.Summary.Asked = 200
		return r
	}
	for want, change := range map[string]func(*store.Info){
		"":                        func(*store.Info) {},
		compare.OtherHost:         func(r *store.Info) { r.Hosts = []string{"web2"} },
		compare.OtherRate:         func(r *store.Info) { r.Steps = ladder(time.Second, 100, 300) },
		compare.OtherLength:       func(r *store.Info) { r.Steps = ladder(2*time.Second, 100, 200) },
		compare.OtherTarget:       func(r *store.Info) { r.Targets = []string{"GET /", "GET /b"} },
		compare.OtherTarget + " ": func(r *store.Info) { r.Entries = []string{"127.0.0.1:8081"} },
		" ":                       func(r *store.Info) { r.Entries = []string{"[::1]:8080", "127.0.0.1:9"} },
		"  ":                      func(r *store.Info) { r.Entries, r.Hosts, r.Targets = nil, nil, nil }, // an older file
		"   ":                     func(r *store.Info) { r.Entries = []string{"127.0.0.1:40123"} },       // a free port
		"    ":                    func(r *store.Info) { r.Steps = ladder(time.Second, 100, 200, 400) },
	} {
		a, b := base(), base()
		b.Started, b.ID, b.Label = b.Started.Add(time.Minute), "b", "b"
		change(&b)
		steps := listSteps([]store.Info{a, b})
		want = strings.TrimSpace(want)
		if got := steps[1].other; got != want || (want == "") != (steps[1].before == steps[0]) {
			t.Errorf("want %q: %q, before %v", want, got, steps[1].before)
		}
		if v := listVerdict(steps); (want != "") != strings.Contains(v, "Not compared with one another: 2 steps ("+want+").") {
			t.Errorf("want %q: headline %q", want, v)
		}
	}
	// A ladder that ended at its last rate, which it reached, was asked for no more.
	a, b := base(), base()
	a.Summary.PerSec, b.Steps = 200, ladder(time.Second, 100, 200, 400)
	if got := loaded(b).Apart(loaded(a)); got != compare.OtherRate {
		t.Errorf("a longer ladder: %q", got)
	}
}

// TestListBase: a try is compared with the run that it was made upon, not with a try before
// it that was taken back; where that run is not in the list, with the one before.
func TestListBase(t *testing.T) {
	run := func(id, base string, minute int, score float64) store.Info {
		return store.Info{ID: id, Label: id, Base: base, Project: "shop", State: kasoku.Finished, Load: "bench",
			Started: time.Unix(int64(60*minute), 0), Length: time.Minute, Score: &kasoku.Score{Value: score, Outcome: kasoku.Passed}}
	}
	runs := []store.Info{run("start", "", 0, 1000), run("1-bad", "start", 1, 500), run("2-good", "start", 2, 1200),
		run("3-more", "2-good", 3, 1300), run("4-lost", "gone", 4, 1000)}
	steps := listSteps(runs)
	for i, want := range []string{"", "start", "start", "2-good", "3-more"} {
		got := ""
		if b := steps[i].before; b != nil {
			got = b.name
		}
		if got != want {
			t.Errorf("%s: compared with %q, want %q", steps[i].name, got, want)
		}
	}
	if v := steps[2].verdict().Text; !strings.HasPrefix(v, "+20.0 %") || !strings.HasSuffix(v, ", upon start") {
		t.Errorf("verdict %q", v)
	}
}

// TestListFailures: a run of a load with failures is never the best; of a ladder those are
// where it broke.
func TestListFailures(t *testing.T) {
	a, b, c := quick(0, "a", 100), quick(1, "b", 200), quick(2, "c", 300)
	for _, r := range []*store.Info{&a, &b, &c} {
		r.Summary.Requests, r.Summary.Succeeded, r.Steps = 1000, 1000, make([]kasoku.Step, 1)
	}
	b.Summary.Succeeded, c.Summary.Succeeded = 990, 990
	want := "a: first; highest, b: ×2.00 one run; 10 of 1,000 failed, c: ×1.50 one run; 10 of 1,000 failed"
	if got := strings.Join(words(a, b, c), ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.Steps = make([]kasoku.Step, 3)
	b.Steps, a.Steps = c.Steps, c.Steps
	want = "a: first; highest, b: ×2.00 one run; highest, c: ×1.50 one run; highest"
	if got := strings.Join(words(a, b, c), ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestListAskedRate: where both runs reach the rate that was asked for, p99 decides. A
// run that does not reach it is judged by what it reached.
func TestListAskedRate(t *testing.T) {
	at := func(n int, label string, reached float64, p99 time.Duration) store.Info {
		r := quick(n, label, reached)
		r.Summary.Asked, r.Summary.P99 = 100, p99
		return r
	}
	got := words(at(0, "a", 93, 900*time.Millisecond), at(1, "b", 100, 144*time.Millisecond),
		at(2, "c", 99.9, 1210*time.Microsecond), at(3, "d", 100, 2420*time.Microsecond))
	want := []string{"a: first; highest", "b: +7.5 % one run; highest", "c: p99 ÷119 one run; highest",
		"d: p99 ×2.00 one run; the one before"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	steps := listSteps([]store.Info{at(0, "a", 100, 144*time.Millisecond), at(1, "b", 100, 1210*time.Microsecond)})
	if s := strings.Join(steps[1].sentences(ListOptions{}), " "); !strings.Contains(s, "p99 144 ms → 1.21 ms at the rate that was asked for") {
		t.Error(s)
	}
}
