package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMedianAndSpread(t *testing.T) {
	nan := math.NaN()
	f := func(values []float64, median_, least, most float64) {
		t.Helper()
		before := slices.Clone(values)
		m := middleValue(values)
		lo, hi := spreadOf(values)
		for _, pair := range [][2]float64{{m, median_}, {lo, least}, {hi, most}} {
			if pair[0] != pair[1] && !(math.IsNaN(pair[0]) && math.IsNaN(pair[1])) {
				t.Errorf("%v: got %v, want %v", before, pair[0], pair[1])
			}
		}
		for i := range values {
			if values[i] != before[i] && !math.IsNaN(values[i]) {
				t.Errorf("%v was changed to %v", before, values)
			}
		}
	}
	f(nil, nan, nan, nan)
	f([]float64{nan, nan}, nan, nan, nan)
	f([]float64{3}, 3, 3, 3)
	f([]float64{5, 1, nan, 3}, 3, 1, 5)
	f([]float64{4, 1, 3, 2}, 2.5, 1, 4)
}

// A round that lacks a figure has no ratio, and is no other round's.
func TestRatios(t *testing.T) {
	got := ratiosOf([]float64{2, math.NaN(), 9, 5, 1}, []float64{1, 4, 3, 0})
	if len(got) != 4 || got[0] != 2 || !math.IsNaN(got[1]) || got[2] != 3 || !math.IsNaN(got[3]) {
		t.Errorf("got %v", got)
	}
}

func TestRank(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for q, want := range map[float64]int{0: 1, 0.005: 1, 0.5: 50, 0.9: 90, 0.99: 99, 0.991: 100, 1: 100} {
		if got := rankOf(hundred, q); got != want {
			t.Errorf("rank %v of 1..100: got %d, want %d", q, got, want)
		}
	}
	if got := rankOf([]int(nil), 0.5); got != 0 {
		t.Errorf("of none: got %d", got)
	}
}

// The theory against a server that is played through request by request.
func TestStallTheoryAgainstPlay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSec := float64(rapid.IntRange(100, 20_000).Draw(t, "rate"))
		s := stallTheory{
			PerSec:  perSec,
			Length:  time.Duration(rapid.IntRange(2, 12).Draw(t, "seconds")) * time.Second,
			For:     time.Duration(rapid.IntRange(1, 1000).Draw(t, "ms")) * time.Millisecond,
			Drained: perSec * rapid.Float64Range(1.1, 50).Draw(t, "drained"),
		}
		from, to := 1.0, 1+s.For.Seconds()
		var waits []float64
		free := 0.0 // when the server has answered all that came before
		for n := range int(perSec * s.Length.Seconds()) {
			due := float64(n) / perSec
			at := max(due, free)
			if at >= from && at < to {
				at = to
			}
			if at > due {
				free = at + 1/s.Drained // a request that waits takes its turn
			}
			waits = append(waits, at-due)
		}
		slices.Sort(waits)
		want, got := rankOf(waits, 0.99), s.p99().Seconds()
		if math.Abs(got-want) > 2/perSec+1e-9 {
			t.Errorf("%+v: theory says %v s, the play %v s", s, got, want)
		}
	})
}

func TestHalves(t *testing.T) {
	readings := []float64{100, 90, 80, 9, 8, 7, 8, 10, 9}
	if first, second := compareHalves(readings); first != 9 || second != 10 {
		t.Errorf("got %v and %v, want 9 and 10", first, second)
	}
	if first, _ := compareHalves([]float64{1}); !math.IsNaN(first) {
		t.Errorf("of one reading: got %v", first)
	}
}
