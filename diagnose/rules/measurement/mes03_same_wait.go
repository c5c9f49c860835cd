package measurement

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SameWait is the rule MES-03.
type SameWait struct{}

// waitShare is MES-03's threshold: what takes half of the time hides the rest.
const waitShare = 0.5

// ID returns MES-03.
func (SameWait) ID() string { return "MES-03" }

// Doc describes the rule.
func (SameWait) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `says that both sides of a comparison wait for the same thing.`,
		Evidence: `in the run and in its baseline at least half of the requests' time is the wait for one
			resource: the disk at commits, locks of rows, or connections of the pool.`,
		Cause: `what is compared is how long that takes, not what was changed; with it gone the ranking
			may turn round.`,
		Fix: `take the wait away on both sides, then compare again.`,
		Silent: `without a baseline, and when either side waits for something else or for nothing that was
			recorded.`,
	}
}

// A waiting is what requests wait for.
type waiting struct {
	on    string
	share float64
	of    string
	cause string // id of the rule that says more
}

// waitOf returns what a run waits for most; without a share when it is nothing.
func waitOf(c *diagnose.Case) (most waiting, known bool) {
	take := func(w waiting, err error) {
		if err != nil {
			return
		}
		known = true
		if w.share > most.share {
			most = w
		}
	}
	k, err := evidence.CommitsOf(c)
	if !k.Redo && !k.Sync {
		k.Share = 0 // no commit waits for the disk
	}
	take(waiting{"the disk at commits", k.Share, k.Of, "DBC-01"}, err)
	l, err := evidence.LockLoadOf(c)
	if err == nil {
		err = l.Whose
	}
	take(waiting{"locks of rows", l.Share, l.Of, "LCK-01"}, err)
	p, err := evidence.PoolLoads(c)
	take(waiting{"connections of the pool", p.Share, p.Of, "POOL-06"}, err)
	return most, known
}

// Check compares what both sides wait for.
func (r SameWait) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if c.Baseline == nil {
		return nil, diagnose.Blind(r.ID(), diagnose.ErrNoBaseline)
	}
	now, ok := waitOf(c)
	was, had := waitOf(diagnose.NewCase(c.Baseline, nil))
	switch {
	case !ok || !had:
		return nil, diagnose.Blind(r.ID(), fmt.Errorf("what requests wait for was not recorded in both runs"))
	case now.on != was.on || now.share == 0:
		return nil, diagnose.Quiet(r.ID(), 0, "the two sides do not wait for the same thing")
	case min(now.share, was.share) < waitShare:
		return nil, diagnose.Quiet(r.ID(), min(now.share, was.share)/waitShare,
			"both sides wait for %s, %s and %s %s; the threshold is %s",
			now.on, unit.Percent(was.share), unit.Percent(now.share), now.of, unit.Percent(waitShare))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "comparison", Name: now.on}, Severity: kasoku.Info,
		Title:      wording.Cut("Both sides of the comparison wait for "+now.on, 70),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Impact:     kasoku.Impact{Of: evidence.OfRequests(c)},
		Evidence: []kasoku.Evidence{{
			Source: "comparison", Text: "wait for " + now.on, Note: now.of + ", see " + now.cause,
			Value:  unit.Percent(was.share) + " → " + unit.Percent(now.share),
			Number: now.share, Strong: true, Interval: c.Focus.Interval,
		}},
		Cause: fmt.Sprintf("The baseline spends %s and the run %s %s waiting for %s. The comparison measures that, not "+
			"what was changed.",
			unit.Percent(was.share), unit.Percent(now.share), now.of, now.on),
		Fixes: []kasoku.Fix{{Text: "Take this wait away on both sides, then compare again",
			Note: now.cause + " says how.", Risk: kasoku.RiskNone}},
		Expect: "a comparison of what was changed", Verify: "repeat both runs without the wait",
		Interval: c.Focus.Interval,
	}}, nil
}
