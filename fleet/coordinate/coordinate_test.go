package coordinate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/vegeta"
)

// TestLoad: four processes send one load: each request once, at its time; the counts are
// those of the target, and the starts lie within the bound that is reported.
func TestLoad(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1m", 4, nil)
	o := attack(t, tg.url, 1000, 3*time.Second)
	res, err := Run(t.Context(), f.conn, Options{Hosts: f.names(), Attack: o})
	if err != nil {
		t.Fatal(err)
	}
	checkTarget(t, tg, 3000)
	if res.Tally.Asked != 3000 || res.Tally.Success != 3000 || res.Tally.Latency.Count() != 3000 {
		t.Errorf("asked %d, %d of them succeed, errors %v", res.Tally.Asked, res.Tally.Success, res.Tally.Errors)
	}
	for _, g := range res.Generators {
		if g.Due != 750 || g.Reported != 750 || g.Lost != "" {
			t.Errorf("%+v", g)
		}
		// All clocks are this host's.
		if max(g.Offset, -g.Offset) > g.Bound || max(g.Drift, -g.Drift) > g.DriftBound || g.Bound > 50*time.Millisecond {
			t.Errorf("%s: offset %s with the bound %s, drift %s with the bound %s",
				g.Host, g.Offset, g.Bound, g.Drift, g.DriftBound)
		}
	}
	tg.mu.Lock()
	defer tg.mu.Unlock()
	for n, at := range tg.came {
		due := res.Start.Add(time.Duration(n) * time.Millisecond)
		if at.Before(due.Add(-res.Skew)) {
			t.Errorf("request %d came %s before it was due, and the skew is %s", n, due.Sub(at), res.Skew)
		}
	}
	t.Logf("skew at most %s; latency p50 %s, p99 %s", res.Skew, res.Tally.Latency.Quantile(0.5), res.Tally.Latency.Quantile(0.99))
}

// TestKinds: random arrivals, stages and closed loops are shared out, too.
func TestKinds(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1m", 3, nil)
	o := attack(t, tg.url, 300, time.Second)
	o.Spacing = load.Poisson
	plan, _, err := o.ReadPlan()
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for a := plan.Schedule.Arrivals(); ; want++ {
		if _, _, ok := a.Next(); !ok {
			break
		}
	}
	o = attack(t, tg.url, 300, time.Second)
	o.Spacing = load.Poisson
	res, err := Run(t.Context(), f.conn, Options{Hosts: f.names(), Attack: o})
	if err != nil || res.Tally.Asked != want || res.Tally.Success != want {
		t.Fatalf("Poisson: %v, tally %+v, want %d", err, res.Tally, want)
	}
	checkTarget(t, tg, want)

	o = attack(t, tg.url, 0, 0)
	o.Duration, o.Rate = 0, 0
	if o.Stages, err = load.ParseStages("500ms@0..400,500ms@0,1s@100"); err != nil {
		t.Fatal(err)
	}
	res, err = Run(t.Context(), f.conn, Options{Hosts: f.names(), Attack: o})
	if err != nil || res.Tally.Asked != 200 || res.Tally.Success != 200 || res.Recorder.Tally(2).Asked != 100 {
		t.Fatalf("stages: %v, tally %+v", err, res.Tally)
	}

	o = attack(t, tg.url, 0, 500*time.Millisecond)
	o.MaxWorkers = 7
	res, err = Run(t.Context(), f.conn, Options{Hosts: f.names(), Attack: o})
	if err != nil || res.Tally.Asked < 7 || res.Tally.Success != res.Tally.Asked || res.Summary.MaxInFlight != 7 {
		t.Fatalf("closed loop: %v, %+v, tally %+v", err, res.Summary, res.Tally)
	}
}

// TestKilledAgent: the share of a generator that is killed is not sent, from then on, and
// all else is right.
func TestKilledAgent(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1m", 3, nil)
	var kill *time.Timer
	o := Options{Hosts: f.names(), Attack: attack(t, tg.url, 300, 5*time.Second), Patience: 4 * time.Second}
	o.Watch = func(r *vegeta.Running) {
		kill = time.AfterFunc(time.Until(r.Start.Add(2*time.Second)), func() { _ = f.agents["gen2"].Process.Signal(syscall.SIGKILL) })
	}
	res, err := Run(t.Context(), f.conn, o)
	if err != nil {
		t.Fatal(err)
	}
	kill.Stop()
	g := res.Generators[1]
	missing := g.Due - g.Reported
	if g.Due != 500 || missing == 0 || missing == 500 || g.Lost == "" {
		t.Errorf("%+v", g)
	}
	if res.Tally.Asked != 1500 || res.Tally.Failed() != missing || res.Tally.Success != 1500-missing {
		t.Errorf("asked %d, failed %d, %d of gen2 missing", res.Tally.Asked, res.Tally.Failed(), missing)
	}
	if r := res.Generators[0].Reported + res.Generators[2].Reported; r != 1000 {
		t.Errorf("the others reported %d", r)
	}
	named := false
	for text, n := range res.Tally.Errors {
		named = named || strings.HasPrefix(text, "not sent: generator gen2") && n == missing
	}
	if !named || len(res.Warnings) == 0 || res.Warnings[0].Code != LostGenerator {
		t.Errorf("errors %v, warnings %v", res.Tally.Errors, res.Warnings)
	}
	// What came to the target and was reported agree, but for what it sent within the last
	// moment before its death.
	tg.mu.Lock()
	defer tg.mu.Unlock()
	if n := uint64(len(tg.came)); n < res.Tally.Success || n > res.Tally.Success+50 || tg.more > 0 {
		t.Errorf("%d requests came, %d are reported", n, res.Tally.Success)
	}
}

