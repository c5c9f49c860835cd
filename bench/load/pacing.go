package main

import (
	"math"
	"slices"
	"time"
)

// settling is how much of the beginning does not count: connections are made then.
const settling = time.Second

// burstGap is the time between two arrivals below which they came together.
const burstGap = 10 * time.Microsecond

// A pacing defines how evenly requests came to a server.
//
// Deviations are from the grid on which one request comes each 1/rate seconds.
// Where the grid begins is chosen so that the median arrival is on it: a constant
// way from the generator to the server is not counted, bursts and drift are.
// Deviations have no sign.
type pacing struct {
	Arrivals      int           `json:"arrivals"` // that were counted
	P50           time.Duration `json:"p50_ns"`
	P90           time.Duration `json:"p90_ns"`
	P99           time.Duration `json:"p99_ns"`
	BurstRatio    float64       `json:"burst_ratio"` // of the gaps, those below burstGap
	PerMilliSigma float64       `json:"per_ms_sd"`   // standard deviation of the arrivals in one millisecond
}

// paceOf computes the pacing of arrivals, which never fall, at a rate.
func paceOf(arrivals []time.Duration, perSec float64) pacing {
	if len(arrivals) > 0 {
		begin, _ := slices.BinarySearch(arrivals, arrivals[0]+settling)
		arrivals = arrivals[begin:]
	}
	p := pacing{Arrivals: len(arrivals)}
	if len(arrivals) < 2 || perSec <= 0 {
		return p
	}
	off := make([]float64, len(arrivals))
	for i, at := range arrivals {
		off[i] = float64(at-arrivals[0]) - float64(i)/perSec*1e9
	}
	slices.Sort(off)
	middle := rankOf(off, 0.50)
	for i := range off {
		off[i] = math.Abs(off[i] - middle)
	}
	slices.Sort(off)
	p.P50, p.P90, p.P99 = time.Duration(rankOf(off, 0.50)), time.Duration(rankOf(off, 0.90)),
		time.Duration(rankOf(off, 0.99))
	p.BurstRatio, p.PerMilliSigma = burstShare(arrivals), perMilliSigma(arrivals)
	return p
}

func burstShare(arrivals []time.Duration) float64 {
	var short int
	for i := range arrivals[1:] {
		if arrivals[i+1]-arrivals[i] < burstGap {
			short++
		}
	}
	return float64(short) / float64(len(arrivals)-1)
}

// perMilliSigma counts arrivals in whole milliseconds from the first one on.
func perMilliSigma(arrivals []time.Duration) float64 {
	bins := make([]float64, int((arrivals[len(arrivals)-1]-arrivals[0])/time.Millisecond))
	if len(bins) == 0 {
		return 0
	}
	var sum float64
	for _, at := range arrivals {
		if i := int((at - arrivals[0]) / time.Millisecond); i < len(bins) {
			bins[i]++
			sum++
		}
	}
	mean := sum / float64(len(bins))
	var squares float64
	for _, n := range bins {
		squares += (n - mean) * (n - mean)
	}
	return math.Sqrt(squares / float64(len(bins)))
}
