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
	"github.com/kasoku/kasoku/record/mask"
	"github.com/kasoku/kasoku/store"
)

// loads is the load of a run, whoever makes it: kasoku itself, step by step, or the command,
// which hands over what its loads counted.
type loads struct {
	*recorder
	once *underLoad

	steps      []kasoku.Step
	summary    *kasoku.LoadSummary
	unkept     []kasoku.LoadSecond // not in the file yet
	loaded     uint64              // answers with 2xx
	asked      uint64              // requests of the steps that have ended
	saidBefore map[string]int      // by code of a warning about the generator: steps that said it

	handed []kasoku.Warning // of a load made by the command
	phases []kasoku.Phase   // as it reported them
	events []kasoku.Event   // by it
}

func newLoads(r *recorder, once *underLoad) *loads {
	return &loads{recorder: r, once: once, saidBefore: map[string]int{}}
}

// make makes the load step by step. Each step begins on a whole second of
// the run's clock, so that its seconds are whole.
func (l *loads) make(ctx context.Context) error {
	if len(l.o.Load.Targets) == 0 {
		return load.ErrNoTargets
	}
	if seed := l.o.Load.Seed; seed != 0 {
		err := l.store.Event(kasoku.Event{At: time.Since(l.start), Host: l.host(), Kind: "seed", Text: "what is random in the load follows from the seed " + strconv.FormatUint(seed, 10)})
		if err != nil {
			return err
		}
	}
	if l.o.Load.First != nil {
		if err := l.o.Load.First(ctx); err != nil {
			return fmt.Errorf("before the load: %w", err)
		}
	}
	var done []Done
	for {
		perSec, more := l.o.Load.Next(done)
		if !more {
			l.settle(ctx, l.o.Load.Settle)
			return ctx.Err()
		}
		pause := l.o.Load.Pause
		if len(done) == 0 {
			pause = 0
		}
		d, err := l.makeStep(ctx, len(done)+1, perSec, pause)
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
func (l *loads) settle(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	l.progress(Progress{Phase: PhasePause, Text: "without load"})
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// makeStep waits for the pause and the next whole second, makes one step and
// adds it to the run.
func (l *loads) makeStep(ctx context.Context, number int, perSec float64, pause time.Duration) (Done, error) {
	schedule, err := load.OneStep(perSec, l.o.Load.Each, l.o.Load.Spacing, l.o.Load.Seed+uint64(number))
	if err != nil {
		return Done{}, err
	}
	from := nextSecond(time.Since(l.start) + pause)
	step := kasoku.Step{Number: number, PerSec: perSec, Planned: l.o.Load.Each,
		Interval: kasoku.Interval{From: from, To: from + l.o.Load.Each}}
	plan := load.Plan{Schedule: schedule, Targets: l.targets()}
	recorder := load.NewRecorder(plan, from)
	recorder.KeepSeconds()
	if err := l.pause(ctx, step, from); err != nil {
		return Done{}, err
	}
	l.once.begin(from, l.o.Load.Total)
	stop := l.follow(recorder, step)
	summary, err := l.o.Load.Engine.Run(ctx, plan, l.start.Add(from), recorder)
	stop()
	if err != nil {
		return Done{}, fmt.Errorf("step %d: %w", number, err)
	}
	if ctx.Err() != nil { // cut short: it ended when the run was asked to stop
		step.Interval.To = max(from, min(step.Interval.To, time.Since(l.start)))
	}
	tally := recorder.Tally(0)
	l.asked += tally.Asked
	l.steps = append(l.steps, step)
	l.addSummary(&summary)
	l.warnStep(&summary, tally, step)
	l.report(step, tally, true)
	return Done{step, tally}, errors.Join(store.Save(l.store, l.steps), ctx.Err())
}

// targets are those of the next step. Their places go on where the step before
// ended: what is to differ from request to request differs in the whole run.
func (l *loads) targets() []load.Target {
	out := slices.Clone(l.o.Load.Targets)
	for i := range out {
		out[i].Fill = out[i].Fill.From(l.asked)
	}
	return out
}

// nextSecond returns the first whole second at or after t, with time to get ready.
func nextSecond(t time.Duration) time.Duration {
	const ready = 50 * time.Millisecond
	return (t + ready + time.Second - 1).Truncate(time.Second)
}

// pause waits until shortly before the step begins; the engine waits the rest.
func (l *loads) pause(ctx context.Context, step kasoku.Step, from time.Duration) error {
	l.progress(Progress{Phase: PhasePause, Step: step})
	t := time.NewTimer(from - time.Since(l.start) - 20*time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow keeps the seconds as they fill and reports the progress, until stopped.
func (l *loads) follow(recorder *load.Recorder, step kasoku.Step) (stop func()) {
	quit := make(chan struct{})
	finished := contain.Go(contain.Part{Kind: contain.Step, Name: "seconds"}, func() {
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-tick.C:
			case <-quit:
				l.keepSeconds(mask.Seconds(numbered(recorder.Take(), step.Number)))
				return
			}
			if n%4 == 0 {
				l.keepSeconds(mask.Seconds(numbered(recorder.Take(), step.Number)))
			}
			l.report(step, recorder.Tally(0), false)
		}
	})
	return func() {
		close(quit)
		<-finished
	}
}

func (l *loads) report(step kasoku.Step, t *kasoku.Tally, over bool) {
	l.progress(Progress{
		Phase: PhaseLoad, Step: step, Over: over,
		Elapsed: min(max(time.Since(l.start)-step.Interval.From, 0), step.Interval.Len()),
		OK:      t.Success, Failed: t.Failed(), P99: t.Latency.Quantile(0.99),
	})
}

// keepSeconds adds what seconds counted to the run file.
func (l *loads) keepSeconds(seconds []kasoku.LoadSecond) {
	for i := range seconds {
		l.loaded += successes(seconds[i].Codes)
	}
	l.unkept = append(l.unkept, seconds...)
	if err := l.storeSeconds(); err != nil {
		l.warnOnce(kasoku.Warning{Code: "store", Text: "keep the load's seconds: " + err.Error()})
	}
}

// storeSeconds stores what is not stored yet; with an error it is tried again.
func (l *loads) storeSeconds() error {
	if len(l.unkept) == 0 {
		return nil
	}
	err := l.store.AddSeconds(l.unkept)
	if err == nil {
		l.unkept = nil
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
func (l *loads) addSummary(one *kasoku.LoadSummary) {
	if l.summary == nil {
		whole := *one
		whole.Targets = slices.Clone(one.Targets)
		l.summary = &whole
		return
	}
	sum := l.summary
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
func (l *loads) warnStep(one *kasoku.LoadSummary, t *kasoku.Tally, step kasoku.Step) {
	for _, w := range load.Warnings(*one, t) {
		w.Text = fmt.Sprintf("step %d: %s", step.Number, w.Text)
		before := l.saidBefore[w.Code]
		if before > 0 {
			l.forgetWarnings(w.Code)
			w.Text += fmt.Sprintf("; likewise in %d of the steps before", before)
		}
		l.saidBefore[w.Code]++
		l.warn(w)
	}
}

// save stores what came of the load, whoever made it.
func (l *loads) save() error {
	l.warn(l.handed...)
	if l.summary == nil {
		return nil
	}
	return errors.Join(store.Save(l.store, l.steps), l.storeSeconds(), l.store.SaveLoad(l.summary))
}
