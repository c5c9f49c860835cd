//go:build extract

package rules

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A recordedGroup is runs of one thing, or of two in turn, that are made for the
// rules which compare runs.
type recordedGroup struct {
	name   string
	n      int                     // runs of each
	m      measuredCase            // the first thing
	then   *measuredCase           // the second, made in turn with it
	finish func(*kasoku.Recording) // completes a run: its score
	keep   []keptGroup
}

// A keptGroup is one case made of a group.
type keptGroup struct {
	as   string // "MES-02/fires MES-12/silent"
	of   func(first, second []*kasoku.Recording) extract.Group
	name string // of the case, when it is not the group's
	want string // that a finding must say
}

// TestRecordGroups makes the groups of runs that testdata keeps, on both servers:
//
//	go test -tags extract ./diagnose/rules -run TestRecordGroups -timeout 40m
//
// With -args -only traded,watched only those.
func TestRecordGroups(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		for _, g := range groups() {
			if *only == "" || named(g.name) {
				t.Run(g.name, func(t *testing.T) { g.record(t, s) })
			}
		}
	})
}

func (g recordedGroup) record(t *testing.T, s *sandbox.Server) {
	sides := [2][]*kasoku.Recording{}
	for i := range g.n {
		for k, m := range []*measuredCase{&g.m, g.then} {
			if m == nil {
				continue
			}
			rec := measure(t, s, *m)
			rec.Run.Group, rec.Run.Repeat = fmt.Sprintf("%s-%d", g.name, k+1), i+1
			rec.Run.Observers = kasoku.ObserversOn
			if !m.slowLog {
				rec.Run.Observers = "no slow log"
			}
			if g.finish != nil {
				g.finish(rec)
			}
			sides[k] = append(sides[k], rec)
		}
	}
	for _, k := range g.keep {
		g.keepCase(t, s, k, k.of(sides[0], sides[1]))
	}
}

