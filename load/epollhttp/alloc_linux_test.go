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
	f := func(o Options, sched load.Schedule, targets ...load.Target) {
		t.Helper()
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
		// Threads, shards, connections, the recorder's seconds.
		if n < 5000 || allocs > 1500+n/20 {
			t.Errorf("%d allocations for %d requests", allocs, n)
		}
		t.Logf("%d allocations, %d bytes for %d requests", allocs, after.TotalAlloc-before.TotalAlloc, n)
	}
	closed := &load.ClosedLoop{End: 500 * time.Millisecond}
	f(Options{MaxInFlight: 16}, closed, get("http://"+addr))
	f(Options{MaxInFlight: 16, SeqHeader: "X-Seq"}, closed, get("http://"+addr), get("http://"+addr+"/b"))
	f(Options{MaxInFlight: 64}, constant(t, 20_000, time.Second/2), get("http://"+addr))
	f(Options{MaxInFlight: 64, Pacing: load.Economical}, constant(t, 20_000, time.Second/2), get("http://"+addr))
}
