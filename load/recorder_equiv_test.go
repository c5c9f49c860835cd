package load

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"pgregory.net/rapid"
)

// TestRecorder_Equivalence compares the recorder with one that keeps all hits:
// whoever reports them, in whatever order, and whenever somebody looks or takes,
// what was taken adds up to the same seconds, and nothing counts twice.
func TestRecorder_Equivalence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}, {Method: "GET", URL: "http://a/b"}, {Method: "GET", URL: "http://b/"}}}
		offset := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "offset"))
		r := NewRecorder(p, offset)
		r.KeepSeconds()
		taken := map[string]*kasoku.LoadSecond{}
		take := func() {
			for _, s := range r.Take() {
				k := fmt.Sprintf("%d %d %s", s.Second, s.Step, s.Target)
				if taken[k] == nil {
					taken[k] = &kasoku.LoadSecond{}
				}
				taken[k].Add(&s)
			}
		}
		hits := rapid.SliceOf(anyHit(len(p.Targets))).Draw(t, "hits")
		for i := 0; i < len(hits); {
			n := min(rapid.IntRange(1, 20).Draw(t, "batch"), len(hits)-i)
			var shards sync.WaitGroup
			for _, h := range hits[i : i+n] {
				shards.Go(func() { r.Hits([]Hit{h}) })
			}
			switch rapid.IntRange(0, 3).Draw(t, "look") {
			case 0:
				take()
			case 1:
				r.Tally(0)
			case 2:
				r.Live(offset + hits[i].Due)
			}
			shards.Wait()
			i += n
		}
		take()
		want, steps := slowly(p, offset, hits)
		if got := slices.Sorted(maps.Keys(taken)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("seconds %q, want %q", got, slices.Sorted(maps.Keys(want)))
		}
		for k, s := range want {
			same(t, k, taken[k], s)
		}
		for n, s := range steps {
			all := r.Tally(n)
			same(t, fmt.Sprint("step ", n), &kasoku.LoadSecond{Asked: all.Asked, Codes: all.Codes, Errors: all.Errors,
				BytesIn: all.BytesIn, BytesOut: all.BytesOut, Latency: all.Latency, SendDelay: all.SendDelay, Service: all.Service}, s)
		}
		var targets uint64
		for _, one := range r.Targets() {
			targets += one.Tally.Asked
		}
		l := r.Live(time.Hour)
		if all := r.Tally(0); all.Asked != uint64(len(hits)) || all.Failed() != sum(all.Errors) || targets != all.Asked || l.Total != all.Asked || l.Failed != all.Failed() {
			t.Fatalf("%d hits, %d asked, %d failed, %d errors, %d of targets, %d live", len(hits), all.Asked, all.Failed(), sum(all.Errors), targets, l.Total)
		}
	})
}

// anyHit draws a hit, also of those that end long after they were due.
func anyHit(targets int) *rapid.Generator[Hit] {
	return rapid.Custom(func(t *rapid.T) Hit {
		due := rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "due")
		sent := due + rapid.Int64Range(0, int64(time.Second)).Draw(t, "delay")
		h := Hit{
			Step: rapid.IntRange(1, 3).Draw(t, "step"), Target: rapid.IntRange(0, targets-1).Draw(t, "target"),
			Due: time.Duration(due), Sent: time.Duration(sent), Done: time.Duration(sent + rapid.Int64Range(0, int64(time.Minute)).Draw(t, "service")),
			Code:    rapid.SampledFrom([]int{0, 200, 301, 404, 500}).Draw(t, "code"),
			BytesIn: rapid.Uint64Range(0, 1<<40).Draw(t, "in"), BytesOut: rapid.Uint64Range(0, 1<<40).Draw(t, "out"),
		}
		if !success(h.Code) {
			h.Err = rapid.SampledFrom([]string{"EOF", "500 Internal Server Error", "not sent: x", "->"}).Draw(t, "err")
		}
		return h
	})
}

func success(code int) bool { return code >= 200 && code < 400 }

// slowly counts by second, step and target, and by step.
func slowly(p Plan, offset time.Duration, hits []Hit) (seconds map[string]*kasoku.LoadSecond, steps map[int]*kasoku.LoadSecond) {
	seconds, steps = map[string]*kasoku.LoadSecond{}, map[int]*kasoku.LoadSecond{}
	for _, h := range hits {
		one := kasoku.NewTally()
		one.Latency.Record(h.Done - h.Due)
		one.SendDelay.Record(h.Sent - h.Due)
		one.Service.Record(h.Done - h.Sent)
		s := &kasoku.LoadSecond{Asked: 1, Codes: map[int]uint64{h.Code: 1}, Errors: map[string]uint64{}, BytesIn: h.BytesIn, BytesOut: h.BytesOut,
			Latency: one.Latency, SendDelay: one.SendDelay, Service: one.Service}
		if h.Err != "" {
			s.Errors[h.Err] = 1
		}
		k := fmt.Sprintf("%d %d %s", int((offset+h.Due)/time.Second), h.Step, p.Targets[h.Target].Name())
		if seconds[k] == nil {
			seconds[k] = &kasoku.LoadSecond{}
		}
		seconds[k].Add(s)
		if steps[h.Step] == nil {
			steps[h.Step] = &kasoku.LoadSecond{}
		}
		steps[h.Step].Add(s)
	}
	return seconds, steps
}

// same compares all that two seconds count.
func same(t *rapid.T, what string, a, b *kasoku.LoadSecond) {
	t.Helper()
	text := func(s *kasoku.LoadSecond) string {
		out := fmt.Sprintf("asked %d codes %v errors %v in %d out %d", s.Asked, s.Codes, s.Errors, s.BytesIn, s.BytesOut)
		for _, h := range []interface{ AppendBinary([]byte) ([]byte, error) }{s.Latency, s.SendDelay, s.Service} {
			b, err := h.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			out += fmt.Sprintf(" %x", b)
		}
		return out
	}
	if x, y := text(a), text(b); x != y {
		t.Fatalf("%s:\n%s, want\n%s", what, x, y)
	}
}
