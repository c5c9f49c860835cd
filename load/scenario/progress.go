package scenario

import (
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
)

// A Phase is one of the three parts of a benchmark.
type Phase string

// The phases, in order.
const (
	Prepare  Phase = "prepare"
	Load     Phase = "load"
	Validate Phase = "validate"
)

// Number returns 1, 2 or 3: [kasoku.LoadSecond.Step] of the requests of a phase.
func (p Phase) Number() int {
	switch p {
	case Prepare:
		return 1
	case Load:
		return 2
	}
	return 3
}

// A Span is a phase and when it was.
type Span struct {
	Phase    Phase
	Interval kasoku.Interval // since the run's start; To is now while it goes on
	Over     bool
}

// A Rise is the beginning of a level.
type Rise struct {
	Level int
	At    time.Duration // since the run's start
	Score int64         // the points at that moment
}

// Progress is where a run stands.
type Progress struct {
	Phase    Phase
	Elapsed  time.Duration // since the phase began
	Planned  time.Duration // how long it goes on at most
	Over     bool          // it has ended
	Level    int
	Score    int64   // points less deductions
	PerSec   float64 // requests since the second before
	Requests uint64  // of the phase
	Errors   uint64  // that counted, of the run
}

// A Report is what a run reports about itself. Seconds holds what was counted since the
// report before; all else replaces what was reported before. The receiver may keep it.
type Report struct {
	Start   time.Time           // of the run, with a monotonic reading
	Seconds []kasoku.LoadSecond // Second counts from Start, Step is [Phase.Number]
	Phases  []Span
	Levels  []Rise
	Answers []Answer           // of initialize, the last ones
	Summary kasoku.LoadSummary // of the load, once it is over
	Result  *Result            // of the run, in the last report; nil before
}

// A Sink takes reports: one each second, one at the end of each phase, and one with the
// result. It is called by one goroutine at a time. The load does not wait for it, but
// progress does, and the next phase.
type Sink func(*Report)

// tick reports once a second until it is stopped.
func (r *run) tick() (stop func()) {
	if r.o.OnProgress == nil && r.o.Sink == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = contain.Run(contain.Part{Kind: contain.Engine, Name: "progress of a scenario"},
					func() { r.report(nil) })
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// report describes where the run stands; the last report has the result.
func (r *run) report(result *Result) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.mu.Lock()
	now := time.Since(r.start)
	report := &Report{Start: r.start, Levels: r.levels.all(), Summary: r.summary, Result: result}
	var last *Step
	for _, s := range r.steps {
		last = s
		span := Span{Phase: s.phase, Interval: kasoku.Interval{From: s.from, To: s.to}, Over: s.to > 0}
		if !span.Over {
			span.Interval.To = now
		}
		report.Phases = append(report.Phases, span)
	}
	steps := r.steps
	report.Answers = slices.Clone(r.answers)
	r.mu.Unlock()
	if r.o.OnProgress != nil && last != nil && result == nil {
		r.o.OnProgress(r.progress(last, report.Phases[len(report.Phases)-1]))
	}
	if r.o.Sink != nil {
		for _, s := range steps {
			report.Seconds = append(report.Seconds, s.recorder.Take()...)
		}
		r.o.Sink(report)
	}
}

// A pace is how many requests of a phase there were when somebody last looked.
type pace struct {
	step     *Step
	at       time.Duration
	requests uint64
	perSec   float64
}

// minPace is the shortest time that a pace is taken from.
const minPace = 100 * time.Millisecond

// later returns the pace at a later moment.
func (p pace) later(s *Step, now time.Duration, requests uint64) pace {
	if p.step != s {
		p = pace{step: s, at: s.from}
	}
	if d := now - p.at; d >= minPace {
		p.at, p.requests, p.perSec = now, requests, float64(requests-p.requests)/d.Seconds()
	}
	return p
}

// progress returns where a phase stands. The caller holds reporting.
func (r *run) progress(s *Step, span Span) Progress {
	errs, deducted := r.failures.sums()
	requests := s.recorder.Live(0).Total
	r.pace = r.pace.later(s, span.Interval.To, requests)
	return Progress{
		Phase: s.phase, Elapsed: span.Interval.Len(), Planned: s.planned, Over: span.Over,
		Level: r.levels.now(), Score: r.board.total.Load() - deducted,
		PerSec: r.pace.perSec, Requests: requests, Errors: errs,
	}
}
