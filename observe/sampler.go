package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
)

// stopGrace is how long a read that is under way at the end may take; then its
// context is cancelled, and after as long again it is given up.
const stopGrace = time.Second

// hurryGrace is stopGrace, after the context was cancelled, in a hurry.
const hurryGrace = 200 * time.Millisecond

// closest: the first and the last tick keep at least 1/closest of the interval from the
// aligned ones next to them. Two reads within a moment would make rates of rounding errors.
const closest = 10

// A Sampler asks its sources at every tick. It is used for one Run.
type Sampler struct {
	o       Options
	queue   *queue
	workers []*worker // the last one is self's
	self    *self
	wall    wallClock
	step    time.Duration // the shortest of all intervals, the ticker's

	// The ticker's own until it has stopped.
	missed  int           // ticks at which this process did not run
	longest time.Duration // that it did not run

	// Run's own.
	sinkErr  error // the first one
	sinkErrs int
	warnings []kasoku.Warning
}

// New returns a sampler. Run reports options that are wrong.
func New(o Options) *Sampler {
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	s := &Sampler{o: o, queue: newQueue(), wall: wallClock{now: time.Now}, step: o.Interval}
	if o.Wall != nil {
		s.wall.now = func() time.Time { return o.Wall(time.Now()) }
	}
	for _, src := range o.Sources {
		s.step = min(s.step, s.intervalOf(src.Name()))
	}
	return s
}

// intervalOf returns the time between two ticks of a source.
func (s *Sampler) intervalOf(source string) time.Duration {
	if every, ok := s.o.Every[source]; ok {
		return every
	}
	return s.o.Interval
}

func (s *Sampler) validate() error {
	switch {
	case s.o.Sink == nil:
		return errors.New("sample: no sink")
	case s.step < time.Millisecond:
		return fmt.Errorf("sample: interval %s is below 1 ms", s.step)
	case s.o.Interval%s.step != 0:
		return fmt.Errorf("sample: interval %s is no multiple of %s", s.o.Interval, s.step)
	}
	names := map[string]bool{SelfName: true}
	for _, src := range s.o.Sources {
		if names[src.Name()] {
			return fmt.Errorf("sample: two sources are named %q", src.Name())
		}
		names[src.Name()] = true
		if every := s.intervalOf(src.Name()); every%s.step != 0 {
			return fmt.Errorf("sample: interval %s of %q is no multiple of %s", every, src.Name(), s.step)
		}
	}
	return nil
}

// Run samples until ctx ends, takes a last tick, closes the sources and returns
// when everything has been handed to the sink. The end of ctx is no error. An
// error of the sink does not end it: the first one is returned at the end, with
// the number of further ones. A source that does not return from Collect, even
// with its context cancelled, is given up, and that is an error.
func (s *Sampler) Run(ctx context.Context) error {
	if err := s.validate(); err != nil {
		errs := []error{err}
		for _, src := range s.o.Sources {
			errs = append(errs, closeSource(src))
		}
		return errors.Join(errs...)
	}
	s.prepare()
	// Reads that are under way when ctx ends may finish.
	reads, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	for _, w := range s.workers {
		go func() {
			defer close(w.done)
			if bug := contain.Run(contain.Part{Kind: contain.Goroutine, Name: "source " + w.source.Name()}, func() { w.run(reads) }); bug != nil {
				w.miss(bug.Error())
			}
		}()
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		kasoku.Contained(contain.Part{Kind: contain.Step, Name: "ticks"}, &s.warnings, func() { s.tick(ctx) })
		close(stopped)
		for _, w := range s.workers {
			close(w.trigger)
		}
		for _, w := range s.workers {
			<-w.done
		}
		close(ended)
	}()
	s.store(stopped, ended, cancel)
	return s.finish()
}

func (s *Sampler) prepare() {
	if s.o.Start.IsZero() {
		s.o.Start = time.Now()
	}
	s.wall.start, s.wall.run = s.o.Start.Round(0), s.now
	s.self = newSelf()
	for _, src := range s.o.Sources {
		s.workers = append(s.workers, newWorker(s, src))
	}
	s.self.watch(s.workers)
	s.workers = append(s.workers, newWorker(s, s.self))
}

func (s *Sampler) now() time.Duration { return time.Since(s.o.Start) }

