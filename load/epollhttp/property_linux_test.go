//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
	"pgregory.net/rapid"
)

// TestEachRequestOnce: whatever the server does and however the load is made and
// stopped, each request that was due is accounted for exactly once, the limits
// hold, and the load ends.
func TestEachRequestOnce(t *testing.T) {
	h := loadtest.Start(t)
	paths := []string{"/ok", "/nginx", "/ok?bytes=1", "/reset", "/hang", "/endless", "/endless-chunks", "/endless-header", "/stale", "/stale-reset", "/idle-close",
		"/ok?cut=10&end=close", "/ok?cut=39&end=reset", "/ok?cut=0&end=hang", "/unread", "/unread-close", "/unread-reset", "/early", "/loop"}
	full := fullListenerURL(t)
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Millisecond
		}
		o := Options{
			MaxInFlight: rapid.IntRange(1, 20).Draw(t, "cap"), MaxConnections: rapid.IntRange(0, 5).Draw(t, "connections"),
			IdleConns: rapid.IntRange(1, 5).Draw(t, "idle"), Pipeline: rapid.IntRange(1, 4).Draw(t, "pipeline"), Shards: rapid.IntRange(1, 3).Draw(t, "shards"),
			NoKeepAlive: rapid.IntRange(0, 3).Draw(t, "close") == 0, Timeout: ms("timeout", 10, 60),
			Pacing: rapid.SampledFrom([]load.Pacing{load.Precise, load.Economical}).Draw(t, "pacing"),
		}
		if rapid.Bool().Draw(t, "follow") {
			o.Follow = func(ctx context.Context, h *load.Hit, code int, location string) {
				<-time.After(time.Millisecond)
				h.Code = 200
			}
		}
		var targets []load.Target
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(paths), full)), 1, 5).Draw(t, "targets") {
			url := h.URL(p)
			if p == full {
				url = full
			}
			target := get(url)
			if rapid.Bool().Draw(t, "post") {
				target = post(url, "body")
			}
			targets = append(targets, target)
		}
		n := rapid.IntRange(1, 60).Draw(t, "requests")
		length := ms("length", 1, 30)
		sched, err := load.Constant(float64(n)/length.Seconds(), length)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stops := rapid.IntRange(0, 2).Draw(t, "stop") == 0
		if stops {
			defer time.AfterFunc(ms("soft", 0, 20), cancel).Stop()
			hard, kill := context.WithCancel(context.Background())
			defer kill()
			defer time.AfterFunc(ms("hard", 20, 60), kill).Stop()
			o.Hard = hard
		}
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var c loadtest.Collector
		sum, err := e.Run(ctx, load.Plan{Schedule: sched, Targets: targets}, time.Now(), &c)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[uint64]bool{}
		for _, hit := range c.All() {
			if seen[hit.N] {
				t.Fatalf("request %d is accounted for twice", hit.N)
			}
			seen[hit.N] = true
			if hit.Sent < hit.Due || hit.Done < hit.Sent || (hit.Err == "") != (hit.Code >= 200 && hit.Code < 400) {
				t.Fatalf("bad hit %+v", hit)
			}
		}
		if len(seen) > n || !stops && len(seen) != n {
			t.Fatalf("%d requests are accounted for, of %d", len(seen), n)
		}
		if sum.PeakInFlight > o.MaxInFlight {
			t.Fatalf("%d requests in flight, cap %d", sum.PeakInFlight, o.MaxInFlight)
		}
	})
}

func TestThoughts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var heap thoughts
		var sorted []time.Duration
		for _, v := range rapid.SliceOf(rapid.Int64Range(-1, 20)).Draw(t, "ops") {
			if v >= 0 {
				heap.push(time.Duration(v))
				sorted = append(sorted, time.Duration(v))
				slices.Sort(sorted)
			} else if len(sorted) > 0 {
				heap.pop()
				sorted = sorted[1:]
			}
			if len(heap) != len(sorted) || len(sorted) > 0 && heap[0] != sorted[0] {
				t.Fatalf("%v, want %v", heap, sorted)
			}
		}
	})
}

// TestSlots: no more slots are given out than there are, and those that lie
// unused with one shard are few.
func TestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, shards := rapid.IntRange(1, 500).Draw(t, "slots"), rapid.IntRange(1, 4).Draw(t, "shards")
		shared, all := newSlots(n, shards), make([]heldSlots, shards)
		for i := range all {
			all[i].shared = shared
		}
		var flying int64
		for _, op := range rapid.SliceOf(rapid.IntRange(-shards, shards-1)).Draw(t, "ops") {
			if op >= 0 {
				if all[op].take() {
					flying++
				} else if unused := int64(n) - flying; unused >= int64(max(n/8, 1)) && shards > 1 && unused > 2*int64(shards) {
					t.Fatalf("refused with %d of %d unused", unused, n)
				}
			} else if s := &all[-op-1]; s.flying > 0 {
				s.give()
				flying--
			}
			if flying > int64(n) {
				t.Fatalf("%d in flight, cap %d", flying, n)
			}
		}
	})
}
