package main

import (
	"math"
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
