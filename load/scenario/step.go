package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/load"
)

// A Tag names a kind of success, such as "buy". There are few of them.
type Tag string

// A Scenario is a part of a benchmark. It is any value that is at least one of
// [Preparer], [Loader] and [Validator].
type Scenario any

// A Preparer prepares a service and verifies it. An error, returned or given to
// [Step.Fail], is the end of the run.
type Preparer interface {
	Prepare(context.Context, *Step) error
}

// A Loader makes load. It may return at once when it has started workers: the phase
// goes on until its time is over or no worker is left. Its error counts as one
// given to [Step.Fail].
type Loader interface {
	Load(context.Context, *Step) error
}

// A Validator looks at the state after the load. With an error, returned or
// given to [Step.Fail], the run has not passed.
type Validator interface {
	Validate(context.Context, *Step) error
}

// A Step is one phase of a benchmark, as its scenarios see it. Its methods are safe
// for concurrent use, and return at once.
//
// When the phase is over its context is cancelled, and what still works has
// [Options.Grace] to end. What is reported later is ignored.
type Step struct {
	phase    Phase
	run      *run
	ctx      context.Context // of the phase
	crew     *crew
	recorder *load.Recorder

	from, to time.Duration // since the run's start; to is 0 before the end
	planned  time.Duration
	failed   atomic.Bool // an error counted that is not trivial
	closed   atomic.Bool // nothing is heard any more
}

type stepKey struct{}

// Phase returns which phase it is.
func (s *Step) Phase() Phase { return s.phase }

// Score counts one success.
func (s *Step) Score(tag Tag) {
	if !s.closed.Load() {
		s.run.levels.reach(s.run.board.add(tag))
	}
}

// Fail counts an error by its code, see [CodeOf], and ends the run when that code's
// limit is reached. Nil, errors of the code Canceled and timeouts of what the end of
// the phase has cut off do not count.
func (s *Step) Fail(err error) {
	if err == nil || s.closed.Load() {
		return
	}
	code := CodeOf(err)
	if code == Canceled || s.ctx.Err() != nil && isTimeout(err) {
		return
	}
	s.count(code, err)
}

func (s *Step) count(code Code, err error) {
	n := s.run.failures.add(code, err)
	if code != Trivial {
		s.failed.Store(true)
	}
	if limit, limited := s.run.o.Scoring.Limit[code]; limited && n >= uint64(limit) {
		s.run.end(s.run.o.limitReason(code))
	}
}

// SetLanguage sets what the service is written in.
func (s *Step) SetLanguage(language string) {
	language = safeText(language)
	s.run.language.Store(&language)
}

// Points returns the sum of what was scored so far, nothing deducted.
func (s *Step) Points() int64 { return s.run.board.total.Load() }

// Level returns the level of the load, from 0.
func (s *Step) Level() int { return s.run.levels.now() }

// Rand returns random numbers that follow from the seed, the name and the number
// alone. What it returns is not for concurrent use.
func (s *Step) Rand(name string, number int) *rand.Rand { return newRand(s.run.o.Seed, name, number) }

// worker returns a worker whose numbers are its own.
func (s *Step) worker(name string, number int) *Worker {
	return &Worker{Name: name, Number: number, Rand: s.Rand(name, number), quit: make(chan struct{})}
}

// Go runs do on a goroutine that the phase waits for. Its error is given to Fail. When
// the phase has ended it does nothing.
func (s *Step) Go(ctx context.Context, do func(context.Context) error) {
	ctx = s.within(ctx)
	s.crew.start(func() {
		defer s.recovered()
		s.Fail(do(ctx))
	})
}

// within returns ctx, cancelled at the latest when the phase is over.
func (s *Step) within(ctx context.Context) context.Context {
	if ctx.Value(stepKey{}) == s {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.ctx, cancel)
	return context.WithValue(ctx, stepKey{}, s) // so that this is done once
}

// recovered is deferred around what a benchmark does: a panic there is its own fault,
// and ends the run with what there is.
func (s *Step) recovered() {
	v := recover()
	if v == nil {
		return
	}
	if !s.closed.Load() {
		s.run.failures.add(Internal, fmt.Errorf("panic in %s: %v", panicMessage(), v))
		s.failed.Store(true)
	}
	s.run.end(s.run.o.limitReason(Internal))
}

// panicMessage returns the place of the panic that is being recovered from.
func panicMessage() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// A Record is one request and what came of it.
type Record struct {
	Step              string    // what it is counted as: "GET /api/chair/search"
	Due               time.Time // when it should have been sent; zero: Sent
	Sent, Done        time.Time
	Code              int // status; 0 without a complete answer
	BytesIn, BytesOut uint64
	Err               string // empty on success
}

// Record counts one request: in the second in which it was due, under the name of its
// step. Of names there are at most a hundred; requests of others are counted together.
func (s *Step) Record(r Record) {
	if s.closed.Load() {
		return
	}
	if r.Due.IsZero() {
		r.Due = r.Sent
	}
	if r.Err != "" {
		r.Err = safeText(r.Err)
	}
	start := s.run.start
	s.recorder.Named(r.Step, &load.Hit{
		Step: s.phase.Number(), Due: max(r.Due.Sub(start), 0), Sent: r.Sent.Sub(start), Done: r.Done.Sub(start),
		Code: r.Code, BytesIn: r.BytesIn, BytesOut: r.BytesOut, Err: r.Err,
	})
}
