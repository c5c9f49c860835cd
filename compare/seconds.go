package compare

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A bin counts the requests of one second that fell into one bucket of a
// histogram; at indexes the values of the step's table.
type bin struct {
	at int
	n  float64
}

// A second is what one second of a step counted: the unit that the bootstrap
// draws.
type second struct {
	length   float64 // seconds; the first and the last one of a step may be cut
	asked    float64
	success  float64 // with bots that were refused on purpose
	answered float64 // with a latency, errors included
	latency  float64 // sum of latencies, s
	bins     []bin
	sends    []bin     // send delays
	counters []float64 // growth of each counter of the step, in its own unit
}

// A stepData holds one step of one run, second by second.
type stepData struct {
	run     *kasoku.Recording
	step    kasoku.Step
	tally   *kasoku.Tally
	seconds []second
	values  []float64 // of a latency bin, s, ascending
	delays  []float64 // of a send-delay bin, s, ascending
	known   []bool    // which counters were measured in the whole step
	// spilled: many of its requests were answered after it, so what was counted in its time is
	// of fewer requests than were due in it.
	spilled bool
}

// spilledShare is the part of a step's answers that may come after it.
const spilledShare = 0.05

// newStepData cuts a step into its seconds, those that it is judged by
// ([kasoku.Recording.Unjudged]). A second of which the step holds less than half is
// joined to its neighbour, so that each drawn unit carries about the same weight.
func newStepData(run *kasoku.Recording, step kasoku.Step, counters []counter) *stepData {
	d := &stepData{run: run, step: step, tally: run.JudgedTally(step)}
	unjudged := run.Unjudged(step)
	windows := slices.DeleteFunc(wholeSeconds(step.Interval), func(iv kasoku.Interval) bool {
		return unjudged[int((iv.From+iv.Len()/2)/time.Second)] // a joined one lies mostly in its own second
	})
	if len(windows) == 0 { // a step of hardly more than one second
		windows, unjudged = wholeSeconds(step.Interval), nil
	}
	d.seconds = make([]second, len(windows))
	lat, send := newTable(d.tally.Latency), newTable(d.tally.SendDelay)
	d.values, d.delays = lat.values(), send.values()
	var after, all uint64
	for i := range run.Seconds {
		s := &run.Seconds[i]
		if s.Step == step.Number && !unjudged[s.Second] {
			left := step.Interval.To - time.Duration(s.Second)*time.Second
			after += s.Latency.CountBetween(max(left, time.Second), math.MaxInt64)
			all += s.Latency.Count()
			to := &d.seconds[windowAt(windows, s.Second)]
			addSecond(to, s, lat, send)
			to.success += d.tally.RefusedOf(s)
		}
	}
	d.spilled = float64(after) > spilledShare*float64(all)
	d.known = make([]bool, len(counters))
	for i, w := range windows {
		d.seconds[i].length = w.Len().Seconds()
		d.seconds[i].counters = make([]float64, len(counters))
	}
	for c := range counters {
		g := counters[c].growth(run)
		_, d.known[c] = g.in(step.Interval)
		for i := range windows {
			d.seconds[i].counters[c], _ = g.in(windows[i])
		}
	}
	return d
}

func addSecond(to *second, s *kasoku.LoadSecond, lat, send table) {
	to.asked += float64(s.Asked)
	to.success += float64(s.Good())
	to.answered += float64(s.Latency.Count())
	to.latency += s.Latency.Mean().Seconds() * float64(s.Latency.Count())
	to.bins = lat.add(to.bins, s.Latency)
	to.sends = send.add(to.sends, s.SendDelay)
}

// mostSeconds is the longest step that is cut into seconds: a damaged file may say
// anything.
const mostSeconds = 1e6

// wholeSeconds cuts an interval at the whole seconds of the run's clock.
func wholeSeconds(iv kasoku.Interval) []kasoku.Interval {
	var out []kasoku.Interval
	if iv.To.Seconds()-iv.From.Seconds() > mostSeconds {
		return []kasoku.Interval{iv}
	}
	for from := iv.From; from < iv.To; {
		to := min(from.Truncate(time.Second)+time.Second, iv.To)
		out = append(out, kasoku.Interval{From: from, To: to})
		from = to
	}
	half := func(w kasoku.Interval) bool { return w.Len() < time.Second/2 }
	if n := len(out); n > 1 && half(out[n-1]) {
		out[n-2].To = out[n-1].To
		out = out[:n-1]
	}
	if len(out) > 1 && half(out[0]) {
		out[1].From = out[0].From
		out = out[1:]
	}
	if len(out) == 0 {
		out = []kasoku.Interval{iv}
	}
	return out
}

// windowAt returns the index of the window in which a second of the run's clock
// began; a second that began before the first window or after the last belongs
// to that one.
func windowAt(ws []kasoku.Interval, sec int) int {
	at := time.Duration(sec) * time.Second
	i := sort.Search(len(ws), func(i int) bool { return ws[i].To > at })
	return min(i, len(ws)-1)
}

// A table numbers the buckets that a step's histogram filled.
type table struct {
	lows     []time.Duration
	middle   []float64 // s
	min, max time.Duration
}

func newTable(h *histogram.Histogram) table {
	t := table{min: h.Min(), max: h.Max()}
	h.Each(func(lo, hi time.Duration, _ uint64) {
		t.lows = append(t.lows, lo)
		mid := min(max(lo+(hi-lo-1)/2, t.min), t.max)
		t.middle = append(t.middle, mid.Seconds())
	})
	return t
}

func (t table) values() []float64 { return t.middle }

// add appends the counts of a histogram whose durations are all in the table.
func (t table) add(to []bin, h *histogram.Histogram) []bin {
	h.Each(func(lo, _ time.Duration, n uint64) {
		at := sort.Search(len(t.lows), func(i int) bool { return t.lows[i] >= lo })
		if at < len(t.lows) {
			to = append(to, bin{at, float64(n)})
		}
	})
	return to
}

// stepsOf cuts the same step of several runs.
func stepsOf(runs []*kasoku.Recording, steps []kasoku.Step, counters []counter) []*stepData {
	out := make([]*stepData, len(runs))
	for i, run := range runs {
		out[i] = newStepData(run, steps[i], counters)
	}
	return out
}
