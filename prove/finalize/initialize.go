package finalize

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// tightLimit is the part of its limit that initialize may use: the benchmark's
// host measures it, over a network and beside its own work.
const tightLimit = 0.8

// initialize calls initialize and looks what it did to the schema.
func (w *walker) initialize(ctx context.Context) {
	const keeps = "indexes"
	before, err := w.probe(ctx, diagnose.AtStart)
	if err != nil {
		w.cannot(PartInitialize, "data", err, "")
	}
	w.unstable(ctx, before)
	if w.Initialize == "" {
		w.skip(PartInitialize, keeps, "no finalize.initialize in kasoku.toml")
		return
	}
	if !w.callInitialize(ctx, diagnose.AfterInitialize) {
		return
	}
	after, err := w.probe(ctx, diagnose.AfterInitialize)
	if err != nil {
		w.cannot(PartInitialize, keeps, err, "")
		return
	}
	if w.db == nil {
		w.skip(PartInitialize, keeps, "no database in kasoku.toml")
		return
	}
	w.check(PartInitialize, keeps, listDifferences(before, after, diagnose.FactIndex),
		[]string{unit.Counted(after.Count(diagnose.FactIndex), "index is",
			"indexes are") + " still there after initialize"},
		"put the index into the schema file that initialize runs, or let it empty tables instead of dropping them")
}

// unstable leaves out the answers that differ when they are asked for twice: they
// prove nothing.
func (w *walker) unstable(ctx context.Context, first diagnose.Probe) {
	for _, request := range slices.Clone(w.Answers) {
		again, err := w.answer(ctx, request)
		if err != nil || again == first.Facts[diagnose.FactAnswer+request] {
			continue
		}
		w.Answers = slices.DeleteFunc(slices.Clone(w.Answers), func(r string) bool { return r == request })
		w.skip(PartInitialize, request, "it answers differently each time")
	}
}

// callInitialize calls initialize, says how long it took and whether it went well.
func (w *walker) callInitialize(ctx context.Context, at string) bool {
	what := "time"
	if at == diagnose.AfterReinitialize {
		what = "time, restarted"
	}
	w.progress("initialize")
	// Twice the limit, so that the report says how long it takes instead of only that
	// it takes too long.
	ctx, cancel := context.WithTimeout(ctx, 2*w.Limit)
	defer cancel()
	start := time.Now()
	resp, err := w.do(ctx, w.Initialize)
	if err != nil {
		w.cannot(PartInitialize, what, err, "")
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	took := time.Since(start)
	saw := fmt.Sprintf("%s: %d in %s, the limit is %s", w.Initialize, resp.StatusCode, unit.Duration(took),
		unit.Duration(w.Limit))
	i := Item{Part: PartInitialize, What: what, Status: OK, Saw: []string{saw}}
	switch {
	case err != nil:
		i.Status, i.Saw = Bad, append(i.Saw, err.Error())
	case resp.StatusCode >= 300:
		i.Status, i.Fix = Bad, "the application's log says why"
	case took.Seconds() >= tightLimit*w.Limit.Seconds():
		i.Status, i.Fix = Bad, "alter tables before they are loaded, all changes of one in one `ALTER`; one `UPDATE … CASE` instead of one a group"
	}
	w.add(i)
	return err == nil && resp.StatusCode < 300
}
