package scenario

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
)

// A run is one run of a benchmark.
type run struct {
	o      *Options
	start  time.Time
	ctx    context.Context
	cancel context.CancelFunc

	board    *board
	failures *failures
	levels   *levels
	open     flights
	language atomic.Pointer[string]

	reporting sync.Mutex // one report at a time; guards pace; taken before mu
	pace      pace

	mu       sync.Mutex
	reason   string // why the run ended early, or did not pass; empty: neither
	unready  bool   // preparing failed
	steps    []*Step
	summary  kasoku.LoadSummary
	warnings []kasoku.Warning
	answers  []Answer // of initialize
}

func newRun(ctx context.Context, o *Options) *run {
	r := &run{o: o, start: time.Now(), board: newBoard(o.Scoring.Points),
		failures: newFailures(&o.Scoring, o.MaxMessages)}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.levels = newLevels(o.Levels, r.start)
	r.language.Store(&o.Language)
	return r
}

// end ends the run early. The first reason counts.
func (r *run) end(reason string) {
	r.fault(reason)
	r.cancel()
}

// fault describes why the run has not passed. The first reason counts.
func (r *run) fault(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == "" {
		r.reason = reason
	}
}

// prepare runs the first phase and reports whether there is to be a load.
func (r *run) prepare(scenarios []Scenario) bool {
	s := r.phase(Prepare, r.o.PrepareTimeout, func(ctx context.Context, s *Step) {
		for _, one := range scenarios {
			if p, ok := one.(Preparer); ok && ctx.Err() == nil && !s.failed.Load() {
				s.must(p.Prepare(ctx, s))
			}
		}
	})
	if s.failed.Load() || r.ctx.Err() != nil {
		r.fault(r.why(r.o.Reasons.Prepare))
		r.mu.Lock()
		r.unready = true
		r.mu.Unlock()
		return false
	}
	return true
}

// load runs the second phase and reports whether to go on.
func (r *run) load(scenarios []Scenario) bool {
	if r.o.LoadTime < 0 {
		return true
	}
	meter := load.StartMeter()
	r.levels.begin(r.board.total.Load())
	s := r.phase(Load, r.o.LoadTime, func(ctx context.Context, s *Step) {
		for _, one := range scenarios {
			if l, ok := one.(Loader); ok {
				s.Go(ctx, func(ctx context.Context) error { return l.Load(ctx, s) })
			}
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summarise(s, meter)
	if r.ctx.Err() != nil && r.reason == "" {
		r.reason = r.o.Reasons.Interrupted
	}
	if r.reason != "" {
		r.summary.Stopped, r.summary.StoppedAt = r.reason, s.to-s.from
	}
	r.warnings = append(r.warnings, load.Warnings(r.summary, s.recorder.Tally(0))...)
	return r.reason == ""
}

// validate runs the last phase.
func (r *run) validate(scenarios []Scenario) {
	s := r.phase(Validate, r.o.ValidateTimeout, func(ctx context.Context, s *Step) {
		for _, one := range scenarios {
			if v, ok := one.(Validator); ok && ctx.Err() == nil {
				s.must(v.Validate(ctx, s))
			}
		}
	})
	if s.failed.Load() || r.ctx.Err() != nil {
		r.fault(r.why(r.o.Reasons.Validate))
	}
}

// why is the reason of a phase that failed, unless it was interrupted.
func (r *run) why(failed string) string {
	if r.ctx.Err() != nil {
		return r.o.Reasons.Interrupted
	}
	return failed
}

// must counts an error with which the phase has failed, whatever its code.
func (s *Step) must(err error) {
	if err != nil {
		s.Fail(err)
		s.failed.Store(true)
	}
}

// phase runs a phase until its time is over, no worker is left or the run ends.
func (r *run) phase(p Phase, limit time.Duration, do func(context.Context, *Step)) *Step {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	s := &Step{phase: p, run: r, crew: newCrew(), recorder: load.NewRecorder(load.Plan{}, 0),
		from: time.Since(r.start), planned: limit}
	s.ctx = context.WithValue(ctx, stepKey{}, s)
	if r.o.Sink != nil {
		s.recorder.KeepSeconds()
	}
	r.mu.Lock()
	r.steps = append(r.steps, s)
	r.mu.Unlock()
	s.crew.start(func() {
		defer s.recovered()
		do(s.ctx, s)
	})
	over := time.NewTimer(limit)
	defer over.Stop()
	select {
	case <-s.crew.idle:
	case <-s.ctx.Done():
	case <-over.C:
		if p != Load {
			s.count(Timeout, fmt.Errorf("%s took more than %s", p, limit))
		}
	}
	r.levels.end()
	cancel()
	r.await(s)
	r.mu.Lock()
	s.to = time.Since(r.start)
	r.mu.Unlock()
	r.report(nil)
	return s
}

// await waits for what still works when a phase is over.
func (r *run) await(s *Step) {
	defer s.closed.Store(true)
	grace := time.NewTimer(r.o.Grace)
	defer grace.Stop()
	select {
	case <-s.crew.idle:
		return
	case <-grace.C:
	}
	if n := s.crew.dismiss(); n > 0 {
		r.warn(kasoku.Warning{Code: UnendedWork, Text: fmt.Sprintf("%s of the phase %s had not ended %s after it",
			unit.Counted(n, "worker", "workers"), s.phase, r.o.Grace),
			Hint: "let what they call return when its context is done"})
	}
}

// Codes of warnings, beside those of [load.Warnings].
const (
	UnendedWork = "unended-work" // workers did not heed the end of their phase
	NotPinned   = "not-pinned"   // the process could not be put on the cores that were asked for
)

func (r *run) warn(w kasoku.Warning) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, w)
}

// summarise describes what the load was and what it cost. The caller holds mu.
func (r *run) summarise(s *Step, meter *load.Meter) {
	sum := &r.summary
	sum.Engine, sum.EngineWhy, sum.Model = "scenario", "a scored benchmark", load.ModelClosed
	for _, t := range s.recorder.Targets() {
		sum.Targets = append(sum.Targets, t.Name)
	}
	if most := r.open.most.Load(); most > 0 {
		sum.Model = load.ModelOpen
		sum.MaxInFlight, sum.PeakInFlight = int(most), int(r.open.peak.Load())
	}
	meter.Stop(sum)
}

// pin puts the process on the cores that were asked for. The function that it returns
// puts it back.
func (r *run) pin() (back func()) {
	if len(r.o.CPUs) == 0 {
		return func() {}
	}
	back, err := pinToCPUs(r.o.CPUs)
	if err != nil {
		r.warn(kasoku.Warning{Code: NotPinned, Text: fmt.Sprintf("the benchmark runs on all cores: %v", err)})
		return func() {}
	}
	return back
}
