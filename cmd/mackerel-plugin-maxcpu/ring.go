package main

import (
	"math"
	"slices"
	"time"
)

const (
	// keep is how far back samples go: that of the plugin that this one replaces.
	keep = 360 * time.Second
	// least is how far back an answer goes at least: between two visits of the agent.
	least = time.Minute
	// busy is from which use on a second counts as above, in percent.
	busy = 90
	// maxAskers bounds the table of askers; the one that was heard least recently goes.
	maxAskers = 64
)

// A sample is the use of the CPUs between two readings, in percent.
type sample struct {
	At   int64     // end, Unix nanoseconds
	For  int64     // nanoseconds
	All  float64   // of all CPUs
	CPUs []float32 // by number; -1: it was not there
}

// A ring holds the samples of the last six minutes and who has asked for them. It is
// also what one sampler hands over to the next.
type ring struct {
	Samples []sample
	Askers  map[string]int64 // when each asked last, Unix nanoseconds
	Heard   int64            // when somebody asked for samples last, or the start
	Base    counters         // of the last sample
	BaseAt  int64
}

// newRing begins with a first reading.
func newRing(base counters, now time.Time) *ring {
	return &ring{Askers: map[string]int64{}, Heard: now.UnixNano(), Base: base, BaseAt: now.UnixNano()}
}

// add takes a reading. One in which no time has passed waits for the next.
func (r *ring) add(c counters, now time.Time) {
	at := now.UnixNano()
	all, ok := c.All.usage(r.Base.All)
	if !ok {
		return
	}
	s := sample{At: at, For: max(at-r.BaseAt, 0), All: all, CPUs: make([]float32, len(c.CPUs))}
	for i, t := range c.CPUs {
		s.CPUs[i] = -1
		if i < len(r.Base.CPUs) && r.Base.CPUs[i] != (ticks{}) {
			if v, ok := t.usage(r.Base.CPUs[i]); ok {
				s.CPUs[i] = float32(v)
			}
		}
	}
	r.Base, r.BaseAt = c, at
	r.Samples = append(r.Samples, s)
	old := at - keep.Nanoseconds()
	// Samples of the future are from before the clock was set back.
	r.Samples = slices.DeleteFunc(r.Samples, func(s sample) bool { return s.At <= old || s.At > at })
}

// A summary is what is printed of many samples, in percent.
type summary struct{ Max, Min, Mean, P90, P75 float64 }

// An answer is what an asker gets.
type answer struct {
	Error                  string
	Interval               time.Duration // between samples
	All, Busiest           summary
	PerCPU                 []float64     // the maximum of each; -1: none
	AllAbove, BusiestAbove time.Duration // above 90 %
}

// ask answers with all samples since the asker asked last, the last minute at least;
// the first asker gets all. Nothing is taken away.
func (r *ring) ask(asker string, now time.Time) answer {
	at := now.UnixNano()
	since := at - least.Nanoseconds()
	if last, known := r.Askers[asker]; known || len(r.Askers) == 0 {
		since = min(since, last)
	}
	r.Heard = at
	r.Askers[asker] = at
	if len(r.Askers) > maxAskers {
		oldest := asker
		for a, t := range r.Askers {
			if t < r.Askers[oldest] {
				oldest = a
			}
		}
		delete(r.Askers, oldest)
	}
	i := slices.IndexFunc(r.Samples, func(s sample) bool { return s.At > since })
	if i < 0 || len(r.Samples)-i < 2 {
		return answer{Error: "calculating now: there are not two samples yet"}
	}
	return answerOf(r.Samples[i:])
}

// answerOf adds samples up.
func answerOf(samples []sample) answer {
	var a answer
	all, busiest := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		all[i] = s.All
		for cpu, v := range s.CPUs {
			if cpu >= len(a.PerCPU) {
				a.PerCPU = append(a.PerCPU, -1)
			}
			a.PerCPU[cpu] = max(a.PerCPU[cpu], float64(v))
			busiest[i] = max(busiest[i], float64(v))
		}
		if all[i] > busy {
			a.AllAbove += time.Duration(s.For)
		}
		if busiest[i] > busy {
			a.BusiestAbove += time.Duration(s.For)
		}
	}
	a.All, a.Busiest = summarize(all), summarize(busiest)
	return a
}

// summarize sorts the values, of which there is at least one. A percentile is the
// value number round(q·n), half away from zero, counted from 1.
func summarize(values []float64) summary {
	slices.Sort(values)
	n := float64(len(values))
	at := func(q float64) float64 { return values[max(int(math.Round(q*n)), 1)-1] }
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return summary{Max: at(1), Min: values[0], Mean: sum / n, P90: at(0.90), P75: at(0.75)}
}
