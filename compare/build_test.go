package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A shape is what a test wants of one step.
type shape struct {
	perSec  float64
	seconds int
	success float64       // ratio
	median  time.Duration // latencies are log-normal around it
	spread  float64       // of the logarithm
}

// build makes a run of steps, 10 s of pause before each.
func build(label string, seed uint64, shapes ...shape) *kasoku.Recording {
	rng := rand.New(rand.NewPCG(seed, 7))
	r := &kasoku.Recording{
		Run: kasoku.Run{
			ID: "20261120-140211-" + label, Label: label, Project: "shop", Version: "0.1.0", State: kasoku.Finished,
			Started: time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC),
			Hosts:   []kasoku.Host{{Name: "lab1", Cores: 2, MemoryBytes: 4 << 30, BootID: "b1", Kernel: "6.1"}},
		},
		Load: &kasoku.LoadSummary{Targets: []string{"POST /orders"}},
	}
	at := 0
	for i, s := range shapes {
		at += 10
		r.Steps = append(r.Steps, kasoku.Step{
			Number: i + 1, PerSec: s.perSec, Planned: time.Duration(s.seconds) * time.Second,
			Interval: kasoku.Interval{From: time.Duration(at) * time.Second, To: time.Duration(at+s.seconds) * time.Second},
		})
		for range s.seconds {
			r.Seconds = append(r.Seconds, s.second(rng, at, i+1))
			at++
		}
	}
	r.Run.Length = time.Duration(at+2) * time.Second
	return r
}

func (s shape) second(rng *rand.Rand, at, step int) kasoku.LoadSecond {
	l := kasoku.LoadSecond{
		Second: at, Step: step, Target: "POST /orders", Codes: map[int]uint64{}, Errors: map[string]uint64{},
		Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New(),
	}
	for range int(s.perSec) {
		l.Asked++
		if rng.Float64() < s.success {
			l.Codes[200]++
		} else {
			l.Codes[500]++
			l.Errors["500 Internal Server Error"]++
		}
		l.Latency.Record(time.Duration(float64(s.median) * math.Exp(s.spread*rng.NormFloat64())))
		l.SendDelay.Record(time.Duration(60+rng.IntN(100)) * time.Microsecond)
	}
	return l
}

// counterSeries is a counter that grows evenly by perSec, sampled each second a
// little late.
func counterSeries(source, name, instance string, length int, perSec float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name, Instance: instance}, Kind: kasoku.Counter}
	for i := range length {
		at := time.Duration(i)*time.Second + 3*time.Millisecond
		s.Points = append(s.Points, kasoku.Point{At: at, Value: 100 + perSec*at.Seconds()})
	}
	return s
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func one(r *kasoku.Recording) []*kasoku.Recording { return []*kasoku.Recording{r} }

func within(got, low, high float64) error {
	if got < low || got > high {
		return fmt.Errorf("got %v, want %v to %v", got, low, high)
	}
	return nil
}
