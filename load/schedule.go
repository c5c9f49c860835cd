package load

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
)

// A Schedule defines when each request of a load is due, and to which step it
// belongs. It is immutable and safe for concurrent use.
type Schedule interface {
	// Arrivals returns the due times from the first request on. Each call gives
	// the same ones again, also when they are random.
	Arrivals() Arrivals
	// Total returns how many requests there are, about how many when arrivals are
	// random; bounded is false when the load goes on until it is stopped.
	Total() (n uint64, bounded bool)
	// Steps returns the steps, their intervals relative to the start of the load.
	Steps() []kasoku.Step
}

// Arrivals are the requests of a schedule in their order. Not for concurrent use.
type Arrivals interface {
	// Next returns when the next request is due after the start of the load, and
	// the number of the step that it belongs to; ok is false after the last one.
	// Due times never fall.
	Next() (due time.Duration, step int, ok bool)
}

// Forever is the end of a step that goes on until it is stopped.
const Forever = time.Duration(math.MaxInt64)

// maxPerSec is the highest rate that a schedule takes: two requests for each
// nanosecond, the resolution of a due time.
const maxPerSec = 2e9

// maxRequests keeps sums of counts within 64 bits.
const maxRequests = 1e18

// A Stage is a part of a [Timetable]: a time at one rate, or at a rate that
// rises or falls evenly. A stage at the rate 0 is a pause.
type Stage struct {
	For      time.Duration // Forever: until stopped, only the last stage, and no ramp
	From, To float64       // requests per second at its beginning and at its end
}

// A Timetable is a [Schedule] of stages, one after the other.
//
// Request n is due when the rate, summed up from the start, has come to n. So
// where a stage ends between two requests the next one goes on from there, and
// no stage begins with a request that is not due. Due times are computed from n
// and never added up: an interval that is cut to whole nanoseconds runs 0.04 %
// fast at 700,000/s and is zero above 1e9/s.
//
// Each stage is a step, but for pauses, in which there is nothing to judge.
type Timetable struct {
	stretches []stretch
}

var _ Schedule = (*Timetable)(nil)

// Constant returns a schedule of one step at perSec requests per second for d.
// With d = 0 it goes on until it is stopped.
func Constant(perSec float64, d time.Duration) (*Timetable, error) {
	if d == 0 {
		d = Forever
	}
	if perSec == 0 {
		return nil, badRate(perSec)
	}
	return Stages([]Stage{{For: d, From: perSec, To: perSec}})
}

// Ladder returns a schedule of one step for each rate, each step as long as
// each, with a pause after each but the last.
func Ladder(perSec []float64, each, pause time.Duration) (*Timetable, error) {
	if len(perSec) == 0 {
		return nil, errors.New("ladder: no rates")
	}
	if each <= 0 || each == Forever {
		return nil, fmt.Errorf("ladder: bad step length %s", each)
	}
	if pause < 0 {
		return nil, fmt.Errorf("ladder: bad pause %s", pause)
	}
	stages := make([]Stage, 0, 2*len(perSec))
	for i, r := range perSec {
		if r == 0 {
			return nil, badRate(r)
		}
		if i > 0 && pause > 0 {
			stages = append(stages, Stage{For: pause})
		}
		stages = append(stages, Stage{For: each, From: r, To: r})
	}
	return Stages(stages)
}

// Stages returns the schedule of the stages. A pause at the end has no effect.
func Stages(stages []Stage) (*Timetable, error) {
	t := &Timetable{stretches: make([]stretch, 0, len(stages))}
	var at time.Duration
	var done position
	for i, st := range stages {
		if err := st.check(i == len(stages)-1); err != nil {
			return nil, err
		}
		length := st.For
		if length == Forever {
			length -= at
		} else if length > Forever-1-at {
			return nil, errors.New("schedule: longer than 292 years")
		}
		if st.From > 0 || st.To > 0 {
			s := newStretch(st, at, length, done)
			if s.mass > maxRequests-float64(done.whole) && st.For < Forever {
				return nil, fmt.Errorf("schedule: more than %g requests", float64(maxRequests))
			}
			s.step = len(t.stretches) + 1
			t.stretches = append(t.stretches, s)
			done = done.add(s.mass)
		}
		at += length
	}
	if len(t.stretches) == 0 {
		return nil, errors.New("schedule: no stage with a rate")
	}
	return t, nil
}

func (st Stage) check(last bool) error {
	for _, r := range []float64{st.From, st.To} {
		if !(r >= 0 && r <= maxPerSec) {
			return badRate(r)
		}
	}
	switch {
	case st.For <= 0:
		return fmt.Errorf("schedule: bad duration %s", st.For)
	case st.For < Forever:
	case !last:
		return errors.New("schedule: only the last stage can go on until it is stopped")
	case st.From != st.To:
		return errors.New("schedule: a ramp needs an end")
	}
	return nil
}

func badRate(r float64) error {
	return fmt.Errorf("schedule: bad rate %v requests per second: want more than 0 and at most %g", r,
		float64(maxPerSec))
}

// Total returns how many requests are due.
func (t *Timetable) Total() (n uint64, bounded bool) {
	last := &t.stretches[len(t.stretches)-1]
	if last.endless() {
		return 0, false
	}
	return last.end, true
}

// Steps returns a copy of the steps.
//
// A rate of 0 in a step means that nothing was asked for, and a PerSecTo of 0
// that it is no ramp. So a ramp that begins or ends at 0 has there the rate of
// one nanosecond further inside.
func (t *Timetable) Steps() []kasoku.Step {
	out := make([]kasoku.Step, len(t.stretches))
	for i := range t.stretches {
		s := &t.stretches[i]
		st := kasoku.Step{Number: s.step, PerSec: s.rate[0],
			Interval: kasoku.Interval{From: s.from, To: s.from + s.length}}
		if !s.endless() {
			st.Planned = s.length
		}
		if s.rate[0] != s.rate[1] {
			least := s.accel * 1e-9
			st.PerSec, st.PerSecTo = max(s.rate[0], least), max(s.rate[1], least)
		}
		out[i] = st
	}
	return out
}
