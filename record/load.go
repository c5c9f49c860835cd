package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/record/safe"
)

// makeLoad makes the load step by step. Each step begins on a whole second of
// the run's clock, so that its seconds are whole.
func (s *session) makeLoad(ctx context.Context) error {
	if len(s.o.Load.Targets) == 0 {
		return load.ErrNoTargets
	}
	if seed := s.o.Load.Seed; seed != 0 {
		err := s.store.Event(kasoku.Event{At: time.Since(s.start), Host: s.host(), Kind: "seed", Text: "what is random in the load follows from the seed " + strconv.FormatUint(seed, 10)})
		if err != nil {
			return err
		}
	}
	var done []Done
	for {
		perSec, more := s.o.Load.Next(done)
		if !more {
			s.settle(ctx, s.o.Load.Settle)
			return ctx.Err()
		}
		pause := s.o.Load.Pause
		if len(done) == 0 {
			pause = 0
		}
		d, err := s.makeStep(ctx, len(done)+1, perSec, pause)
		if d.Tally != nil {
			done = append(done, d)
		}
		if err != nil {
			return err
		}
	}
}

// Permitted returns a [*load.ForbiddenError] when a target leads to an address that
// has not been declared as one that may be loaded, for engines that know of such. [Record] asks
// it before anything is begun.
func (l *Load) Permitted(ctx context.Context) error {
	if e, ok := l.Engine.(interface {
		Permitted(context.Context, []load.Target) error
	}); ok {
		return e.Permitted(ctx, l.Targets)
	}
	return nil
}

