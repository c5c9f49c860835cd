// Package sample builds the recordings that the goldens of report and its children
// show: one run that breaks at 1,000 requests/s, one after its fix, and the changes
// tried between them. All figures are made up, agree with each other and never
// change; they are those of the project's design. Only tests import it.
package sample

import (
	"math"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// JST is the zone of the goldens.
var JST = time.FixedZone("JST", 9*3600)

// Started is when the run before began.
var Started = time.Date(2026, 11, 20, 14, 2, 11, 0, JST)

// Length is how long both runs are.
const Length = 42 * time.Second

const target = "POST /users"

// per is what one second of a step counted.
type per struct {
	second             int
	asked, ok          int
	p50, p95, p99, max float64 // ms
}

// load builds the seconds of one step.
func load(step int, rows []per, code int, message string) []kasoku.LoadSecond {
	var out []kasoku.LoadSecond
	for _, r := range rows {
		s := kasoku.LoadSecond{
			Second: r.second, Step: step, Target: target, Asked: uint64(r.asked),
			Codes: map[int]uint64{201: uint64(r.ok)}, Errors: map[string]uint64{},
			Latency: latencies(r), SendDelay: delays(r.asked), Service: latencies(r),
			BytesIn: uint64(r.asked) * 17, BytesOut: uint64(r.asked) * 180,
		}
		if failed := r.asked - r.ok; failed > 0 {
			s.Codes[code] = uint64(failed)
			s.Errors[message] = uint64(failed)
		}
		out = append(out, s)
	}
	return out
}

// latencies spreads a second's requests so that their percentiles are those asked
// for: straight between them on a log scale.
func latencies(r per) *histogram.Histogram {
	h := histogram.New()
	qs := []float64{0, 0.5, 0.95, 0.99, 1}
	vs := []float64{r.p50 / 3, r.p50, r.p95, r.p99, r.max}
	for i := range r.asked {
		q := float64(i+1) / float64(r.asked)
		k, _ := slices.BinarySearch(qs, q)
		k = max(k, 1)
		share := (q - qs[k-1]) / (qs[k] - qs[k-1])
		ms := math.Exp(math.Log(vs[k-1]) + share*math.Log(vs[k]/vs[k-1]))
		h.Record(time.Duration(ms * float64(time.Millisecond)))
	}
	return h
}

// delays are those of a generator that is on time: p50 0.06 ms, p99 0.21 ms.
func delays(n int) *histogram.Histogram {
	h := histogram.New()
	for i := range n {
		q := float64(i+1) / float64(n)
		us := 40 + 40*q
		if q > 0.98 {
			us = 210
		}
		h.Record(time.Duration(us * float64(time.Microsecond)))
	}
	return h
}

// steps are those of the ladder 10, 100, 1,000 req/s, 10 s each with 3 s between.
func steps() []kasoku.Step {
	var out []kasoku.Step
	for i, rate := range []float64{10, 100, 1000} {
		from := time.Duration(2+13*i) * time.Second
		out = append(out, kasoku.Step{Number: i + 1, PerSec: rate, Planned: 10 * time.Second,
			Interval: kasoku.Interval{From: from, To: from + 10*time.Second}})
	}
	return out
}

// tick is when the sample of second i was taken.
func tick(i int) time.Duration { return time.Duration(i)*time.Second + 100*time.Microsecond }

// counter is a counter that grows by vs[i] during second i.
func counter(source, name, instance, unit string, vs []float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Host: "lab1", Source: source, Name: name, Instance: instance},
		Kind: kasoku.Counter, Unit: unit}
	sum := 1000.0
	s.Points = append(s.Points, kasoku.Point{At: tick(0), Value: sum})
	for i, v := range vs {
		sum += v
		s.Points = append(s.Points, kasoku.Point{At: tick(i + 1), Value: sum})
	}
	return s
}

// gauge has vs[i] in the middle of second i.
func gauge(source, name, instance, unit string, vs []float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Host: "lab1", Source: source, Name: name, Instance: instance}, Unit: unit}
	for i, v := range vs {
		s.Points = append(s.Points, kasoku.Point{At: tick(i) + time.Second/2, Value: v})
	}
	return s
}

// without removes the points whose second is in missed, as a source that was late
// leaves them out.
func without(s kasoku.Series, missed ...int) kasoku.Series {
	s.Points = slices.DeleteFunc(s.Points, func(p kasoku.Point) bool {
		return slices.Contains(missed, int(p.At/time.Second))
	})
	return s
}

// level is n times the same value.
func level(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// scaled multiplies.
func scaled(vs []float64, by float64) []float64 {
	out := slices.Clone(vs)
	for i := range out {
		out[i] *= by
	}
	return out
}

func total(vs ...[]float64) []float64 {
	out := make([]float64, len(vs[0]))
	for _, v := range vs {
		for i := range v {
			out[i] += v[i]
		}
	}
	return out
}

func host() kasoku.Host {
	return kasoku.Host{
		Name: "lab1", Cores: 2, MemoryBytes: 4 << 30, OS: "Debian GNU/Linux 12 (bookworm)", Kernel: "6.1.0-26-amd64",
		Arch:   "amd64",
		BootID: "8f1c2a9e",
	}
}

func setting(name, value string) kasoku.Setting {
	return kasoku.Setting{Host: "lab1", Scope: "mysql", Name: name, Value: value}
}

// histogramOf has n durations around a median, up to a maximum.
func histogramOf(n int, p50, p95, p99, most float64) *histogram.Histogram {
	return latencies(per{asked: n, p50: p50, p95: p95, p99: p99, max: most})
}
