//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// stopAfter returns a context that ends some time after the load has begun.
func stopAfter(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(d, cancel)
	t.Cleanup(func() { timer.Stop(); cancel() })
	return ctx
}

func TestStopLetsAnswersIn(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) { <-time.After(30 * time.Millisecond) })
	for _, s := range []load.Schedule{constant(t, 500, 0), &load.ClosedLoop{End: load.Forever}, &load.ClosedLoop{End: load.Forever, ThinkMin: time.Millisecond, ThinkMax: time.Hour}} {
		for _, pacing := range []load.Pacing{load.Precise, load.Economical} {
			began := time.Now()
			sum, hits := runLoad(t, stopAfter(t, 100*time.Millisecond), Options{MaxInFlight: 100, Pacing: pacing, Shards: 2}, s, get(srv.URL))
			for _, h := range hits {
				if h.Code != 200 && h.Err != load.ErrNotSentStop.Error() {
					t.Fatalf("bad hit %+v", h)
				}
			}
			if sum.Stopped != "interrupt" || len(hits) == 0 || time.Since(began) > load.DefaultDrain {
				t.Errorf("%d hits in %s, summary %+v", len(hits), time.Since(began), sum)
			}
		}
	}
}

func TestStopBeforeTheStart(t *testing.T) {
	e, err := New(Options{Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []load.Schedule{constant(t, 500, 0), &load.ClosedLoop{End: load.Forever}} {
		var c loadtest.Collector
		began := time.Now()
		sum, err := e.Run(stopAfter(t, 30*time.Millisecond), load.Plan{Schedule: s, Targets: []load.Target{get("http://127.0.0.1:1/")}}, began.Add(time.Hour), &c)
		if err != nil || len(c.All()) != 0 || sum.Stopped == "" || time.Since(began) > 10*time.Second {
			t.Errorf("%d hits, summary %+v, error %v", len(c.All()), sum, err)
		}
	}
}

func TestStopDrains(t *testing.T) {
	h := loadtest.Start(t)
	began := time.Now()
	_, hits := runLoad(t, stopAfter(t, 50*time.Millisecond), Options{Shards: 2}, constant(t, 400, 0), get(h.URL("/hang")), get(h.URL("/endless")), get(fullListenerURL(t)))
	d := time.Since(began)
	for _, hit := range hits {
		drained := strings.HasSuffix(hit.Err, load.ErrDrained.Error()) && strings.HasPrefix(hit.Err, "Get ") == (hit.Target != 1)
		if !drained && hit.Err != load.ErrNotSentStop.Error() {
			t.Fatalf("bad hit %+v", hit)
		}
	}
	if d < load.DefaultDrain || d > load.DefaultDrain+5*time.Second || len(hits) == 0 {
		t.Errorf("%d hits in %s", len(hits), d)
	}
}

// fullListenerURL is where handshakes get no answer.
func fullListenerURL(t testing.TB) string { return "http://" + fullListener(t) + "/" }

func TestHardStop(t *testing.T) {
	h := loadtest.Start(t)
	f := func(o Options, s load.Schedule) {
		t.Helper()
		o.Hard = stopAfter(t, 300*time.Millisecond)
		o.Follow = func(ctx context.Context, h *load.Hit, _ int, _ string) {
			<-ctx.Done()
			h.Err = context.Cause(ctx).Error()
		}
		began := time.Now()
		sum, hits := runLoad(t, stopAfter(t, 250*time.Millisecond), o, s, get(h.URL("/hang")), get(h.URL("/loop")), get(h.URL("/endless")))
		for _, hit := range hits {
			if !strings.HasSuffix(hit.Err, load.ErrAborted.Error()) && hit.Err != load.ErrNotSentStop.Error() {
				t.Fatalf("bad hit %+v", hit)
			}
		}
		if d := time.Since(began); d > load.DefaultDrain || sum.Stopped != "interrupt" || sum.StoppedAt < 40*time.Millisecond || sum.StoppedAt > sum.Wall || len(hits) == 0 {
			t.Errorf("%d hits in %s, summary %+v", len(hits), d, sum)
		}
	}
	f(Options{}, constant(t, 1000, 0))
	f(Options{Shards: 2, Pacing: load.Economical}, constant(t, 1000, 0))
	f(Options{MaxInFlight: 5}, constant(t, 1000, 0))
	f(Options{MaxInFlight: 5, Shards: 2}, &load.ClosedLoop{End: load.Forever})
	f(Options{MaxInFlight: 6, Pipeline: 3}, &load.ClosedLoop{End: load.Forever})
}

// TestHardAlone: a hard stop without a soft one ends the load, too.
func TestHardAlone(t *testing.T) {
	h := loadtest.Start(t)
	sum, hits := runLoad(t, t.Context(), Options{Hard: stopAfter(t, 50*time.Millisecond)}, constant(t, 100, 0), get(h.URL("/hang")))
	if len(hits) == 0 || sum.Stopped != "interrupt" {
		t.Errorf("%d hits, summary %+v", len(hits), sum)
	}
}

// TestStopReason: the cause of a stop is in the summary.
func TestStopReason(t *testing.T) {
	srv := start(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("enough")) })
	if sum, _ := runLoad(t, ctx, Options{}, constant(t, 100, 0), get(srv.URL)); sum.Stopped != "enough" {
		t.Errorf("stopped by %q", sum.Stopped)
	}
}

// TestNothingIsLeft stops loads at many moments and looks at what stays open.
func TestNothingIsLeft(t *testing.T) {
	h := loadtest.Start(t)
	targets := []load.Target{get(h.URL("/nginx")), get(h.URL("/hang")), get(h.URL("/endless")), get(h.URL("/reset")), get(h.URL("/stale")), get(fullListenerURL(t))}
	begin := func(i int) {
		e, err := New(Options{Hard: stopAfter(t, time.Duration(2*i+3)*time.Millisecond), MaxInFlight: 50, Shards: 1 + i%2})
		if err != nil {
			t.Fatal(err)
		}
		var c loadtest.Collector
		if _, err := e.Run(stopAfter(t, time.Duration(i)*time.Millisecond), load.Plan{Schedule: constant(t, 5000, 0), Targets: targets}, time.Now(), &c); err != nil {
			t.Fatal(err)
		}
	}
	fds, goroutines := len(descriptors(t)), runtime.NumGoroutine()
	for i := range 15 {
		begin(i)
	}
	waitFor(t, "some goroutine", func() bool { return runtime.NumGoroutine() <= goroutines })
	waitFor(t, "some descriptor", func() bool { return len(descriptors(t)) <= fds })
}

func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !done(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s did not come to an end", what)
		}
	}
}
