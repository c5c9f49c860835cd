//go:build !race && (amd64 || arm64)

package epollhttp

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// delayUnderGC returns the send delay of 5,000 requests a second, while another
// goroutine makes garbage and collects it each time that a pause is over; 0: never.
func delayUnderGC(t testing.TB, pause, d time.Duration) *histogram.Histogram {
	t.Helper()
	addr := startSink(t)
	e, err := New(Options{MaxInFlight: 64})
	if err != nil {
		t.Fatal(err)
	}
	quit := make(chan struct{})
	var wg sync.WaitGroup
	cycles := 0
	if pause > 0 {
		wg.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			var heap [][]*int
			for {
				select {
				case <-quit:
					return
				case <-tick.C:
				}
				if len(heap) > 50 {
					heap = nil
				}
				heap = append(heap, make([]*int, 1<<14))
				for i := range heap[len(heap)-1] {
					heap[len(heap)-1][i] = new(int)
				}
				runtime.GC()
				cycles++
			}
		})
	}
	p := load.Plan{Schedule: constant(t, 5000, d), Targets: []load.Target{get("http://" + addr)}}
	rec := load.NewRecorder(p, 0)
	_, err = e.Run(t.Context(), p, time.Now(), rec)
	close(quit)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if pause > 0 && cycles < 3 {
		t.Errorf("only %d collections", cycles)
	}
	return rec.Tally(0).SendDelay
}

// TestGCStallsNoSend: a stop of the world ends the wait of a shard, and the wait
// does not hold up a stop of the world. If either did, every collection would
// cost the whole length of a wait or more. A machine that is busy holds sends up without a
// collection, too, and that is taken off.
func TestGCStallsNoSend(t *testing.T) {
	const long = 500 * time.Millisecond
	busy := delayUnderGC(t, 0, long).Quantile(0.5)
	delay := delayUnderGC(t, 20*time.Millisecond, long)
	t.Logf("send delay p50 %s, p99 %s, max %s; without collections p50 %s", delay.Quantile(0.5), delay.Quantile(0.99), delay.Max(), busy)
	if p50 := delay.Quantile(0.5); p50 > 200*time.Millisecond+10*busy {
		t.Errorf("half of the requests were sent more than %s late", p50)
	}
}

// TestLongWaitsYieldToGC: a shard with nothing to do for long does not delay a collection.
func TestLongWaitsYieldToGC(t *testing.T) {
	ctx := stopAfter(t, 300*time.Millisecond)
	e, err := New(Options{Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err = e.Run(ctx, load.Plan{Schedule: constant(t, 1, time.Hour), Targets: []load.Target{get("http://127.0.0.1:1/")}}, time.Now().Add(time.Hour), &loadtest.Collector{})
	})
	n := 0
	for ; ctx.Err() == nil; n++ {
		runtime.GC()
	}
	wg.Wait()
	if err != nil || n < 3 {
		t.Errorf("%d collections in 300 ms, error %v", n, err)
	}
}

// TestRawWaitsYieldToGC: a wait that keeps the scheduler's processor ends when the
// world is to stop, because the runtime's signal interrupts it. The load waits for
// 3 ms between two requests; stopping took half of that if it had to wait along.
func TestRawWaitsYieldToGC(t *testing.T) {
	addr := startSink(t)
	e, err := New(Options{Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	ctx := stopAfter(t, 400*time.Millisecond)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err = e.Run(ctx, load.Plan{Schedule: constant(t, 600, time.Hour), Targets: []load.Target{get("http://" + addr)}}, time.Now(), &loadtest.Collector{})
	})
	before := stopping()
	for ctx.Err() == nil {
		runtime.GC()
	}
	after := stopping()
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for i := range after.Counts {
		after.Counts[i] -= before.Counts[i]
	}
	p50, p99 := bucketQuantile(after, 0.5), bucketQuantile(after, 0.99)
	t.Logf("stopping the world took p50 %s, p99 %s", p50, p99)
	if p50 > time.Millisecond {
		t.Errorf("stopping the world took %s", p50)
	}
}

// stopping is how long the runtime took until all had stopped, for each collection.
func stopping() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// bucketQuantile returns the upper bound of the bucket that holds a quantile.
func bucketQuantile(h *metrics.Float64Histogram, q float64) time.Duration {
	var total, seen uint64
	for _, n := range h.Counts {
		total += n
	}
	for i, n := range h.Counts {
		if seen += n; seen > 0 && float64(seen) >= q*float64(total) {
			return time.Duration(h.Buckets[i+1] * float64(time.Second))
		}
	}
	return 0
}

// BenchmarkGC sends 5,000 requests a second while garbage is collected, and
// reports how late they were sent. What collects takes CPU, too: on a machine with
// few cores that is part of the figure.
func BenchmarkGC(b *testing.B) {
	for _, pause := range []time.Duration{0, 100 * time.Millisecond, 10 * time.Millisecond} {
		b.Run("every="+pause.String(), func(b *testing.B) {
			for b.Loop() {
				delay := delayUnderGC(b, pause, time.Second)
				b.ReportMetric(float64(delay.Quantile(0.5).Nanoseconds()), "p50-ns")
				b.ReportMetric(float64(delay.Quantile(0.99).Nanoseconds()), "p99-ns")
				b.ReportMetric(float64(delay.Quantile(0.999).Nanoseconds()), "p99.9-ns")
				b.ReportMetric(float64(delay.Max().Nanoseconds()), "max-ns")
			}
		})
	}
}
