package load

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestShares: the requests of all shares are those of the whole, each once, at its time, in
// its step, and as its target, however they are spaced.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := Plan{Schedule: drawSchedule(t), Targets: []Target{{URL: "http://a/", Weight: 2}, {URL: "http://b/"}}}
		of := rapid.IntRange(1, 5).Draw(t, "machines")
		want := numbered(&whole, 2000)
		got := make([]Hit, 0, len(want))
		for k := range of {
			p := whole
			p.Share = Share{Index: k, Of: of}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			got = append(got, numbered(&p, 2000)...)
		}
		slices.SortFunc(got, func(a, b Hit) int { return int(a.N) - int(b.N) })
		got = slices.DeleteFunc(got, func(h Hit) bool { return h.N >= 2000 })
		if !slices.Equal(got, want) {
			t.Fatalf("of %d machines:\n%v\nwant\n%v", of, got, want)
		}
	})
}

func drawSchedule(t *rapid.T) Schedule {
	var stages []Stage
	for range rapid.IntRange(1, 3).Draw(t, "stages") {
		stages = append(stages, Stage{
			For:  time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond,
			From: rapid.Float64Range(0, 400).Draw(t, "from"), To: rapid.Float64Range(1, 400).Draw(t, "to"),
		})
	}
	table, err := Stages(stages)
	if err != nil {
		t.Fatal(err)
	}
	return Spaced(table, rapid.SampledFrom([]Spacing{Even, Poisson, Burst(7)}).Draw(t, "spacing"), 11)
}

// numbered are the first requests of a plan, as a driver makes them.
func numbered(p *Plan, most uint64) (out []Hit) {
	order, arrivals := NewOrder(p.Targets), p.Arrivals()
	for i := uint64(0); p.Share.Number(i) < most; i++ {
		due, step, ok := arrivals.Next()
		if !ok {
			break
		}
		n := p.Share.Number(i)
		out = append(out, Hit{N: n, Due: due, Step: step, Target: order.Target(n)})
	}
	return out
}

func TestShareValidate(t *testing.T) {
	f := func(s Share, good bool) {
		t.Helper()
		if err := s.Validate(); (err == nil) != good {
			t.Errorf("%+v: error is %v", s, err)
		}
	}
	f(Share{}, true)
	f(Share{0, 1}, true)
	f(Share{2, 3}, true)
	f(Share{3, 3}, false)
	f(Share{-1, 3}, false)
	f(Share{1, 0}, false)
	f(Share{0, MaxShares + 1}, false)
	users := 0
	for k := range 3 {
		users += Share{k, 3}.Users(64)
	}
	if users != 64 {
		t.Errorf("64 users are %d over three machines", users)
	}
}

// TestAddSeconds: the sum of recorders, one for each machine, is that of one for the whole.
func TestAddSeconds(t *testing.T) {
	p := Plan{Schedule: constant(t, 300, 3*time.Second), Targets: []Target{{Method: "GET", URL: "http://a/x"}, {Method: "GET", URL: "http://a/y"}}}
	whole, sum := NewRecorder(p, 0), NewRecorder(p, 0)
	sum.KeepSeconds()
	for k := range 3 {
		part := p
		part.Share = Share{k, 3}
		r := NewRecorder(part, 0)
		r.KeepSeconds()
		for _, h := range numbered(&part, 900) {
			h.Sent, h.Done, h.Code = h.Due+1000, h.Due+time.Duration(h.N+1)*10*time.Microsecond, 200
			whole.Hits([]Hit{h})
			r.Hits([]Hit{h})
		}
		sum.AddSeconds(r.Take())
	}
	a, b := whole.Tally(0), sum.Tally(0)
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
		if x, y := a.Latency.Quantile(q), b.Latency.Quantile(q); x != y || x == 0 {
			t.Errorf("quantile %v is %s of one, %s of the sum", q, x, y)
		}
	}
	if b.Asked != 900 || b.Success != 900 || len(sum.Targets()) != 2 || sum.Targets()[1].Tally.Asked != whole.Targets()[1].Tally.Asked {
		t.Errorf("sum is %+v", b)
	}
	if taken := sum.Take(); len(taken) != 6 || taken[0].Asked != 150 {
		t.Errorf("%d seconds, the first with %d", len(taken), taken[0].Asked)
	}
}

func constant(t *testing.T, perSec float64, d time.Duration) Schedule {
	t.Helper()
	s, err := Constant(perSec, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSharedDriver: a driver gives a share's requests the numbers of the whole, also those
// that a stop leaves.
func TestSharedDriver(t *testing.T) {
	p := Plan{Schedule: constant(t, 1000, time.Second), Targets: []Target{{URL: "http://a/"}, {URL: "http://b/"}}, Share: Share{1, 4}}
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex // workers and the driver itself hand in hits
	var got []Hit
	d := Driver{MaxInFlight: 1, NewClient: func() Client { return clientFunc(func(context.Context, *Hit) { stop() }) }}
	// All was due before the start, so what is left at the stop is all the rest.
	_, err := d.Run(ctx, p, time.Now().Add(-2*time.Second), sinkFunc(func(hits []Hit) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, hits...)
	}))
	if err != nil || len(got) != 250 {
		t.Fatalf("%d hits, error %v", len(got), err)
	}
	slices.SortFunc(got, func(a, b Hit) int { return int(a.N) - int(b.N) })
	for i, h := range got {
		if h.N != uint64(1+4*i) || h.Target != 1 {
			t.Fatalf("hit %d is %+v", i, h)
		}
	}
}

type clientFunc func(context.Context, *Hit)

func (f clientFunc) Do(ctx context.Context, h *Hit) { f(ctx, h) }

type sinkFunc func([]Hit)

func (f sinkFunc) Hits(hits []Hit) { f(hits) }
