package kasoku_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// traced returns a run of two steps of 10 s, with 100 requests a second of 10 ms, and of 30 ms where
// it was watched.
func traced(from, to time.Duration) *kasoku.Recording {
	r := &kasoku.Recording{
		Steps: []kasoku.Step{
			{Number: 1, PerSec: 100, Interval: kasoku.Interval{To: 10 * time.Second}},
			{Number: 2, PerSec: 100, Interval: kasoku.Interval{From: 11 * time.Second, To: 21 * time.Second}},
		},
		Traces: []kasoku.Trace{{Interval: kasoku.Interval{From: from, To: to}, Attach: 300 * time.Millisecond}},
	}
	for second := range 21 {
		step, took := 1, 10*time.Millisecond
		at := time.Duration(second) * time.Second
		switch {
		case second == 10:
			continue
		case second > 10:
			step = 2
		}
		if at < to && from < at+time.Second {
			took = 30 * time.Millisecond
		}
		h := histogram.New()
		for range 100 {
			h.Record(took)
		}
		r.Seconds = append(r.Seconds, kasoku.LoadSecond{Second: second, Step: step, Asked: 100,
			Codes: map[int]uint64{200: 98, 500: 2}, Latency: h})
	}
	return r
}

func TestUnjudged(t *testing.T) {
	for _, x := range []struct {
		name         string
		from, to     time.Duration
		first        []int // unjudged of step 1
		asked        uint64
		costs, score bool
	}{
		{"in one step", 5200 * time.Millisecond, 9 * time.Second, []int{4, 5, 6, 7, 8}, 500, false, false},
		{"attached in the second before", 5 * time.Second, 9500 * time.Millisecond, nil, 1000, true, false}, // 6 of 10
		{"in both", 7500 * time.Millisecond, 13500 * time.Millisecond, []int{7, 8, 9}, 700, false, false},
		{"in the pause", 10400 * time.Millisecond, 10900 * time.Millisecond, []int{}, 1000, false, false},
		{"of a score", 5200 * time.Millisecond, 9 * time.Second, []int{4, 5, 6, 7, 8}, 500, true, true},
		{"without end", 0, math.MaxInt64, []int{}, 1000, true, false}, // a damaged file
	} {
		t.Run(x.name, func(t *testing.T) {
			r := traced(x.from, x.to)
			if x.score {
				r.Run.Score = &kasoku.Score{Value: 1}
			}
			if got := slices.Sorted(maps.Keys(r.Unjudged(r.Steps[0]))); !slices.Equal(got, x.first) {
				t.Errorf("seconds %v are left out, want %v", got, x.first)
			}
			tally := r.JudgedTally(r.Steps[0])
			if tally.Asked != x.asked || tally.SuccessRatio() != 0.98 {
				t.Errorf("%d requests are judged, %v of them good; want %d, 0.98", tally.Asked, tally.SuccessRatio(), x.asked)
			}
			if whole := r.Tally(1); whole.Asked != 1000 {
				t.Errorf("the step has %d requests, want 1,000", whole.Asked)
			}
			if got := r.CostsJudged(); got != x.costs {
				t.Errorf("costs judged %v, want %v", got, x.costs)
			}
			r.Traces[0].Refused = "no rights"
			if r.CostsJudged() || len(r.Unjudged(r.Steps[0])) != 0 {
				t.Error("a trace that was refused cost nothing")
			}
		})
	}
}

// TestJudgedTally_Latency: what the watching cost is not in the latencies that are judged.
func TestJudgedTally_Latency(t *testing.T) {
	r := traced(5200*time.Millisecond, 9*time.Second)
	if got := r.JudgedTally(r.Steps[0]).Latency.Max(); got > 11*time.Millisecond {
		t.Errorf("a latency of %s is judged, in which it was watched", got)
	}
}