// tick triggers the workers at once, at every multiple of the interval, and when
// ctx ends.
func (s *Sampler) tick(ctx context.Context) {
	due := s.now()
	last := due
	s.trigger(due, due, (*worker).apart)
	due = s.following(due + s.step/closest)
	timer := time.NewTimer(due - s.now())
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			if now := s.now(); now-last >= s.step/closest {
				s.trigger(now, now, (*worker).apart)
			} else {
				s.compareClocks()
			}
			return
		}
		now := s.now()
		s.skip(last, due, now)
		s.trigger(due, now, func(w *worker, now time.Duration) bool { return w.due(last, now) })
		last, due = now, s.following(now)
		timer.Reset(due - s.now())
	}
}

// following returns the first multiple of the step that is later than t.
func (s *Sampler) following(t time.Duration) time.Duration {
	return (t/s.step + 1) * s.step
}

// trigger asks the sources whose turn it is. The tick was due at due; it is now.
func (s *Sampler) trigger(due, now time.Duration, turn func(*worker, time.Duration) bool) {
	s.compareClocks()
	s.self.tick(now - due)
	for _, w := range s.workers {
		if turn(w, now) {
			w.tick(max(due, now/w.every*w.every), now)
		}
	}
}

// compareClocks notes when the wall clock was set. Who sees the new drift in a sample
// finds its event in the queue.
func (s *Sampler) compareClocks() {
	if e, stepped := s.wall.check(); stepped {
		e.Host = s.o.Host
		s.queue.add(item{events: []kasoku.Event{e}})
	}
	s.self.drift.Store(int64(s.wall.drift))
}

// skip notes the ticks that passed while this process did not run: it was
// stopped, or the machine was. The last tick was at last, the next one at due.
func (s *Sampler) skip(last, due, now time.Duration) {
	missed := int((now - due) / s.step)
	if missed == 0 {
		return
	}
	s.missed += missed
	s.longest = max(s.longest, now-due)
	for _, w := range s.workers {
		if first, ok := w.missed(last, now); ok {
			s.queue.add(item{w: w, due: max(first, due), at: now, reason: "kasoku did not run for " + unit.Duration(now-due)})
		}
	}
}

// finish ends the gaps that are open, closes the sources and returns what went
// wrong.
func (s *Sampler) finish() error {
	var errs []error
	end := s.now()
	for _, w := range s.workers {
		if !w.ended() {
			w.gaps.miss(w.since, end, w.slow)
			errs = append(errs, fmt.Errorf("source %q does not stop: it was asked %s ago", w.source.Name(), unit.Duration(end-w.since)))
		}
		if gap, ended := w.gaps.end(end); ended {
			s.gap(w, gap)
		}
		if !w.ended() {
			continue
		}
		if ws, ok := w.source.(WarningSource); ok {
			errs = append(errs, contain.Run(contain.Part{Kind: contain.Source, Name: w.source.Name()}, func() { s.warnings = append(s.warnings, ws.Warnings()...) }))
		}
		errs = append(errs, closeSource(w.source))
	}
	if s.missed > 0 {
		s.warnings = append(s.warnings, kasoku.Warning{
			Code: "sampler-missed",
			Text: fmt.Sprintf("ticks missed: %d, because kasoku did not run, for up to %s", s.missed, unit.Duration(s.longest)),
			Hint: "the machine was short of CPU or stopped; make the load from another machine, or record with a higher priority",
		})
	}
	if s.sinkErr != nil {
		more := ""
		if s.sinkErrs > 1 {
			more = fmt.Sprintf(" (and %d more errors)", s.sinkErrs-1)
		}
		errs = append(errs, fmt.Errorf("store samples: %w%s", s.sinkErr, more))
	}
	return errors.Join(errs...)
}

func closeSource(src Source) error {
	c, ok := src.(io.Closer)
	if !ok {
		return nil
	}
	if err := contain.Do(contain.Part{Kind: contain.Source, Name: src.Name()}, c.Close); err != nil {
		return fmt.Errorf("close source %q: %w", src.Name(), err)
	}
	return nil
}

// Warnings returns what the sampler and its sources had to leave out. Call it after Run
// has returned.
func (s *Sampler) Warnings() []kasoku.Warning { return s.warnings }
