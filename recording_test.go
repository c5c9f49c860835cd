package kasoku_test

import (
	"testing"

	"github.com/kasoku/kasoku"
)

func TestFirstBroken(t *testing.T) {
	f := func(want int, ratios ...float64) {
		t.Helper()
		if got := kasoku.FirstBroken(ratios); got != want {
			t.Fatalf("FirstBroken(%v) = %d, want %d", ratios, got, want)
		}
	}
	f(-1)
	f(-1, 1, 0.99, 1)
	f(1, 1, 0.989, 0.97)
	f(2, 1, 0.989, 0.949, 0.3)
	f(0, 0.2, 1)
}
