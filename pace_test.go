package kasoku

import (
	"math"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/histogram"
)

// paced returns a run of one step at 20 requests a second, in whose seconds requests take
// what latency says.
func paced(seconds int, latency func(second int) time.Duration) (*Recording, Step) {
	s := Step{Number: 1, PerSec: 20, Interval: Interval{From: time.Second, To: time.Duration(1+seconds) * time.Second}}
	rec := &Recording{Steps: []Step{s}}
	for n := range seconds {
		h := histogram.New()
		h.RecordN(latency(n), 20)
		rec.Seconds = append(rec.Seconds, LoadSecond{Second: 1 + n, Step: 1, Asked: 20, Codes: map[int]uint64{200: 20}, Latency: h})
	}
	return rec, s
}

// TestPace: a queue that grows throughout a step gives the rate that was kept up with, by
// the slope of its latency; nothing else does.
func TestPace(t *testing.T) {
	grows := func(slope float64) func(int) time.Duration {
		return func(n int) time.Duration {
			return time.Duration((slope*(float64(n)+0.5) + 0.05) * float64(time.Second))
		}
	}
	for name, c := range map[string]struct {
		seconds int
		latency func(int) time.Duration
		want    float64 // 0: it keeps up
	}{
		"a quarter is kept up with": {10, grows(3), 5},
		"half, over a minute":       {60, grows(1), 10},
		"a tenth is not":            {30, grows(1.0 / 9), 18},
		"slow, and no slower":       {10, func(int) time.Duration { return 5 * time.Second }, 0},
		"quick, and it doubles":     {10, grows(0.02), 0},
		"a stall near the end":      {12, func(n int) time.Duration { return time.Duration(1+n/9*40) * 100 * time.Millisecond }, 0},
		"slow at first":             {12, func(n int) time.Duration { return time.Duration(5-min(n, 4)) * time.Second }, 0},
		"too short to see":          {4, grows(3), 0},
	} {
		rec, s := paced(c.seconds, c.latency)
		got, overrun := rec.Pace(s)
		if math.Abs(got-c.want) > 0.02*c.want || overrun != (c.want > 0) {
			t.Errorf("%s: %v/s, %t; want %v/s", name, got, overrun, c.want)
		}
		if taken := rec.Taken(s); overrun == (taken == s.Interval.Len()) {
			t.Errorf("%s: requests took %s of a step of %s", name, taken, s.Interval.Len())
		}
	}
	rec, s := paced(10, grows(3))
	if s.PerSec = 0; rec.Taken(s) != s.Interval.Len() {
		t.Error("a closed loop waits for its answers")
	}
	if s.PerSec, s.PerSecTo = 10, 40; rec.Taken(s) != s.Interval.Len() {
		t.Error("a ramp asks for more each second")
	}
}
