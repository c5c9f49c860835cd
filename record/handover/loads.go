package handover

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/record/mask"
)

// Loads follows the loads that other processes of this host hand over in one file, one
// after the other or at once, as one load whose steps have numbers of their own. Not for
// concurrent use.
type Loads struct {
	reader reader
	began  time.Duration // CLOCK_MONOTONIC at the beginning from which times count
	loads  []*Load
	steps  int     // numbers given so far
	choice *Choice // nil: all are taken
}

// A Load is one of them, with times since the beginning that [NewLoads] was given.
type Load struct {
	Steps    []kasoku.Step
	Places   []string // where its requests go, as far as it says
	Summary  kasoku.LoadSummary
	Warnings []kasoku.Warning
	Phases   []kasoku.Phase
	Events   []kasoku.Event
	Score    *kasoku.Score // nil of a load that gives none, or not yet

	project string
	process int
	start   time.Duration // CLOCK_MONOTONIC
	shift   time.Duration // of its start in the run
	number  map[int]int   // of its steps in the run
}

// NewLoads reads from the file, which may not be there yet; the loads' times are
// given since start, which must have a monotonic reading.
func NewLoads(path string, start time.Time) (*Loads, error) {
	began, err := monotonic(start)
	if err != nil {
		return nil, err
	}
	return &Loads{reader: reader{path: path}, began: began}, nil
}

// Choose leaves out the loads that are not the choice.
func (l *Loads) Choose(c *Choice) { l.choice = c }

// Take returns the seconds that were counted since it was called last, with secrets
// masked, and an error of what could not be read.
func (l *Loads) Take() ([]kasoku.LoadSecond, error) {
	seconds, err := l.take()
	return mask.Seconds(seconds), err
}

// All returns the loads so far, in the order in which they reported first. They are
// valid until the next Take.
func (l *Loads) All() []*Load { return l.loads }

// Steps returns the steps of all loads so far, of those that are the choice, in the order
// of their beginning.
func (l *Loads) Steps() (steps []kasoku.Step) {
	for _, one := range l.loads {
		if l.choice.Of(one.project) {
			steps = append(steps, one.Steps...)
		}
	}
	return steps
}

func (l *Loads) take() ([]kasoku.LoadSecond, error) {
	reports, err := l.reader.next()
	var out []kasoku.LoadSecond
	for _, h := range reports {
		for _, s := range l.loadOf(h).add(l, h) {
			if l.choice.Takes(h.Project, h.Places, s.Second) {
				out = append(out, s)
			}
		}
	}
	return out, err
}

// loadOf returns the load that reports, a new one when it has not reported before.
func (l *Loads) loadOf(h *Report) *Load {
	for _, one := range l.loads {
		if one.process == h.Process && one.start == h.StartMonotonic {
			return one
		}
	}
	one := &Load{project: h.Project, process: h.Process, start: h.StartMonotonic, shift: h.StartMonotonic - l.began, number: map[int]int{}}
	l.loads = append(l.loads, one)
	return one
}

// add takes what a load reported and returns its seconds as they are in the run.
// Seconds are whole seconds of the load; they take the run's second in which they
// begin.
func (one *Load) add(l *Loads, h *Report) []kasoku.LoadSecond {
	one.Places, one.Summary, one.Warnings = h.Places, h.Summary, h.Warnings
	one.Steps = slices.Clone(h.Steps)
	for i := range one.Steps {
		st := &one.Steps[i]
		st.Number = one.numbered(l, st.Number)
		st.Interval.From += one.shift
		st.Interval.To += one.shift
	}
	one.Phases, one.Events, one.Score = slices.Clone(h.Phases), slices.Clone(h.Events), h.Score
	for i := range one.Phases {
		iv := &one.Phases[i].Interval
		iv.From, iv.To = max(iv.From+one.shift, 0), max(iv.To+one.shift, 0)
	}
	for i := range one.Events {
		one.Events[i].At = max(one.Events[i].At+one.shift, 0)
	}
	whole := int(one.shift.Round(time.Second) / time.Second) // less than 0 of a load that was there before
	for i := range h.Seconds {
		h.Seconds[i].Step = one.numbered(l, h.Seconds[i].Step)
		h.Seconds[i].Second += whole
	}
	return h.Seconds
}

// numbered returns the number in the run of one of the load's steps, 0 of none.
func (one *Load) numbered(l *Loads, step int) int {
	if step == 0 {
		return 0
	}
	if one.number[step] == 0 {
		l.steps++
		one.number[step] = l.steps
	}
	return one.number[step]
}
