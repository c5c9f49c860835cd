package accesslog

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// Waits is whether an endpoint seems to wait by design, such as a long poll
// that asks the database every 50 ms until there is news: time that it takes is
// then no work that could be saved.
type Waits struct {
	Suspect bool
	Step    time.Duration // of which the request times are multiples
	Share   float64       // of the requests, 0..1: those that lie at multiples of Step
	Reason  string        // "93 % of the requests take a multiple of 50 ms, 310 bytes on average"
}

// When an endpoint is suspected of waiting.
const (
	waitRequests = 20                     // fewer say nothing
	waitShare    = 0.8                    // of the requests lie at multiples of the step
	waitMedian   = 150 * time.Millisecond // half of them take at least that: an idle wait is worth it
	waitBytes    = 2048                   // mean size of the answer: news, no page
	waitWindow   = 0.15                   // of a step, after its multiple: what the last look takes
)

// waitSteps are the intervals at which programs look again, the longest first:
// a multiple of 1 s is one of 50 ms too.
var waitSteps = []time.Duration{
	30 * time.Second, 20 * time.Second, 10 * time.Second, 5 * time.Second, time.Second,
	500 * time.Millisecond, 250 * time.Millisecond, 200 * time.Millisecond, 100 * time.Millisecond,
	50 * time.Millisecond,
}

// waitsOf looks at the request times of a row. By chance, 15 of 100 requests lie
// within the window after a multiple; of a program that sleeps, all but those
// that find news at once do.
func waitsOf(w *row) Waits {
	if w.timed < waitRequests || w.bytes/w.count > waitBytes || w.latency.Quantile(0.5) < waitMedian {
		return Waits{}
	}
	var hits [16]uint64
	var firsts [16]uint64 // of the hits, those at the most frequent multiple
	at := map[time.Duration]uint64{}
	for i, step := range waitSteps {
		clear(at)
		window := time.Duration(float64(step) * waitWindow)
		w.latency.Each(func(lo, hi time.Duration, n uint64) {
			d := lo + (hi-lo)/2
			if d >= step-step/50 && (d+step/50)%step <= window+step/50 {
				hits[i] += n
				at[(d+step/50)/step] += n
			}
		})
		for _, n := range at {
			firsts[i] = max(firsts[i], n)
		}
	}
	for i, step := range waitSteps {
		share := float64(hits[i]) / float64(w.timed)
		// One narrow peak is how long something takes, unless it is where a
		// program gives up: whole seconds.
		if share < waitShare || step < time.Second && float64(firsts[i]) > 0.9*float64(hits[i]) {
			continue
		}
		return Waits{
			Suspect: true, Step: step, Share: share,
			Reason: fmt.Sprintf("%.0f %% of the requests take a multiple of %s, %d bytes on average", share*100,
				unit.Exact(step), w.bytes/w.count),
		}
	}
	return Waits{}
}
