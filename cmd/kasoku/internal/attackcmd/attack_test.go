package attackcmd

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestDueBy(t *testing.T) {
	f := func(s kasoku.Step, at time.Duration, rate, due float64) {
		t.Helper()
		if got := rateAt(s, at); math.Abs(got-rate) > 1e-6 {
			t.Errorf("at %s the rate is %v, want %v", at, got, rate)
		}
		if got := dueBy(s, at); math.Abs(got-due) > 1e-5 {
			t.Errorf("by %s are due %v, want %v", at, got, due)
		}
	}
	flat := kasoku.Step{PerSec: 10, Interval: kasoku.Interval{From: time.Second, To: 3 * time.Second}}
	f(flat, time.Second, 10, 0)
	f(flat, 2*time.Second, 10, 10)
	f(flat, 9*time.Second, 0, 20)
	ramp := kasoku.Step{PerSec: 0, PerSecTo: 100, Interval: kasoku.Interval{To: 10 * time.Second}}
	f(ramp, 5*time.Second, 50, 125)
	f(ramp, 20*time.Second, 0, 500)
}

// TestIssued: a load that is stopped has the steps that began before, not those that
// would have while its last answers were waited for.
func TestIssued(t *testing.T) {
	step := func(n, from, to int) kasoku.Step {
		return kasoku.Step{Number: n, Interval: kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}}
	}
	steps := []kasoku.Step{step(1, 0, 10), step(2, 10, 20)}
	f := func(sum kasoku.LoadSummary, now time.Duration, want ...kasoku.Step) {
		t.Helper()
		if got := stepsBegun(steps, false, issuedFor(&sum, now)); !slices.Equal(got, want) {
			t.Errorf("steps are %+v, want %+v", got, want)
		}
	}
	f(kasoku.LoadSummary{}, 11*time.Second, step(1, 0, 10), step(2, 10, 11))
	f(kasoku.LoadSummary{Stopped: "interrupt", StoppedAt: 9 * time.Second}, 11*time.Second, step(1, 0, 9))
}
