package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// restart stops all units and starts them in the right order; then it looks
// whether anything was lost.
func (w *walker) restart(ctx context.Context) {
	const what = "right order"
	w.atBoot(ctx)
	if len(w.units.units) == 0 {
		w.result.skip(PartRestart, what, "no finalize.units in kasoku.toml")
		return
	}
	settings := rememberSettings(ctx, w.db)
	w.stopAll(ctx)
	start := time.Now()
	var bad []string
	for _, u := range w.units.units {
		if ctx.Err() != nil {
			break
		}
		w.progress("start %s", u.Name)
		err := u.Start(ctx)
		if upErr := w.units.up(ctx, u, start.Add(w.Wait)); upErr != nil {
			bad = append(bad, w.units.describe(ctx, u, errors.Join(err, upErr)))
			break // those that need it cannot come up
		}
	}
	if ctx.Err() == nil {
		good := []string{fmt.Sprintf("%s, in %s", strings.Join(namesOf(w.units.units), ", "),
			time.Since(start).Round(100*time.Millisecond))}
		w.result.check(PartRestart, what, bad, good, "its log says why it does not come up")
	}
	if len(bad) > 0 || ctx.Err() != nil {
		w.bringUp(ctx, PartRestart)
		return
	}
	w.result.add(settings.compare(ctx, w.Earlier))
	w.sameData(ctx)
}

// wrongOrder starts the units in the reverse of the right order, as hosts do that
// boot at once.
func (w *walker) wrongOrder(ctx context.Context) {
	const what = "wrong order"
	if len(w.units.units) < 2 {
		w.result.skip(PartOrder, what, "fewer than two finalize.units in kasoku.toml")
		return
	}
	w.stopAll(ctx)
	wrong := slices.Clone(w.units.units)
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
		if err := w.units.up(ctx, u, time.Now().Add(w.Wait)); err != nil {
			bad = append(bad, w.units.describe(ctx, u, errors.Join(failed[u.Name], err)))
		}
	}
	if ctx.Err() == nil {
		good := []string{fmt.Sprintf("%s, %s apart, all up after %s", strings.Join(namesOf(wrong), ", "), w.Gap,
			time.Since(start).Round(100*time.Millisecond))}
		w.result.check(PartOrder, what, bad, good,
			"let the application try again, with growing pauses, when what it needs refuses it at the start; `StartLimitBurst=999` in its unit is a stop-gap")
	}
	if len(bad) > 0 || ctx.Err() != nil {
		w.bringUp(ctx, PartOrder)
	}
}

// stopAll stops the units.
func (w *walker) stopAll(ctx context.Context) {
	for _, failed := range w.units.stop(ctx) {
		w.result.cannot(PartRestart, failed.name+" stops", failed.err, "")
	}
}

// bringUp starts what does not answer.
func (w *walker) bringUp(ctx context.Context, part string) {
	names := strings.Join(namesOf(w.units.units), ", ")
	w.result.check(part, "left running", w.units.bringUp(ctx), []string{names},
		"start them by hand, in this order: "+names)
}

// sameData compares the data with what it was before the restart, then after
// initialize with what initialize left before it.
func (w *walker) sameData(ctx context.Context) {
	const what = "data"
	before, ok := w.data.at(diagnose.AfterInitialize)
	if !ok {
		before, ok = w.data.at(diagnose.AtStart)
	}
	if !ok {
		w.result.skip(PartRestart, what, "nothing to compare with: the part "+PartInitialize+" was skipped")
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
	now, err := w.data.probe(ctx, at)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		w.result.cannot(PartRestart, what, err, "")
	case len(now.Facts) == 0:
		w.result.skip(PartRestart, what, "neither a database nor finalize.answers in kasoku.toml")
	default:
		good := []string{fmt.Sprintf("%s, %s, %s: the same "+at, unit.Counted(now.Count(diagnose.FactRows),
			"row count", "row counts"),
			unit.Counted(now.Count(diagnose.FactIndex), "index", "indexes"),
			unit.Counted(now.Count(diagnose.FactAnswer), "answer", "answers"))}
		w.result.check(PartRestart, what, listDifferences(before, now, diagnose.FactRows, diagnose.FactIndex, diagnose.FactAnswer),
			good, fix)
	}
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