// settle records on without load, to see what stays open.
func (s *session) settle(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	s.progress(Progress{Phase: PhasePause, Text: "without load"})
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// makeStep waits for the pause and the next whole second, makes one step and
// adds it to the run.
func (s *session) makeStep(ctx context.Context, number int, perSec float64, pause time.Duration) (Done, error) {
	constant, err := load.Constant(perSec, s.o.Load.Each)
	if err != nil {
		return Done{}, err
	}
	schedule := load.Spaced(constant, s.o.Load.Spacing, s.o.Load.Seed+uint64(number))
	from := nextSecond(time.Since(s.start) + pause)
	step := kasoku.Step{Number: number, PerSec: perSec, Planned: s.o.Load.Each,
		Interval: kasoku.Interval{From: from, To: from + s.o.Load.Each}}
	plan := load.Plan{Schedule: schedule, Targets: s.targets()}
	recorder := load.NewRecorder(plan, from)
	recorder.KeepSeconds()
	if err := s.pause(ctx, step, from); err != nil {
		return Done{}, err
	}
	s.profileLoad(from, s.o.Load.Total)
	stop := s.follow(recorder, step)
	summary, err := s.o.Load.Engine.Run(ctx, plan, s.start.Add(from), recorder)
	stop()
	if err != nil {
		return Done{}, fmt.Errorf("step %d: %w", number, err)
	}
	if ctx.Err() != nil { // cut short: it ended when the run was asked to stop
		step.Interval.To = max(from, min(step.Interval.To, time.Since(s.start)))
	}
	tally := recorder.Tally(0)
	s.asked += tally.Asked
	s.steps = append(s.steps, step)
	s.addSummary(&summary)
	s.warnStep(&summary, tally, step)
	s.report(step, tally, true)
	return Done{step, tally}, errors.Join(s.store.SaveSteps(s.steps), ctx.Err())
}

// targets are those of the next step. Their places go on where the step before
// ended: what is to differ from request to request differs in the whole run.
func (s *session) targets() []load.Target {
	out := slices.Clone(s.o.Load.Targets)
	for i := range out {
		out[i].Fill = out[i].Fill.From(s.asked)
	}
	return out
}

// nextSecond returns the first whole second at or after t, with time to get ready.
func nextSecond(t time.Duration) time.Duration {
	const ready = 50 * time.Millisecond
	return (t + ready + time.Second - 1).Truncate(time.Second)
}

// pause waits until shortly before the step begins; the engine waits the rest.
func (s *session) pause(ctx context.Context, step kasoku.Step, from time.Duration) error {
	s.progress(Progress{Phase: PhasePause, Step: step})
	t := time.NewTimer(from - time.Since(s.start) - 20*time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow keeps the seconds as they fill and reports the progress, until stopped.
func (s *session) follow(recorder *load.Recorder, step kasoku.Step) (stop func()) {
	quit, finished := make(chan struct{}), make(chan struct{})
	go contain.Func(contain.Part{Kind: contain.Step, Name: "seconds"}, func() {
		defer close(finished)
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
			case <-quit:
				s.keepSeconds(safe.Seconds(numbered(recorder.Take(), step.Number)))
				return
			}
			if n%4 == 0 {
				s.keepSeconds(safe.Seconds(numbered(recorder.Take(), step.Number)))
			}
			s.report(step, recorder.Tally(0), false)
		}
	})()
	return func() {
		close(quit)
		<-finished
	}
}

func (s *session) report(step kasoku.Step, t *kasoku.Tally, over bool) {
	s.progress(Progress{
		Phase: PhaseLoad, Step: step, Over: over,
		Elapsed: min(max(time.Since(s.start)-step.Interval.From, 0), step.Interval.Len()),
		OK:      t.Success, Failed: t.Failed(), P99: t.Latency.Quantile(0.99),
	})
}

// keepSeconds adds what seconds counted to the run file.
func (s *session) keepSeconds(seconds []kasoku.LoadSecond) {
	for i := range seconds {
		s.loaded += successes(seconds[i].Codes)
	}
	s.unkept = append(s.unkept, seconds...)
	if err := s.storeSeconds(); err != nil {
		s.warnOnce(kasoku.Warning{Code: "store", Text: "keep the load's seconds: " + err.Error()})
	}
}

// storeSeconds stores what is not stored yet; with an error it is tried again.
func (s *session) storeSeconds() error {
	if len(s.unkept) == 0 {
		return nil
	}
	err := s.store.AddSeconds(s.unkept)
	if err == nil {
		s.unkept = nil
	}
	return err
}

// numbered gives seconds of a one-step schedule their step in the run.
func numbered(seconds []kasoku.LoadSecond, step int) []kasoku.LoadSecond {
	for i := range seconds {
		seconds[i].Step = step
	}
	return seconds
}

// addSummary adds the summary of one step, or of one of several loads, to the run's.
func (s *session) addSummary(one *kasoku.LoadSummary) {
	if s.summary == nil {
		whole := *one
		whole.Targets = slices.Clone(one.Targets)
		s.summary = &whole
		return
	}
	sum := s.summary
	for _, word := range []struct {
		to   *string
		more string
	}{{&sum.Engine, one.Engine}, {&sum.EngineWhy, one.EngineWhy}, {&sum.Model, one.Model}, {&sum.Pacing, one.Pacing}} {
		if word.more != "" && !slices.Contains(strings.Split(*word.to, "; "), word.more) {
			*word.to = strings.TrimPrefix(*word.to+"; "+word.more, "; ")
		}
	}
	for _, name := range one.Targets {
		if !slices.Contains(sum.Targets, name) {
			sum.Targets = append(sum.Targets, name)
		}
	}
	sum.CPU += one.CPU
	sum.Wall += one.Wall
	sum.MaxInFlight = max(sum.MaxInFlight, one.MaxInFlight)
	sum.PeakInFlight = max(sum.PeakInFlight, one.PeakInFlight)
	sum.PeakCores = max(sum.PeakCores, one.PeakCores)
	sum.Shards = max(sum.Shards, one.Shards)
	sum.Connections += one.Connections
	sum.Resent += one.Resent
	sum.Redirected += one.Redirected
	if one.Stopped != "" {
		sum.Stopped = one.Stopped
	}
}

// warnStep notes what a step's load says of the generator. Steps climb, so of each
// kind the last is kept, and how many steps before it said the same.
func (s *session) warnStep(one *kasoku.LoadSummary, t *kasoku.Tally, step kasoku.Step) {
	for _, w := range load.Warnings(*one, t) {
		w.Text = fmt.Sprintf("step %d: %s", step.Number, w.Text)
		before := s.saidBefore[w.Code]
		s.warnings = slices.DeleteFunc(s.warnings, func(x kasoku.Warning) bool { return before > 0 && x.Code == w.Code })
		if before > 0 {
			w.Text += fmt.Sprintf("; likewise in %d of the steps before", before)
		}
		s.saidBefore[w.Code]++
		s.warn(w)
	}
}

// saveLoad stores what came of the load, whoever made it.
func (s *session) saveLoad() error {
	s.warn(s.handed...)
	if s.summary == nil {
		return nil
	}
	return errors.Join(s.store.SaveSteps(s.steps), s.storeSeconds(), s.store.SaveLoad(s.summary))
}
