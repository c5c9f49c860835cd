package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kasoku/kasoku/internal/contain"
)

// An Async passes batches on to another output that may wait, for a disk, a pipe or a service.
// Its own Write never does: when depth batches wait, new ones are dropped and counted. It is
// safe for concurrent use, except that Close is called once.
type Async struct {
	out     Output
	batches chan []Value
	done    chan struct{} // closed when the goroutine has ended
	stop    context.CancelFunc
	dropped atomic.Uint64 // values

	mu     sync.Mutex // guards the following fields
	closed bool
	err    error // the first one
	errs   int
}

// NewAsync returns an Async for out, which is its own from now on; depth batches may wait. The
// caller must Close it.
func NewAsync(out Output, depth int) *Async {
	ctx, cancel := context.WithCancel(context.Background())
	a := &Async{out: out, batches: make(chan []Value, depth), done: make(chan struct{}), stop: cancel}
	go func() {
		defer close(a.done)
		_ = contain.Run(asyncPart, func() { a.run(ctx) })
	}()
	return a
}

// asyncPart names an output where it fails: the next values may come through.
var asyncPart = contain.Part{Kind: contain.Goroutine, Name: "output of values"}

func (a *Async) run(ctx context.Context) {
	for values := range a.batches {
		if ctx.Err() != nil {
			a.dropped.Add(uint64(len(values)))
			continue
		}
		if err := contain.Do(asyncPart, func() error { return a.out.Write(ctx, values) }); err != nil {
			a.note(err)
		}
	}
}

func (a *Async) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.errs++
	if a.err == nil {
		a.err = err
	}
}

// Err returns the first error of the output so far.
func (a *Async) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Dropped returns how many values were dropped.
func (a *Async) Dropped() uint64 { return a.dropped.Load() }

// Write implements [Output]. It returns at once, and no error of the output; see
// [Async.Err] and Close.
func (a *Async) Write(_ context.Context, values []Value) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errors.New("export: the output is closed")
	}
	select {
	case a.batches <- slices.Clone(values):
	default:
		a.dropped.Add(uint64(len(values)))
	}
	return nil
}

// Close hands on what waits and closes the output, until ctx ends; what waits then is
// dropped. The error is the first of the output, and how much was dropped. An output
// that does not return though its context has ended is abandoned.
func (a *Async) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	close(a.batches)
	a.mu.Unlock()
	select {
	case <-a.done:
	case <-ctx.Done():
		a.stop()
		return errors.Join(a.failure(), fmt.Errorf("export: the output did not take the last values: %w", ctx.Err()))
	}
	a.stop()
	if err := a.out.Close(ctx); err != nil {
		a.note(err)
	}
	return a.failure()
}

// failure is what went wrong.
func (a *Async) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.err
	if a.errs > 1 {
		err = fmt.Errorf("%w (and %d more errors)", err, a.errs-1)
	}
	if n := a.dropped.Load(); n > 0 {
		err = errors.Join(err, fmt.Errorf("export: %d values dropped: the output takes them too slowly", n))
	}
	return err
}
