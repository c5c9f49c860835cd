//go:build !race && (amd64 || arm64)

package epollhttp

import (
	"runtime"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
)

// TestNoAllocationsPerRequest: what a load allocates does not depend on how many
// requests it has.
func TestNoAllocationsPerRequest(t *testing.T) {
	addr := startSink(t)
	var f func(o Options, end time.Duration, schedule func(end time.Duration) load.Schedule, targets ...load.Target)
	f = func(o Options, end time.Duration, schedule func(time.Duration) load.Schedule, targets ...load.Target) {
		t.Helper()
		sched := schedule(end)
		p := load.Plan{Schedule: sched, Targets: targets}
		rec := load.NewRecorder(p, 0)
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Run(t.Context(), p, time.Now(), rec); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		n := rec.Tally(0).Success
		allocs := after.Mallocs - before.Mallocs
		if n < 1500 && end < 10*time.Second { // a busy machine sends few requests
			f(o, 2*end, schedule, targets...)
			return
		}
		// Threads, shards, connections, the recorder's seconds: some 800 however long it lasts.
		if n < 1500 || allocs > 1000+n/20 {
			t.Errorf("%d allocations for %d requests", allocs, n)
		}
		t.Logf("%d allocations, %d bytes for %d requests", allocs, after.TotalAlloc-before.TotalAlloc, n)
	}
	closed := func(end time.Duration) load.Schedule { return &load.ClosedLoop{End: end} }
	open := func(end time.Duration) load.Schedule { return constant(t, 20_000, end) }
	const end = time.Second / 2
	f(Options{MaxInFlight: 16}, end, closed, get("http://"+addr))
	f(Options{MaxInFlight: 16, SeqHeader: "X-Seq"}, end, closed, get("http://"+addr), get("http://"+addr+"/b"))
	f(Options{MaxInFlight: 64}, end, open, get("http://"+addr))
	f(Options{MaxInFlight: 64, Pacing: load.Economical}, end, open, get("http://"+addr))
}
