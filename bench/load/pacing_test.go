package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// grid returns the due times of seconds at a rate, each moved by f.
func grid(perSec float64, length time.Duration, f func(due time.Duration) time.Duration) []time.Duration {
	out := make([]time.Duration, int(perSec*length.Seconds()))
	for i := range out {
		due := time.Duration(float64(i) / perSec * 1e9)
		out[i] = due + f(due)
	}
	return out
}

func TestPaceOfAPerfectGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSec := rapid.Float64Range(2_000, 50_000).Draw(t, "rate")
		way := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "way"))
		p := paceOf(grid(perSec, 2*time.Second, func(time.Duration) time.Duration { return way }), perSec)
		if p.P99 > time.Microsecond || p.BurstRatio > 0 || p.PerMilliSigma > 0.51 {
			t.Errorf("%v/s: %+v", perSec, p)
		}
		if want := perSec; math.Abs(float64(p.Arrivals)-want) > 2 {
			t.Errorf("%v/s: %d arrivals counted of 2 s, want those of the last one, %.0f", perSec, p.Arrivals, want)
		}
	})
}

// Requests that are kept until the next whole millisecond are late by 0 to 1 ms,
// evenly: 0 to 0.5 ms to either side of the middle.
func TestPaceOfMilliseconds(t *testing.T) {
	const perSec = 20_000
	p := paceOf(grid(perSec, 3*time.Second, func(due time.Duration) time.Duration {
		return due.Truncate(time.Millisecond) + time.Millisecond - due
	}), perSec)
	near := func(name string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	near("p50", inMicros(p.P50), 250, 26)
	near("p90", inMicros(p.P90), 450, 26)
	near("p99", inMicros(p.P99), 500, 26)
	near("bursts", p.BurstRatio, 19.0/20, 0.01)
	near("in a ms", p.PerMilliSigma, 0, 0.5)
}

// Of a normal distribution half is within 0.674 sigma and 99 % within 2.576.
func TestPaceOfJitter(t *testing.T) {
	const perSec = 5_000
	random := rand.New(rand.NewPCG(1, 2))
	p := paceOf(grid(perSec, 3*time.Second, func(time.Duration) time.Duration {
		return time.Duration(random.NormFloat64() * 10_000)
	}), perSec)
	if p50, p99 := inMicros(p.P50), inMicros(p.P99); math.Abs(p50-6.74) > 0.5 || math.Abs(p99-25.8) > 2 {
		t.Errorf("sigma 10 µs: p50 %v, p99 %v", p50, p99)
	}
}

// A generator that runs fast drifts away from the grid.
func TestPaceOfDrift(t *testing.T) {
	const perSec = 5_000
	p := paceOf(grid(perSec*1.001, 3*time.Second, func(time.Duration) time.Duration { return 0 }), perSec)
	if ms := float64(p.P99) / 1e6; ms < 0.9 || ms > 1.1 {
		t.Errorf("0.1 %% fast over 2 s: p99 %v ms, want 1", ms)
	}
}

func TestPaceOfLittle(t *testing.T) {
	for _, arrivals := range [][]time.Duration{nil, {5}, {5, 6}, {5, 2 * time.Second}, {5, 2 * time.Second,
		2 * time.Second}} {
		if p := paceOf(arrivals, 100); p.P99 < 0 || math.IsNaN(p.PerMilliSigma) || math.IsNaN(p.BurstRatio) {
			t.Errorf("%v: %+v", arrivals, p)
		}
	}
}
