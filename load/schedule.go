package load

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/kasoku/kasoku"
)

// A Schedule says when each request of a load is due, and to which step it
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
// nanosecond that a due time can tell apart.
const maxPerSec = 2e9

// maxRequests keeps sums of counts within 64 bits.
const maxRequests = 1e18

// A Timetable is a [Schedule] of steps, each at a constant rate, with pauses
// between them in which nothing is due.
//
// Due times are computed from n and never added up: an interval that is cut to
// whole nanoseconds runs 0.04 % fast at 700,000/s and is zero above 1e9/s.
type Timetable struct {
	steps []stretch
}

type stretch struct {
	kasoku.Step
	first uint64 // number of the first request of the step
	count uint64 // requests of the step; math.MaxUint64 when it has no end
}

var _ Schedule = (*Timetable)(nil)

// Constant returns a schedule of one step at perSec requests per second for d.
// With d = 0 it goes on until it is stopped.
func Constant(perSec float64, d time.Duration) (*Timetable, error) {
	if d == 0 {
		d = Forever
	}
	return build([]float64{perSec}, d, 0)
}

// Ladder returns a schedule of one step for each rate, each step as long as
// each, with a pause after each but the last.
func Ladder(perSec []float64, each, pause time.Duration) (*Timetable, error) {
	if len(perSec) == 0 {
		return nil, errors.New("ladder: no rates")
	}
	if each <= 0 {
		return nil, fmt.Errorf("ladder: bad step length %s", each)
	}
	if pause < 0 {
		return nil, fmt.Errorf("ladder: bad pause %s", pause)
	}
	if n := time.Duration(len(perSec)); each > Forever/n/2 || pause > Forever/n/2 {
		return nil, fmt.Errorf("ladder: %d steps of %s do not fit into 292 years", n, each)
	}
	return build(perSec, each, pause)
}

// Closed returns the schedule of a closed loop: as many requests as the cap on
// requests in flight lets through, each due when the one before it in its place
// has ended, for d; with d = 0 until it is stopped. Its one step has the rate 0.
// Latency under a closed loop has no send delay in it and says little of what
// users would see; it finds the highest throughput.
func Closed(d time.Duration) (*ClosedLoop, error) {
	if d < 0 {
		return nil, fmt.Errorf("closed loop: bad duration %s", d)
	}
	if d == 0 {
		d = Forever
	}
	return &ClosedLoop{End: d}, nil
}

// A ClosedLoop is the [Schedule] of a closed loop. Engines know it by its type
// and keep as many users as the cap on requests in flight: each sends a request,
// waits for the answer, thinks, and sends the next one.
type ClosedLoop struct {
	End time.Duration // no request is sent from then on; Forever: until stopped
	// Each user waits a time between these two, drawn evenly, after each answer.
	ThinkMin, ThinkMax time.Duration
}

var _ Schedule = (*ClosedLoop)(nil)

// Arrivals gives nothing: when a request is due depends on the answers.
func (c *ClosedLoop) Arrivals() Arrivals { return noArrivals{} }

type noArrivals struct{}

func (noArrivals) Next() (time.Duration, int, bool) { return 0, 0, false }

// Total returns false: how many requests there will be depends on the answers.
func (c *ClosedLoop) Total() (uint64, bool) { return 0, false }

// Steps returns the one step, of rate 0.
func (c *ClosedLoop) Steps() []kasoku.Step {
	step := kasoku.Step{Number: 1, Interval: kasoku.Interval{To: c.End}}
	if c.End < Forever {
		step.Planned = c.End
	}
	return []kasoku.Step{step}
}

func build(rates []float64, each, pause time.Duration) (*Timetable, error) {
	if each < 0 {
		return nil, fmt.Errorf("schedule: bad duration %s", each)
	}
	t := &Timetable{steps: make([]stretch, 0, len(rates))}
	var at time.Duration
	var first uint64
	for i, r := range rates {
		if !(r > 0 && r <= maxPerSec) {
			return nil, fmt.Errorf("schedule: bad rate %v requests per second: want more than 0 and at most %g", r, float64(maxPerSec))
		}
		if each < Forever && r*each.Seconds() > maxRequests-float64(first) {
			return nil, fmt.Errorf("schedule: more than %g requests", float64(maxRequests))
		}
		s := stretch{first: first, count: countIn(r, each)}
		s.Step = kasoku.Step{Number: i + 1, PerSec: r, Interval: kasoku.Interval{From: at, To: Forever}}
		if each < Forever {
			s.Interval.To, s.Planned = at+each, each
		}
		t.steps = append(t.steps, s)
		first += s.count
		at += each + pause
	}
	return t, nil
}

// countIn returns how many requests at perSec are due in d, the first one at 0.
// A product that differs from a whole number only by rounding is that number:
// 10 per minute for a minute is 10, although 10.0/60*60 need not be.
func countIn(perSec float64, d time.Duration) uint64 {
	if d == Forever {
		return math.MaxUint64
	}
	x := perSec * d.Seconds()
	if r := math.Round(x); r >= 1 && math.Abs(x-r) <= 1e-9*r {
		return uint64(r)
	}
	return uint64(math.Ceil(x))
}

// Arrivals returns the due times.
func (t *Timetable) Arrivals() Arrivals { return &timetableArrivals{t: t} }

type timetableArrivals struct {
	t *Timetable
	n uint64
}

func (a *timetableArrivals) Next() (time.Duration, int, bool) {
	if total, bounded := a.t.Total(); bounded && a.n >= total {
		return 0, 0, false
	}
	s := a.t.at(a.n)
	due := a.t.due(a.n)
	a.n++
	return due, s.Number, true
}

// due returns when request n is due. Numbers beyond the last request go on at
// the rate of the last step.
func (t *Timetable) due(n uint64) time.Duration {
	s := t.at(n)
	ns := float64(n-s.first) / s.PerSec * float64(time.Second)
	ns += ns * 0x1p-52 // what the two roundings may have taken, so that 2.01 s is not 2.009999999 s
	if ns >= float64(Forever-s.Interval.From) {
		return Forever
	}
	return s.Interval.From + time.Duration(ns)
}

// Total returns how many requests are due.
func (t *Timetable) Total() (n uint64, bounded bool) {
	last := &t.steps[len(t.steps)-1]
	if last.Interval.To == Forever {
		return 0, false
	}
	return last.first + last.count, true
}

// Steps returns a copy of the steps.
func (t *Timetable) Steps() []kasoku.Step {
	out := make([]kasoku.Step, len(t.steps))
	for i := range t.steps {
		out[i] = t.steps[i].Step
	}
	return out
}

func (t *Timetable) at(n uint64) *stretch {
	i := sort.Search(len(t.steps), func(i int) bool { return n < t.steps[i].first+t.steps[i].count })
	return &t.steps[min(i, len(t.steps)-1)]
}
