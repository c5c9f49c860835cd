package observe

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/threadtime"
)

// framesPerSource lets one frame be filled while the one before is stored.
const framesPerSource = 2

// A worker asks one source. Its goroutine ends when trigger is closed.
type worker struct {
	source  Source
	host    string
	start   time.Time
	every   time.Duration         // between its ticks
	trigger chan time.Duration    // when the tick was due; the ticker sends only to an idle worker
	free    chan *kasoku.Frame    // frames that are not in use
	queue   *queue                // where frames and misses go
	busy    atomic.Bool           // from the trigger until the result is in the queue
	cost    atomic.Int64          // CPU time of all reads, ns
	done    chan struct{}         // closed when the goroutine has ended
	slow    string                // reason of a gap
	since   time.Duration         // the tick that it is busy with; the ticker's own
	asked   bool                  // once at least; the ticker's own
	gaps    gapTracker            // the sink loop's own
	events  func() []kasoku.Event // nil when the source has none
}

func newWorker(s *Sampler, src Source) *worker {
	every := s.intervalOf(src.Name())
	w := &worker{
		every: every, source: src, host: s.o.Host, start: s.o.Start, queue: s.queue,
		trigger: make(chan time.Duration, 1),
		free:    make(chan *kasoku.Frame, framesPerSource),
		done:    make(chan struct{}),
		slow:    "slower than the interval of " + every.String(),
	}
	for range framesPerSource {
		w.free <- &kasoku.Frame{Host: w.host, Source: src.Name()}
	}
	if es, ok := src.(EventSource); ok {
		w.events = es.Events
	}
	return w
}

// tick asks for a frame, or notes a miss when the worker is still busy. Only the
// ticker calls it.
func (w *worker) tick(due, now time.Duration) {
	if w.busy.Load() {
		w.queue.add(item{w: w, due: w.since, at: now, reason: w.slow})
		return
	}
	w.since, w.asked = due, true
	w.busy.Store(true)
	w.trigger <- due
}

// due reports whether a tick of this worker lies between two moments, and not so
// close to its last one that rates would be of rounding errors.
func (w *worker) due(last, now time.Duration) bool {
	return now/w.every > last/w.every && w.apart(now)
}

// apart reports whether now is far enough from the last tick that asked.
func (w *worker) apart(now time.Duration) bool {
	return !w.asked || now-w.since >= w.every/closest
}

// missed returns the first tick of this worker after last when another one has
// passed since.
func (w *worker) missed(last, now time.Duration) (due time.Duration, ok bool) {
	due = (last/w.every + 1) * w.every
	return due, now-due >= w.every && !w.busy.Load()
}

// run answers triggers until there are no more.
func (w *worker) run(ctx context.Context) {
	for due := range w.trigger {
		w.queue.add(w.answer(ctx, due))
		w.busy.Store(false)
	}
}

// miss answers triggers with a reason alone until there are no more.
func (w *worker) miss(reason string) {
	w.busy.Store(false)
	for due := range w.trigger {
		w.queue.add(item{w: w, due: due, at: time.Since(w.start), reason: reason})
		w.busy.Store(false)
	}
}

// ended reports whether the goroutine has ended.
func (w *worker) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func (w *worker) answer(ctx context.Context, due time.Duration) item {
	it := item{w: w, due: due}
	select {
	case it.frame = <-w.free:
	default:
		it.at, it.reason = time.Since(w.start), "the samples before were not stored in time"
		return it
	}
	f := it.frame
	f.Reset()
	var err error
	cost := threadtime.Of(func() { err = collect(ctx, w.source, f) })
	it.at = time.Since(w.start)
	f.At, f.Cost = it.at, cost
	w.cost.Add(int64(cost))
	if w.events != nil {
		err = errors.Join(err, contain.Run(contain.Part{Kind: contain.Source, Name: w.source.Name()}, func() { it.events = w.stamp(w.events(), it.at) }))
	}
	if err != nil {
		it.frame, it.reason = nil, reasonOf(err)
		if ctx.Err() != nil {
			it.reason = w.slow // the error is only that of the cancelled context
		}
		w.free <- f
	}
	return it
}

func (w *worker) stamp(events []kasoku.Event, at time.Duration) []kasoku.Event {
	for i := range events {
		events[i].Host = w.host
		if events[i].At == 0 {
			events[i].At = at
		}
	}
	return events
}

// collect calls the source; a panic in it is an error.
func collect(ctx context.Context, src Source, f *kasoku.Frame) error {
	return contain.Do(contain.Part{Kind: contain.Source, Name: src.Name()}, func() error { return src.Collect(ctx, f) })
}
