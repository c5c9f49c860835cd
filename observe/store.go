package observe

import (
	"context"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/threadtime"
)

// store hands to the sink what workers and ticker put into the queue, until all
// workers have ended. When the ticker has stopped, reads that are under way have
// stopGrace to finish; then their context is cancelled, and after as long again
// they are abandoned.
func (s *Sampler) store(stopped, ended <-chan struct{}, cancel context.CancelFunc) {
	var items, spare []item
	var grace *time.Timer
	var over <-chan time.Time
	drain := func() {
		items, spare = s.queue.take(spare), items
		s.handle(items)
	}
	var hurry <-chan struct{} // looked at once the ticker has stopped
	for cancelled := false; ; {
		select {
		case <-s.queue.ready:
			drain()
		case <-stopped:
			stopped, hurry = nil, s.o.Hurry
			grace = time.NewTimer(stopGrace)
			defer grace.Stop()
			over = grace.C
		case <-hurry:
			hurry, cancelled = nil, true
			cancel()
			grace.Reset(hurryGrace)
		case <-ended:
			drain()
			return
		case <-over:
			if cancelled {
				drain()
				return
			}
			cancelled = true
			cancel()
			grace.Reset(stopGrace)
		}
	}
}

// handle hands on a batch and measures what the sink costs.
func (s *Sampler) handle(items []item) {
	s.self.sink.Add(int64(threadtime.Of(func() {
		for i := range items {
			s.handleOne(&items[i])
		}
	})))
}

func (s *Sampler) handleOne(it *item) {
	switch {
	case it.frame != nil:
		if gap, ended := it.w.gaps.frame(it.due, it.at); ended {
			s.gap(it.w, gap)
		}
		s.note(s.o.Sink.Frame(it.frame))
		it.w.free <- it.frame
	case it.w != nil:
		if gap, ended := it.w.gaps.miss(it.due, it.at, it.reason); ended {
			s.gap(it.w, gap)
		}
		s.missing(it.w, it.at)
	}
	for _, e := range it.events {
		s.note(s.o.Sink.Event(e))
	}
}

func (s *Sampler) gap(w *worker, gap kasoku.Gap) {
	gap.Host, gap.Source = s.o.Host, w.source.Name()
	s.note(s.o.Sink.Gap(gap))
}

// missing passes the gap so far to a sink that wants to know while a source gives
// nothing.
func (s *Sampler) missing(w *worker, at time.Duration) {
	sink, ok := s.o.Sink.(interface{ Missing(kasoku.Gap) })
	if !ok {
		return
	}
	if gap, open := w.gaps.soFar(at); open {
		gap.Host, gap.Source = s.o.Host, w.source.Name()
		sink.Missing(gap)
	}
}

// note counts the errors of the sink and keeps the first one.
func (s *Sampler) note(err error) {
	if err == nil {
		return
	}
	s.sinkErrs++
	if s.sinkErr == nil {
		s.sinkErr = err
	}
}
