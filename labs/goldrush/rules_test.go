package goldrush_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
)

// TestValues: the table that was published of seed 42, whose best depth is 3.
func TestValues(t *testing.T) {
	r := goldrush.Published()
	if got, want := r.Values(3), []int{4, 9, 15, 19, 22, 24, 26, 28, 29, 30}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCost: the staircase of explorations, at whose steps 3, 7 and 15 cells cost as little
// as 2, 4 and 8; digs; cash.
func TestCost(t *testing.T) {
	r := goldrush.Published()
	f := func(q goldrush.Request, want time.Duration) {
		t.Helper()
		if got := r.Cost(&q); got != want {
			t.Errorf("%+v costs %s, want %s", q, got, want)
		}
	}
	for cells, want := range map[int]float64{0: 0.5, 1: 0.5, 2: 0.5, 3: 0.5, 4: 1, 7: 1, 8: 1.5, 10: 1.5, 15: 1.5, 16: 2,
		1023: 4.5, 1024: 5, 3500 * 3500: 11.5} {
		f(goldrush.Request{Call: goldrush.Explore, Area: goldrush.Area{SizeX: cells, SizeY: 1}},
			time.Duration(want*float64(time.Millisecond)))
	}
	f(goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{Depth: 1}}, time.Millisecond)
	f(goldrush.Request{Call: goldrush.Dig, Hole: goldrush.Hole{Depth: 10}}, 1900*time.Microsecond)
	f(goldrush.Request{Call: goldrush.Cash}, 10*time.Millisecond)
	f(goldrush.Request{Call: goldrush.Issue}, 0)
	f(goldrush.Request{Call: goldrush.Balance}, 0)
}

// TestDigs: what a licence allows for so many coins.
func TestDigs(t *testing.T) {
	for coins, want := range map[int][2]int{0: {3, 0}, 1: {5, 0}, 5: {5, 0}, 6: {10, 0}, 10: {10, 0}, 11: {20, 9},
		20: {20, 9}, 21: {40, 9}, 1000: {40, 9}} {
		if least, more := goldrush.Digs(coins); least != want[0] || more != want[1] {
			t.Errorf("%d coins: %d and up to %d more, want %v", coins, least, more, want)
		}
	}
}
