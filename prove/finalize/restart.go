package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// pollEvery is how often a unit is asked whether it is up.
const pollEvery = 200 * time.Millisecond

// restart stops all units and starts them in the right order; then it looks
// whether anything was lost.
func (w *walker) restart(ctx context.Context) {
	const what = "right order"
	if len(w.units) == 0 {
		w.skip(PartRestart, what, "no finalize.units in kasoku.toml")
		return
	}
	vars, varsErr := w.variables(ctx)
	restarts := 0
	if w.db != nil {
		restarts = w.db.Restarts()
	}
	w.stopAll(ctx)
	start := time.Now()
	var bad []string
	for _, u := range w.units {
		if ctx.Err() != nil {
			break
		}
		w.progress("start %s", u.Name)
		err := u.Start(ctx)
		if upErr := w.up(ctx, u, start.Add(w.Wait)); upErr != nil {
			bad = append(bad, w.describe(ctx, u, errors.Join(err, upErr)))
			break // those that need it cannot come up
		}
	}
	if ctx.Err() == nil {
		good := []string{fmt.Sprintf("%s, in %s", strings.Join(namesOf(w.units), ", "),
			time.Since(start).Round(100*time.Millisecond))}
		w.check(PartRestart, what, bad, good, "its log says why it does not come up")
	}
	if len(bad) > 0 || ctx.Err() != nil {
		w.bringUp(ctx, PartRestart)
		return
	}
	w.sameSettings(ctx, vars, varsErr, restarts)
	w.sameData(ctx)
}

// wrongOrder starts the units in the reverse of the right order, as hosts do that
// boot at once.
func (w *walker) wrongOrder(ctx context.Context) {
	const what = "wrong order"
	if len(w.units) < 2 {
		w.skip(PartOrder, what, "fewer than two finalize.units in kasoku.toml")
		return
	}
	w.stopAll(ctx)
	wrong := slices.Clone(w.units)
	slices.Reverse(wrong)
	failed := map[string]error{}
	start := time.Now()
	for i, u := range wrong {
		if ctx.Err() != nil {
			break
		}
		w.progress("start %s before what it needs", u.Name)
		failed[u.Name] = u.Start(ctx)
		if i < len(wrong)-1 {
			pauseFor(ctx, w.Gap)
		}
	}
	var bad []string
	for _, u := range wrong {
		if ctx.Err() != nil {
			break
		}
		if err := w.up(ctx, u, time.Now().Add(w.Wait)); err != nil {
			bad = append(bad, w.describe(ctx, u, errors.Join(failed[u.Name], err)))
		}
	}
	if ctx.Err() == nil {
		good := []string{fmt.Sprintf("%s, %s apart, all up after %s", strings.Join(namesOf(wrong), ", "), w.Gap,
			time.Since(start).Round(100*time.Millisecond))}
		w.check(PartOrder, what, bad, good,
			"let the application try again, with growing pauses, when what it needs refuses it at the start; `StartLimitBurst=999` in its unit is a stop-gap")
	}
	if len(bad) > 0 || ctx.Err() != nil {
		w.bringUp(ctx, PartOrder)
	}
}

// stopAll stops the units in the reverse of the right order.
func (w *walker) stopAll(ctx context.Context) {
	for _, u := range slices.Backward(w.units) {
		if ctx.Err() != nil {
			return
		}
		w.progress("stop %s", u.Name)
		if err := u.Stop(ctx); err != nil && ctx.Err() == nil {
			w.cannot(PartRestart, u.Name+" stops", err, "")
		}
	}
}

// up waits until a unit answers.
func (w *walker) up(ctx context.Context, u Unit, until time.Time) error {
	ctx, cancel := context.WithDeadlineCause(ctx, until, fmt.Errorf("not up after %s", w.Wait))
	defer cancel()
	for {
		err := u.Check(ctx)
		if err == nil {
			return nil
		}
		if pauseFor(ctx, pollEvery); ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// bringUp starts what does not answer, in the right order, also when the context
// has ended: the service is not to be left down.
func (w *walker) bringUp(ctx context.Context, part string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Wait)
	defer cancel()
	until := time.Now().Add(w.Wait)
	var bad []string
	for _, u := range w.units {
		if u.Check(ctx) == nil {
			continue
		}
		w.progress("start %s again", u.Name)
		err := errors.Join(u.Stop(ctx), u.Start(ctx))
		if upErr := w.up(ctx, u, until); upErr != nil {
			bad = append(bad, w.describe(ctx, u, errors.Join(err, upErr)))
		}
	}
	w.check(part, "left running", bad, []string{strings.Join(namesOf(w.units), ", ")},
		"start them by hand, in this order: "+strings.Join(namesOf(w.units), ", "))
}

// describe says of a unit what is wrong with it, and remembers its state.
func (w *walker) describe(ctx context.Context, u Unit, err error) string {
	text := u.Name + ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
	if s, ok := u.Service.(Stater); ok {
		if state := s.State(ctx); state != "" {
			w.states[u.Name] = state
			text += "; its state is " + state
		}
	}
	return text
}

// unitStates are the states of units that did not come up, as settings.
func (w *walker) unitStates() (out []kasoku.Setting) {
	for _, u := range w.units {
		if state := w.states[u.Name]; state != "" {
			out = append(out, kasoku.Setting{Scope: capture.ScopeUnit, Name: u.Name, Value: state})
		}
	}
	return out
}

// sameData compares the data with what it was before the restart, then after
// initialize with what initialize left before it.
func (w *walker) sameData(ctx context.Context) {
	const what = "data"
	before, ok := w.taken(diagnose.AfterInitialize)
	if !ok {
		before, ok = w.taken(diagnose.AtStart)
	}
	if !ok {
		w.skip(PartRestart, what, "nothing to compare with: the part "+PartInitialize+" was skipped")
		return
	}
	w.compare(ctx, before, diagnose.AfterRestart, what,
		"fill the cache where the application starts, too, not only in initialize")
	if before.At != diagnose.AfterInitialize {
		return
	}
	if w.callInitialize(ctx, diagnose.AfterReinitialize) {
		w.compare(ctx, before, diagnose.AfterReinitialize, "data, initialized",
			"let initialize rebuild caches and indexes, whatever ran before it")
	}
}

// compare takes a probe and compares it.
func (w *walker) compare(ctx context.Context, before diagnose.Probe, at, what, fix string) {
	now, err := w.probe(ctx, at)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		w.cannot(PartRestart, what, err, "")
	case len(now.Facts) == 0:
		w.skip(PartRestart, what, "neither a database nor finalize.answers in kasoku.toml")
	default:
		good := []string{fmt.Sprintf("%s, %s, %s: the same "+at, unit.Counted(now.Count(diagnose.FactRows),
			"row count", "row counts"),
			unit.Counted(now.Count(diagnose.FactIndex), "index", "indexes"),
			unit.Counted(now.Count(diagnose.FactAnswer), "answer", "answers"))}
		w.check(PartRestart, what, listDifferences(before, now, diagnose.FactRows, diagnose.FactIndex, diagnose.FactAnswer),
			good, fix)
	}
}

// taken returns the probe of a moment.
func (w *walker) taken(at string) (diagnose.Probe, bool) {
	for _, p := range w.result.Probes {
		if p.At == at {
			return p, true
		}
	}
	return diagnose.Probe{}, false
}

func namesOf(units []Unit) []string {
	var out []string
	for _, u := range units {
		out = append(out, u.Name)
	}
	return out
}

// pauseFor waits, or until the context ends.
func pauseFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