// unexpected leaves out that a generator was late: these tests share the host's cores with others.
func unexpected(warnings []kasoku.Warning) []kasoku.Warning {
	return slices.DeleteFunc(slices.Clone(warnings), func(w kasoku.Warning) bool { return w.Code == load.LateGenerator })
}

// TestHubKilled: a hub that is killed and started again costs no count.
func TestHubKilled(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1m", 2, nil)
	o := Options{Hosts: f.names(), Attack: attack(t, tg.url, 200, 4*time.Second)}
	o.Watch = func(r *vegeta.Running) {
		time.AfterFunc(time.Until(r.Start.Add(time.Second)), func() {
			f.kill()
			f.rehub()
		})
	}
	res, err := Run(t.Context(), f.conn, o)
	if err != nil || res.Tally.Asked != 800 || res.Tally.Success != 800 || len(unexpected(res.Warnings)) > 0 {
		t.Fatalf("%v, tally %+v, warnings %v", err, res.Tally, res.Warnings)
	}
	checkTarget(t, tg, 800)
}

// TestInterrupted: a load that is stopped is stopped everywhere, and what was counted until
// then comes.
func TestInterrupted(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1m", 2, nil)
	ctx, stop := context.WithCancel(t.Context())
	o := Options{Hosts: f.names(), Attack: attack(t, tg.url, 200, time.Hour)}
	o.Watch = func(r *vegeta.Running) { time.AfterFunc(time.Until(r.Start.Add(time.Second)), stop) }
	res, err := Run(ctx, f.conn, o)
	if err != nil || res.Summary.Stopped == "" || res.Tally.Success < 150 || res.Tally.Success > 1000 {
		t.Fatalf("%v, %+v, tally %+v", err, res.Summary, res.Tally)
	}
	// On a machine that stalls, a request may wait for its turn at that moment.
	missed := res.Tally.Failed() - res.Tally.Errors["not sent: the load was stopped while the request waited for a free slot"]
	if missed > 0 {
		t.Errorf("%d are said to be missing: %v", missed, res.Tally.Errors)
	}
	tg.mu.Lock()
	defer tg.mu.Unlock()
	if uint64(len(tg.came)) != res.Tally.Success {
		t.Errorf("%d came, %d are reported", len(tg.came), res.Tally.Success)
	}
}

// TestLease: a load whose coordinator is gone stops by itself, and the agent takes another.
func TestLease(t *testing.T) {
	tg := newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1s", 1, nil)
	o := attack(t, tg.url, 100, time.Hour)
	l, err := prepare(t.Context(), f.conn, &Options{Hosts: f.names(), Attack: o})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.order(t.Context()); err != nil {
		t.Fatal(err)
	}
	// No one asks. Another load is taken once that one is over.
	deadline := time.Now().Add(20 * time.Second)
	for {
		res, err := Run(t.Context(), f.conn, Options{Hosts: f.names(), Attack: attack(t, tg.url, 100, 100*time.Millisecond)})
		if err == nil {
			if res.Tally.Success != 10 {
				t.Errorf("tally %+v", res.Tally)
			}
			return
		}
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "another load is under way") || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestRefused: a target that the agent's own flags do not allow is not loaded, whoever asks.
func TestRefused(t *testing.T) {
	tg, other := newTarget(t, "127.0.0.1"), newTarget(t, "127.0.0.1")
	f := newField(t, "127.0.0.1:0", tg.url, "1m", 2, nil)
	_, err := Run(t.Context(), f.conn, Options{Hosts: f.names(), Attack: attack(t, other.url, 100, time.Second)})
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Hint(), "--allow load="+other.url) {
		t.Errorf("error is %v", err)
	}
	_, err = Run(t.Context(), f.conn, Options{Hosts: []string{"gen1", "gen9"}, Attack: attack(t, tg.url, 100, time.Second)})
	if err == nil || !strings.Contains(err.Error(), "gen9") || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("error is %v", err)
	}
	checkTarget(t, other, 0)
	checkTarget(t, tg, 0)
}
