package scenario

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// defaultRest is [Workers.Rest] when it is 0.
const defaultRest = time.Second / 2

// Workers defines how many users there are and what they do.
type Workers struct {
	Name string // with the number it decides on a worker's random numbers
	// Count returns how many there have to be at a level. It only computes. A change
	// of level is followed at once: new ones are started; of too many those that came
	// last end with the call that they are in, and their pauses are cut short.
	Count func(level int) int
	Loops int // how often each calls Do; 0: until the phase is over

	Begin func(context.Context, *Worker) error // called once before the first Do; may be nil; after an error there is no Do
	// Do is what a worker does again and again. Its error is given to [Step.Fail].
	Do  func(context.Context, *Worker) error
	End func(*Worker) // called once at the end, unless Begin gave an error; may be nil

	// Rest is the pause after an error, so that a service that is down is not asked
	// again without end; 0: half a second, negative: none.
	Rest time.Duration
}

// A Worker is one of several users. It belongs to the goroutine that runs it.
type Worker struct {
	Name   string
	Number int        // from 0, among those of its name; none comes twice
	Loop   int        // how often Do was called before
	Rand   *rand.Rand // the same numbers in each run with the same seed, whatever the timing
	Data   any        // the scenario's own

	quit chan struct{} // closed when the worker is to end
}

// Sleep pauses. It returns an error of the code Canceled when the phase is over or
// the worker is to end.
func (w *Worker) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.quit:
		return context.Canceled
	}
}

// Between returns a duration drawn evenly from [least, most); least when that is empty.
func (w *Worker) Between(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(w.Rand.Int64N(int64(most-least)))
}

// quits reports whether the worker is to end.
func (w *Worker) quits() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// Workers starts workers and returns at once. They end with ctx or with the phase.
func (s *Step) Workers(ctx context.Context, w Workers) {
	if w.Rest == 0 {
		w.Rest = defaultRest
	}
	p := &pool{step: s, ctx: s.within(ctx), Workers: w}
	s.run.levels.follow(p.follow)
}

// A pool keeps as many workers as the level asks for.
type pool struct {
	Workers
	step *Step
	ctx  context.Context

	mu      sync.Mutex
	members []*Worker // in the order in which they came; those that are to end are none
	came    int
}

func (p *pool) follow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	want := max(p.Count(p.step.Level()), 0)
	for len(p.members) > want {
		last := len(p.members) - 1
		close(p.members[last].quit)
		p.members = p.members[:last]
	}
	for len(p.members) < want {
		w := p.step.worker(p.Name, p.came)
		p.came++
		p.members = append(p.members, w)
		p.step.crew.start(func() { p.work(w) })
	}
}

func (p *pool) work(w *Worker) {
	defer p.step.recovered()
	if p.Begin != nil {
		if err := p.Begin(p.ctx, w); err != nil {
			p.step.Fail(err)
			return
		}
	}
	if p.End != nil {
		defer p.End(w)
	}
	for ; p.Loops == 0 || w.Loop < p.Loops; w.Loop++ {
		if p.ctx.Err() != nil || w.quits() {
			return
		}
		if err := p.Do(p.ctx, w); err != nil {
			p.step.Fail(err)
			_ = w.Sleep(p.ctx, p.Rest) // the loop sees why
		}
	}
}

// Jobs are done once.
type Jobs struct {
	Name  string              // with the number it decides on a worker's random numbers
	Count func(level int) int // how many are started when a level begins; it only computes; nil: one
	Do    func(context.Context, *Worker) error
}

// Once starts jobs, those of the levels that have begun at once, those of other
// levels when they begin, and returns at once. Workers are numbered in the order of
// levels. Their errors are given to [Step.Fail].
func (s *Step) Once(ctx context.Context, j Jobs) {
	ctx = s.within(ctx)
	var mu sync.Mutex
	var level, came int // the next of each
	s.run.levels.follow(func() {
		mu.Lock()
		defer mu.Unlock()
		for ; level <= s.Level() && ctx.Err() == nil; level++ {
			n := 1
			if j.Count != nil {
				n = j.Count(level)
			}
			for range n {
				w := s.worker(j.Name, came)
				came++
				s.Go(ctx, func(ctx context.Context) error { return j.Do(ctx, w) })
			}
		}
	})
}

// OnLevel calls do for the present level and, as soon as it begins, for each one that
// comes, in order and one after the other, on a goroutine of its own.
func (s *Step) OnLevel(ctx context.Context, do func(ctx context.Context, level int)) {
	ctx = s.within(ctx)
	var mu sync.Mutex
	next, busy := s.Level(), false
	take := func() (level int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if busy = next <= s.Level() && ctx.Err() == nil; busy {
			next++
		}
		return next - 1, busy
	}
	s.run.levels.follow(func() {
		mu.Lock()
		defer mu.Unlock()
		if busy {
			return
		}
		busy = true
		s.Go(ctx, func(ctx context.Context) error {
			for level, ok := take(); ok; level, ok = take() {
				do(ctx, level)
			}
			return nil
		})
	})
}
