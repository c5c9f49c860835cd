package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/test/turn"
	"pgregory.net/rapid"
)

func TestBlockFor(t *testing.T) {
	for n, want := range map[int]int{1: 3, 10: 3, 30: 3, 60: 4, 100: 5, 3600: 5} {
		if got := blockFor(n); got != want {
			t.Errorf("a step of %d s has blocks of %d s, want %d", n, got, want)
		}
	}
}

// The interval of independent seconds holds the truth about as often as it says,
// a little less often at 10 s, as small samples do.
func TestIntervalCoverage(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("takes seconds; the long tests run it")
	}
	const rounds = 120
	held := 0
	for i := range rounds {
		s := shape{perSec: 200, seconds: 10, success: 0.5, median: 10 * time.Millisecond, spread: 0.5}
		after := s
		after.success = 0.7
		c, err := Compare(one(build("b", uint64(2*i+1), s)), one(build("a", uint64(2*i+2), after)), Options{Resamples: 200})
		if err != nil {
			t.Fatal(err)
		}
		if x := c.Row("success").Change; x.Low <= 0.2 && x.High >= 0.2 {
			held++
		}
	}
	if got := float64(held) / rounds; got < 0.78 || got > 0.99 {
		t.Errorf("the 95 %% interval held the truth in %.0f %% of runs", 100*got)
	}
}

func TestQuantileMatchesHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := histogram.New()
		for _, us := range rapid.SliceOfN(rapid.IntRange(1, 5_000_000), 1, 200).Draw(t, "latencies") {
			h.Record(time.Duration(us) * time.Microsecond)
		}
		tb := newTable(h)
		bins := make([]float64, len(tb.middle))
		for _, b := range tb.add(nil, h) {
			bins[b.at] += b.n
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got, ok := quantile(bins, tb.middle, q)
		want := h.Quantile(q).Seconds()
		if !ok || math.Abs(got-want) > want*0.008+1e-9 {
			t.Fatalf("quantile %v is %v, the histogram says %v", q, got, want)
		}
	})
}

func TestWholeSecondsCoverTheStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := time.Duration(rapid.Int64Range(0, 5e9).Draw(t, "from"))
		length := time.Duration(rapid.Int64Range(1, 12e9).Draw(t, "length"))
		iv := kasoku.Interval{From: from, To: from + length}
		ws := wholeSeconds(iv)
		if ws[0].From != iv.From || ws[len(ws)-1].To != iv.To {
			t.Fatalf("%v is cut into %v", iv, ws)
		}
		for i, w := range ws {
			if i > 0 && ws[i-1].To != w.From {
				t.Fatalf("%v is cut into %v", iv, ws)
			}
			if len(ws) > 1 && w.Len() < time.Second/2 {
				t.Fatalf("%v has a fragment %v", iv, w)
			}
		}
		sec := int(rapid.Int64Range(int64(iv.From/time.Second), int64((iv.To-1)/time.Second)).Draw(t, "second"))
		at := max(time.Duration(sec)*time.Second, iv.From)
		if got := windowAt(ws, sec); !ws[got].Contains(at) {
			t.Fatalf("second %d lies in window %v of %v", sec, ws[got], ws)
		}
	})
}

func TestDrawKeepsTheLength(t *testing.T) {
	run := build("x", 1, shape{perSec: 50, seconds: 7, success: 1, median: time.Millisecond})
	d := newStepData(run, run.Steps[0], nil)
	s := newSums(d)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		d.draw(rng, s)
		if s.seconds != 7 || s.asked != 350 {
			t.Fatalf("drew %v s with %v requests, want 7 s with 350", s.seconds, s.asked)
		}
	}
}