// keepCase checks what the rules say and writes their extracts.
func (g recordedGroup) keepCase(t *testing.T, s *sandbox.Server, k keptGroup, group extract.Group) {
	config, err := json.Marshal(g.m.service)
	if err != nil {
		t.Fatal(err)
	}
	if k.name == "" {
		k.name = g.name
	}
	c := caseOf(group)
	version, _ := c.Setting("mysql", "version")
	origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordGroups/%s -args -only %s\nservice: %s\n",
		c.Run.Started.Format(time.DateOnly), c.Server(), version, s.Kind, g.name, config)
	for want := range strings.FieldsSeq(k.as) {
		id, kind, _ := strings.Cut(want, "/")
		if wrong := wrongCase(c, id, kind); wrong != "" {
			t.Errorf("%s %s: %s", k.name, want, wrong)
			continue
		}
		comment := origin
		if kind == "fires" && k.want != "" {
			comment += "want: " + k.want + "\n"
		}
		keys := reads(id, true)
		keys.Figures = len(group.Repeats)+len(group.Baselines) > 0
		data, err := extract.WriteGroup(group, keys, comment)
		if err != nil {
			t.Fatal(err)
		}
		server := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
		path := filepath.Join("testdata", id, kind, server+"-"+k.name+".txtar")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The groups that a case is made of.

// against holds the second thing against the first.
func against(first, second []*kasoku.Recording) extract.Group {
	return extract.Group{Run: second[0], Repeats: second[1:], Baseline: first[0], Baselines: first[1:]}
}

// pairOf holds one run of the second against one of the first.
func pairOf(first, second []*kasoku.Recording) extract.Group {
	return extract.Group{Run: second[0], Baseline: first[0]}
}

// nearestPair is the pair of runs whose tails are most alike. On a busy host those of
// any two runs may lie far apart, which is what a group is for.
func nearestPair(first, second []*kasoku.Recording) extract.Group {
	best, apart := extract.Group{}, math.Inf(1)
	for _, a := range first {
		for _, b := range second {
			x, y := a.Tally(0).Latency.Quantile(0.99), b.Tally(0).Latency.Quantile(0.99)
			if d := math.Abs(math.Log(float64(x) / float64(y))); d < apart && d > 0 {
				best, apart = extract.Group{Run: b, Baseline: a}, d
			}
		}
	}
	return best
}

// together is a group of both.
func together(first, second []*kasoku.Recording) extract.Group {
	return extract.Group{Run: second[0], Repeats: append(append([]*kasoku.Recording(nil), second[1:]...), first...)}
}

// firstAlone is the group of the first thing.
func firstAlone(first, _ []*kasoku.Recording) extract.Group {
	return extract.Group{Run: first[0], Repeats: first[1:]}
}

// passing judges a run as a benchmark would: it counts the requests that succeeded
// and lets the run pass when almost all did.
func passing(rec *kasoku.Recording) {
	t := rec.Tally(0)
	rec.Run.Score = &kasoku.Score{Value: float64(t.Success), Outcome: kasoku.Passed, Source: "output, JSON score"}
	if t.SuccessRatio() < kasoku.FailingBelow {
		rec.Run.Score.Outcome = kasoku.Failed
	}
}

// groups are the cases. Two things are measured in turn, so that what drifts on the
// host meets both.
func groups() []recordedGroup {
	ledger := func(c serviceConfig, rate float64, each time.Duration) measuredCase {
		c.MaxOpen, c.MaxIdle, c.Warm = 40, 40, 20
		return measuredCase{service: c, maxConnections: 151, next: record.Climb(rate), each: each, alone: true, slowLog: true,
			settings: []kasoku.Setting{{Scope: "app", Name: "prepare", Value: fmt.Sprint(c.Prepare > 0)}, {Scope: "app", Name: "hold", Value: c.Hold.String()}}}
	}
	plus := func(m measuredCase) *measuredCase { return &m }
	unwatched := func(m measuredCase) measuredCase { m.slowLog = false; return m }
	base := ledger(serviceConfig{Prepare: 1}, 20, 5*time.Second)
	// The cheaper a statement, the more its line in the log weighs.
	batched := ledger(serviceConfig{Batch: 1000}, 20, 4*time.Second)
	scored := func(name, as string, c serviceConfig, n int) recordedGroup {
		return recordedGroup{name: name, n: n, m: ledger(c, 100, 3*time.Second), finish: passing, keep: []keptGroup{{as: as, of: firstAlone}}}
	}
	flaky := scored("flaky", "OPS-06/fires", serviceConfig{}, 3)
	flaky.then = plus(ledger(serviceConfig{Fail: 0.05}, 100, 3*time.Second)) // runs that the same thing fails
	flaky.keep = []keptGroup{{as: "OPS-06/fires", of: together, want: "3 of 6 runs pass"}}
	return []recordedGroup{
		{name: "unchanged", n: 5, m: base, then: &base, keep: []keptGroup{
			{as: "MES-02/fires MES-11/silent MES-12/silent", of: against, want: "no difference in p99"},
			{as: "MES-02/fires MES-12/silent MES-11/silent", of: nearestPair, name: "pair", want: "One run against one"},
		}},
		{name: "traded", n: 5, m: base, then: plus(ledger(serviceConfig{Hold: time.Second}, 20, 5*time.Second)), keep: []keptGroup{
			{as: "MES-11/fires MES-12/fires MES-02/silent", of: against},
			{as: "MES-12/fires MES-02/silent", of: pairOf, name: "traded-pair"},
		}},
		{name: "held", n: 5, m: base, then: plus(ledger(serviceConfig{Prepare: 1, Hold: time.Second}, 20, 5*time.Second)), keep: []keptGroup{
			{as: "MES-02/silent MES-12/under MES-11/silent", of: against},
		}},
		{name: "watched", n: 6, m: unwatched(batched), then: &batched, keep: []keptGroup{
			{as: "MES-01/fires", of: together, want: "The slow log costs"},
			{as: "MES-01/silent", of: pairOf, name: "watched-pair"},
		}},
		{name: "cheap", n: 4, m: unwatched(ledger(serviceConfig{}, 50, 4*time.Second)), then: plus(ledger(serviceConfig{}, 50, 4*time.Second)), keep: []keptGroup{
			{as: "MES-01/silent", of: together},
		}},
		flaky,
		scored("always", "OPS-06/silent", serviceConfig{}, 3),
		scored("never", "OPS-06/silent", serviceConfig{Fail: 0.3}, 3),
		scored("just-passing", "OPS-06/under", serviceConfig{Fail: 0.009}, 4),
	}
}

// TestConstructGroups makes the cases just under a threshold that no runs can be
// made to hit, from recorded ones.
//
//	go test -tags extract ./diagnose/rules -run TestConstructGroups
func TestConstructGroups(t *testing.T) {
	f := func(rule, from, how string, change func(*extract.Group)) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", rule, "fires", from+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := extract.ParseGroup(data)
		if err != nil {
			t.Fatal(err)
		}
		change(&g)
		if wrong := wrongCase(caseOf(g), rule, "under"); wrong != "" {
			t.Errorf("%s %s: %s", rule, from, wrong)
			return
		}
		keys := reads(rule, true)
		keys.Figures = len(g.Repeats)+len(g.Baselines) > 0
		data, err = extract.WriteGroup(g, keys, "constructed: from fires/"+from+".txtar by "+how+", with TestConstructGroups")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", rule, "under", from+".txtar")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, server := range []string{"mariadb", "mysql"} {
		f("MES-02", server+"-pair", "scaling the latencies to a p99 28 % above that of the baseline", func(g *extract.Group) {
			scaleTo(g.Run, 0.99, 1.28*g.Baseline.Tally(0).Latency.Quantile(0.99).Seconds())
		})
		f("MES-11", server+"-traded", "taking the counters of the baseline, those of statements 4 % lower", func(g *extract.Group) {
			takeCounters(g.Run, g.Baseline)
			for i := range g.Repeats {
				takeCounters(g.Repeats[i], g.Baselines[i])
			}
		})
		f("MES-01", server+"-watched", "scaling the latencies to a p50 of about 10 ms without the slow log and 4.7 % more with it", func(g *extract.Group) {
			for i, r := range append([]*kasoku.Recording{g.Run}, g.Repeats...) {
				to := 0.010 + 0.000_001*float64(i)
				if r.Run.Observers == kasoku.ObserversOn {
					to *= 1.047
				}
				scaleTo(r, 0.50, to)
			}
		})
	}
}

// scaleTo scales all latencies of a run so that a quantile becomes that many seconds.
func scaleTo(rec *kasoku.Recording, q, seconds float64) {
	by := seconds / rec.Tally(0).Latency.Quantile(q).Seconds()
	for i := range rec.Seconds {
		rec.Seconds[i].Latency = scaled(rec.Seconds[i].Latency, by)
	}
}

// takeCounters gives a run the counters of another, statements and prepares 4 % lower.
func takeCounters(rec, from *kasoku.Recording) {
	rec.Series, rec.Service = nil, from.Service // whose processes are those of the counters
	for _, s := range from.Series {
		s.Points = append([]kasoku.Point(nil), s.Points...)
		if s.Key.Name == "Questions" || s.Key.Name == "Com_stmt_prepare" {
			for k := range s.Points {
				s.Points[k].Value *= 0.96
			}
		}
		rec.Series = append(rec.Series, s)
	}
}
