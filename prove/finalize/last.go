package finalize

import (
	"context"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/median"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/store"
)

// muchLess is how far below the median of the runs before the last one may be. Two
// runs of an unchanged service differ by less than a tenth.
const muchLess = 0.9

// lastRun makes the last run and holds it against those before.
func (w *walker) lastRun(ctx context.Context) {
	const what = "worth"
	w.assets(ctx)
	w.otherHosts()
	if w.LastRun == nil {
		w.result.skip(PartRun, what, "no load in kasoku.toml")
		return
	}
	var facts Facts
	for _, p := range w.data.taken {
		if len(p.Facts) > 0 {
			facts.Configs = append(facts.Configs, p.Config())
		}
	}
	facts.Settings = w.units.settings()
	o, err := w.LastRun(ctx, facts)
	if err != nil {
		w.result.cannot(PartRun, what, err, "")
		return
	}
	w.progress("last run")
	res, err := record.Record(ctx, o)
	if res != nil {
		w.result.LastRun, w.result.Path = res.Recording, res.Path
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		w.result.cannot(PartRun, what, err, "")
		return
	}
	w.result.add(judgeWorth(what, res.Recording, w.Earlier))
}

// judgeWorth compares the last run's worth with those of runs before.
func judgeWorth(what string, rec *kasoku.Recording, before []store.Info) Item {
	value, of := Worth(rec.Run.Score, rec.Summary)
	i := Item{Part: PartRun, What: what, Status: OK}
	see := func(format string, args ...any) { i.Saw = append(i.Saw, fmt.Sprintf(format, args...)) }
	bad := func(fix string) { i.Status, i.Fix = Bad, fix }
	if of != "" {
		see("%s %s", of, unit.Sig3(value))
	}
	if rec.Run.State != kasoku.Finished {
		see("it was stopped: %s", rec.Run.StopReason)
		bad("its output says why: `kasoku show " + rec.Run.ID + "`")
	}
	if rec.Run.Score != nil && rec.Run.Score.Outcome == kasoku.Failed {
		see("the benchmark says: failed")
		bad("its output says why: `kasoku show " + rec.Run.ID + "`")
	}
	earlier := worthsOf(before, of)
	switch {
	case of == "":
		see("nothing counted its requests")
		if i.Status == OK {
			i.Status = Skipped
		}
	case len(earlier) == 0:
		see("no run before it to compare with")
	default:
		best, middle := earlier[len(earlier)-1], median.Of(earlier)
		see("best %s, median %s of %d before", unit.Sig3(best), unit.Sig3(middle), len(earlier))
		switch {
		case value < leastOfBest*best && i.Status == OK:
			see("%s of the best", unit.Percent(value/best))
			bad("below 80 % of the best a contest may disqualify it: `kasoku compare` with the best run says what was lost")
		case value < muchLess*middle && i.Status == OK:
			bad("compare it with the best run: `kasoku compare`; something is still on, or was lost at the restart")
		}
	}
	return i
}

// worthsOf returns what the runs before were worth in the same measure, in order.
func worthsOf(runs []store.Info, of string) (out []float64) {
	for _, r := range runs {
		if r.Err != nil || r.State != kasoku.Finished || r.Checkpoint() {
			continue
		}
		if v, same := Worth(r.Score, r.Summary); same == of && v > 0 {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// Worth returns what a run is compared by: its score, else its successful requests
// a second. of says which; it is empty when there is neither.
func Worth(score *kasoku.Score, s *kasoku.Summary) (value float64, of string) {
	switch {
	case score != nil:
		return score.Value, "score"
	case s != nil && s.Source != "":
		return s.PerSec, "requests/s"
	}
	return 0, ""
}
