package scenario

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/load"
)

// Arrivals are requests that come when they are due, however long answers take.
type Arrivals struct {
	Name        string // with the number it decides on a worker's random numbers
	Schedule    load.Schedule
	MaxInFlight int // at once; those that are due then wait, which their latency includes; 0: [load.MaxInFlight]
	// Do is called for each, on a goroutine of its own. Worker.Number is the number of
	// the arrival, and [Due] of the context gives its due time. Its error is given to
	// [Step.Fail].
	Do func(context.Context, *Worker) error
}

// Arrive starts an open loop beside the workers, with the clock of its schedule, and
// returns at once. What is due and cannot start before the phase is over is recorded
// under the name of the arrivals as not sent.
func (s *Step) Arrive(ctx context.Context, a Arrivals) {
	if a.MaxInFlight == 0 {
		a.MaxInFlight = load.MaxInFlight()
	}
	o := &openLoop{Arrivals: a, step: s, ctx: s.within(ctx), start: time.Now(),
		free: make(chan struct{}, a.MaxInFlight)}
	s.run.open.add(a.MaxInFlight)
	s.crew.start(func() {
		defer s.recovered()
		o.pace()
	})
}

// An openLoop starts arrivals when they are due.
type openLoop struct {
	Arrivals
	step  *Step
	ctx   context.Context
	start time.Time
	free  chan struct{} // full when as many as may be are in flight
}

func (o *openLoop) pace() {
	arrivals := o.Schedule.Arrivals()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; ; n++ {
		after, _, ok := arrivals.Next()
		if !ok {
			return
		}
		due := o.start.Add(after)
		if !o.wait(timer, due) {
			o.abandon(arrivals, due)
			return
		}
		o.step.run.open.took(1)
		o.step.Go(o.ctx, func(ctx context.Context) error {
			defer func() {
				o.step.run.open.took(-1)
				<-o.free
			}()
			return o.Do(context.WithValue(ctx, dueKey{}, &arrival{due: due}), o.step.worker(o.Name, n))
		})
	}
}

// wait returns when an arrival is due and may start, false when the phase ended before.
func (o *openLoop) wait(timer *time.Timer, due time.Time) bool {
	if left := time.Until(due); left > 0 {
		timer.Reset(left)
		select {
		case <-timer.C:
		case <-o.ctx.Done():
			return false
		}
	}
	select {
	case <-o.ctx.Done():
		return false
	default:
	}
	select {
	case o.free <- struct{}{}:
		return true
	case <-o.ctx.Done():
		return false
	}
}

// abandon records the arrivals from due on that were due before the end and could not
// start.
func (o *openLoop) abandon(arrivals load.Arrivals, due time.Time) {
	now, end := time.Now(), o.step.run.start.Add(o.step.from+o.step.planned)
	for ok := true; ok && due.Before(now) && due.Before(end); {
		o.step.Record(Record{Step: o.Name, Due: due, Sent: now, Done: now, Err: load.ErrNotSentStop.Error()})
		var after time.Duration
		after, _, ok = arrivals.Next()
		due = o.start.Add(after)
	}
}

// flights counts what is in flight in all open loops.
type flights struct{ most, now, peak atomic.Int64 }

func (f *flights) add(most int) { f.most.Add(int64(most)) }

func (f *flights) took(n int64) {
	now := f.now.Add(n)
	for peak := f.peak.Load(); now > peak && !f.peak.CompareAndSwap(peak, now); peak = f.peak.Load() {
	}
}

type dueKey struct{}

type arrival struct {
	due   time.Time
	taken atomic.Bool
}

// Due returns when the work that ctx is for was due. It does so the first time that it
// is asked about an arrival of [Step.Arrive]; later, and elsewhere, ok is false. A
// client asks when it sends a request, for [Record.Due]: the first request of an
// arrival was due then, whenever it is sent, and the others when the one before has
// been answered.
func Due(ctx context.Context) (due time.Time, ok bool) {
	a, _ := ctx.Value(dueKey{}).(*arrival)
	if a == nil || a.taken.Swap(true) {
		return time.Time{}, false
	}
	return a.due, true
}
