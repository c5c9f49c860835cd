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
	Askers  map[string]asker
	Heard   int64    // when somebody asked for samples last, or the start
	Base    counters // of the last sample
	BaseAt  int64
}

// An asker is somebody who asks for samples again and again.
type asker struct {
	Heard    int64         // when it asked last, Unix nanoseconds
	Interval time.Duration // between samples, as it wanted it then
}

// newRing begins with a first reading.
func newRing(base counters, now time.Time) *ring {
	return &ring{Askers: map[string]asker{}, Heard: now.UnixNano(), Base: base, BaseAt: now.UnixNano()}
}

// add takes a reading. One in which no time has passed waits for the next.
func (r *ring) add(c counters, now time.Time) {
	at := now.UnixNano()
	all, ok := c.All.usage(r.Base.All)
	if !ok {
		return
	}
	s := sample{At: at, For: r.since(c, at), All: all, CPUs: make([]float32, len(c.CPUs))}
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

// since is how long ago the last reading was, by the clock. When the clock has been set
// forward it is what the CPUs have counted; when it has been set back, nothing.
func (r *ring) since(c counters, at int64) int64 {
	wall := max(at-r.BaseAt, 0)
	if len(c.CPUs) == 0 {
		return wall
	}
	counted := c.All.since(r.Base.All) * int64(10*time.Millisecond) / int64(len(c.CPUs))
	if wall > 2*counted+int64(time.Second) {
		return counted
	}
	return wall
}

// A summary is what is printed of many samples, in percent.
type summary struct{ Max, Min, Mean, P90, P75 float64 }

// An answer is what an asker gets.
type answer struct {
	Error                  string
	All, Busiest           summary
	PerCPU                 []float64     // the maximum of each; -1: none
	AllAbove, BusiestAbove time.Duration // above 90 %
}

// ask answers with all samples since the asker asked last, the last minute at least;
// the first asker gets all. Nothing is taken away.
func (r *ring) ask(id string, interval time.Duration, now time.Time) answer {
	at := now.UnixNano()
	since := at - least.Nanoseconds()
	if last, known := r.Askers[id]; known || len(r.Askers) == 0 {
		since = min(since, last.Heard)
	}
	r.Heard = at
	r.Askers[id] = asker{at, interval}
	if len(r.Askers) > maxAskers {
		oldest := id
		for a, other := range r.Askers {
			if other.Heard < r.Askers[oldest].Heard {
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

// interval is the shortest that an asker who is still there wanted when it asked last;
// 0 when there is none.
func (r *ring) interval(now time.Time) time.Duration {
	shortest := time.Duration(0)
	for id, a := range r.Askers {
		a.Heard = min(a.Heard, now.UnixNano()) // the clock may have been set back
		r.Askers[id] = a
		if now.UnixNano()-a.Heard <= maxIdle.Nanoseconds() && (shortest == 0 || a.Interval < shortest) {
			shortest = a.Interval
		}
	}
	return shortest
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