// TestTracedSeconds: what a trace cost is in no figure of a step, be it a latency or a rate.
func TestTracedSeconds(t *testing.T) {
	plain := build("x", 1, shape{perSec: 50, seconds: 10, success: 1, median: 10 * time.Millisecond})
	watched := build("x", 1, shape{perSec: 50, seconds: 10, success: 1, median: 10 * time.Millisecond})
	from := watched.Steps[0].Interval.From
	watched.Traces = []kasoku.Trace{{Attach: 200 * time.Millisecond,
		Interval: kasoku.Interval{From: from + 2500*time.Millisecond, To: from + 6*time.Second}}}
	for i := range watched.Seconds {
		if at := time.Duration(watched.Seconds[i].Second)*time.Second - from; at >= 2*time.Second && at < 6*time.Second {
			watched.Seconds[i].Latency.Record(time.Minute)
			watched.Seconds[i].Codes[500] += 7
		}
	}
	s := newStepData(watched, watched.Steps[0], nil).all()
	if s.seconds != 6 || s.asked != 300 || s.success != 300 || s.answered != 300 {
		t.Errorf("%+v", s)
	}
	c, err := Compare(one(plain), one(watched), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"success", "latency.max", "reached"} {
		if r := c.Row(id); r == nil || r.After.Value > 1.1*r.Before.Value || r.After.Value < 0.9*r.Before.Value && id != "latency.max" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	short := build("x", 1, shape{perSec: 50, seconds: 1, success: 1, median: time.Millisecond})
	short.Steps[0].Interval.To += 200 * time.Millisecond
	iv := short.Steps[0].Interval
	short.Traces = []kasoku.Trace{{Interval: kasoku.Interval{From: iv.From, To: iv.From + time.Second}}}
	if d := newStepData(short, short.Steps[0], nil); len(d.seconds) != 1 || d.seconds[0].asked != 50 {
		t.Errorf("%+v", d.seconds)
	}
}

func TestGrowth(t *testing.T) {
	s := &kasoku.Series{Points: []kasoku.Point{
		{At: 1 * time.Second, Value: 10}, {At: 2 * time.Second, Value: 30}, {At: 4 * time.Second, Value: 50}, {At: 5 * time.Second, Value: 5},
	}}
	for _, x := range []struct {
		from, to time.Duration
		want     float64
		ok       bool
	}{
		{1 * time.Second, 2 * time.Second, 20, true},
		{2 * time.Second, 3 * time.Second, 10, true}, // a missed sample: half of what it covers
		{1500 * time.Millisecond, 2 * time.Second, 10, true},
		{4 * time.Second, 5 * time.Second, 5, true}, // reset
		{0, 2 * time.Second, 20, true},
		{0, 9 * time.Second, 0, false}, // not measured to its end
	} {
		got, ok := growthOf(s).in(kasoku.Interval{From: x.from, To: x.to})
		if got != x.want || ok != x.ok {
			t.Errorf("%v to %v grew %v, %v; want %v, %v", x.from, x.to, got, ok, x.want, x.ok)
		}
	}
	if _, ok := growthOf(nil).in(kasoku.Interval{To: time.Second}); ok {
		t.Error("a series that was not recorded has grown")
	}
}

func TestGrowthAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s kasoku.Series
		at := time.Duration(0)
		for _, v := range rapid.SliceOfN(rapid.Float64Range(0, 1000), 2, 30).Draw(t, "values") {
			at += time.Duration(rapid.Int64Range(1, 3e9).Draw(t, "step"))
			s.Points = append(s.Points, kasoku.Point{At: at, Value: v})
		}
		cut := rapid.SliceOfN(rapid.Int64Range(0, int64(at)), 3, 3).Draw(t, "cuts")
		slices.Sort(cut)
		g := growthOf(&s)
		part := func(a, b int64) float64 { return g.until(time.Duration(b)) - g.until(time.Duration(a)) }
		if whole, parts := part(cut[0], cut[2]), part(cut[0], cut[1])+part(cut[1], cut[2]); math.Abs(whole-parts) > 1e-6*(1+whole) {
			t.Fatalf("the whole grew %v, its parts %v", whole, parts)
		}
		if g.until(at) < 0 {
			t.Fatal("a counter shrank")
		}
	})
}
