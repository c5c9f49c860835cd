package record

import (
	"context"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/freespace"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/record/trigger"
)

// sampling is the sampler of a run, with what its sources gave before the run began.
type sampling struct {
	*recorder
	logs    *logbook
	changes *changes
	service *serviceWatch // nil: nothing is known of a service, all of the host is sampled

	procs *process.Source   // nil without observers
	space *freespace.Source // brakes the slow log; nil while that is off
	early *trigger.Hold     // while and since the run waits for its request; nil else

	sampler *observe.Sampler
	halt    context.CancelFunc // ends the sampler; nil before it began
	sampled chan error
}

// begin starts the sampler.
func (s *sampling) begin(sink observe.Sink) error {
	sources, procs, err := s.sources()
	if err != nil {
		return err
	}
	s.procs = procs
	s.sampler = observe.New(observe.Options{
		Host: s.host(), Interval: s.o.Interval, Every: s.o.every(), Start: s.start, Sources: sources,
		Sink: sink, Hurry: s.o.hurry(), Wall: s.o.Wall,
	})
	ctx, cancel := context.WithCancel(context.Background())
	s.halt, s.sampled = cancel, make(chan error, 1)
	go func() {
		defer close(s.sampled) // so that who waits again does not wait for ever
		s.sampled <- contain.Do(contain.Part{Kind: contain.Step, Name: "samples"}, func() error { return s.sampler.Run(ctx) })
	}()
	return nil
}

// end ends the sampler, and returns why it had ended before, if it had. It may be called
// more than once, and without a beginning.
func (s *sampling) end() error {
	if s.halt == nil {
		return nil
	}
	s.halt()
	err, first := <-s.sampled
	if first {
		s.warn(s.sampler.Warnings()...)
	}
	return err
}
