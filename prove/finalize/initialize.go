package finalize

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// tightLimit is the part of its limit that initialize may use: the benchmark measures it from
// its own host, over a network and next to its own work.
const tightLimit = 0.8

// initialize calls initialize and checks what it did to the schema.
func (w *walker) initialize(ctx context.Context) {
	const keeps = "indexes"
	before, err := w.data.probe(ctx, diagnose.AtStart)
	if err != nil {
		w.result.cannot(PartInitialize, "data", err, "")
	}
	w.sayLeft()
	if w.Initialize == "" {
		w.result.skip(PartInitialize, keeps, "no finalize.initialize in kasoku.toml")
		return
	}
	if !w.callInitialize(ctx, diagnose.AfterInitialize) {
		return
	}
	after, err := w.data.probe(ctx, diagnose.AfterInitialize)
	w.sayLeft()
	if err != nil {
		w.result.cannot(PartInitialize, keeps, err, "")
		return
	}
	if w.db == nil {
		w.result.skip(PartInitialize, keeps, "no database in kasoku.toml")
		return
	}
	w.result.check(PartInitialize, keeps, listDifferences(before, after, diagnose.FactIndex),
		[]string{unit.Counted(after.Count(diagnose.FactIndex), "index is",
			"indexes are") + " still there after initialize"},
		"put the index into the schema file that initialize runs, or let it empty tables instead of dropping them")
}

// sayLeft reports which answers prove nothing, and why.
func (w *walker) sayLeft() {
	for i := range w.data.left {
		w.result.skip(PartInitialize, w.data.left[i].Request.Endpoint, w.data.left[i].Why)
	}
	w.data.left = nil
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
	resp, err := send(ctx, w.Initialize)
	if err != nil {
		w.result.cannot(PartInitialize, what, err, "")
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
	w.result.add(i)
	return err == nil && resp.StatusCode < 300
}
