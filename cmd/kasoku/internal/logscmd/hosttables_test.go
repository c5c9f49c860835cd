package logscmd

import (
	"math"
	"runtime"
	"testing"
)

// TestHostWorkers: who asks has no more threads of a host, each with memory of its own, than that host has.
func TestHostWorkers(t *testing.T) {
	for asked, want := range map[int]int{-1: 0, 0: 0, 1: 1, math.MaxInt: runtime.GOMAXPROCS(0)} {
		if got := hostWorkers(asked); got != want {
			t.Errorf("%d asked: %d, want %d", asked, got, want)
		}
	}
}
