package record

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
)

// handedLoads are the loads that the commands below a recording made, one after
// the other or at once, as one load of the run.
type handedLoads struct {
	reader handoverReader
	loads  []*handedLoad
	steps  int // numbers given so far
}

// A handedLoad is one of them, on the run's clock.
type handedLoad struct {
	process  int
	start    time.Duration // CLOCK_MONOTONIC
	shift    time.Duration // of its start in the run
	number   map[int]int   // of its steps in the run
	steps    []kasoku.Step
	summary  kasoku.LoadSummary
	warnings []kasoku.Warning
	phases   []kasoku.Phase
	events   []kasoku.Event
	score    *kasoku.Score
}

// take reads what the loads reported since it was called last, and returns the seconds
// that they counted. began is CLOCK_MONOTONIC at the run's start.
func (l *handedLoads) take(began time.Duration) ([]kasoku.LoadSecond, error) {
	told, err := l.reader.next()
	var out []kasoku.LoadSecond
	for _, h := range told {
		out = append(out, l.load(h, began).add(l, h)...)
	}
	return out, err
}

// load returns the load that reports, a new one when it has not reported before.
func (l *handedLoads) load(h *Handover, began time.Duration) *handedLoad {
	for _, one := range l.loads {
		if one.process == h.Process && one.start == h.StartMonotonic {
			return one
		}
	}
	one := &handedLoad{process: h.Process, start: h.StartMonotonic, shift: h.StartMonotonic - began, number: map[int]int{}}
	l.loads = append(l.loads, one)
	return one
}

// add takes what a load reported and returns its seconds as they are in the run.
// Seconds are whole seconds of the load; they take the run's second in which they
// begin.
func (one *handedLoad) add(l *handedLoads, h *Handover) []kasoku.LoadSecond {
	one.summary, one.warnings = h.Summary, h.Warnings
	one.steps = slices.Clone(h.Steps)
	for i := range one.steps {
		st := &one.steps[i]
		st.Number = one.numbered(l, st.Number)
		st.Interval.From += one.shift
		st.Interval.To += one.shift
	}
	one.phases, one.events, one.score = slices.Clone(h.Phases), slices.Clone(h.Events), h.Score
	for i := range one.phases {
		iv := &one.phases[i].Interval
		iv.From, iv.To = max(iv.From+one.shift, 0), max(iv.To+one.shift, 0)
	}
	for i := range one.events {
		one.events[i].At = max(one.events[i].At+one.shift, 0)
	}
	whole := int(one.shift.Round(time.Second) / time.Second) // less than 0 of a load that was there before
	for i := range h.Seconds {
		h.Seconds[i].Step = one.numbered(l, h.Seconds[i].Step)
		h.Seconds[i].Second += whole
	}
	return h.Seconds
}

// numbered returns the number in the run of one of the load's steps, 0 of none.
func (one *handedLoad) numbered(l *handedLoads, step int) int {
	if step == 0 {
		return 0
	}
	if one.number[step] == 0 {
		l.steps++
		one.number[step] = l.steps
	}
	return one.number[step]
}
