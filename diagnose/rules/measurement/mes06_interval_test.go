package measurement

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// TestShortestLoad: the last slow answers of a load, after a pause, are no phase that a sample must meet.
func TestShortestLoad(t *testing.T) {
	f := func(want time.Duration, lengths ...time.Duration) {
		t.Helper()
		rec := &kasoku.Recording{}
		var at time.Duration
		for _, d := range lengths {
			rec.Phases = append(rec.Phases, kasoku.Phase{Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{From: at, To: at + d}})
			at += d + 7*time.Second
		}
		if got, _ := shortestLoad(&diagnose.Case{Recording: rec}); got != want {
			t.Errorf("%v: %v", lengths, got)
		}
	}
	f(41*time.Second, 41*time.Second, 270*time.Millisecond)
	f(41*time.Second, 4*time.Second, 41*time.Second)
	f(5*time.Second, 5*time.Second, 41*time.Second)
	f(300*time.Millisecond, 300*time.Millisecond)
}
