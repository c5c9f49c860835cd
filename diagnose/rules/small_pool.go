package rules

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// SmallPool finds a pool of connections that is too small.
//
// Evidence: what the program publishes of its pool (sql.DBStats over expvar) says
// that requests waited for a connection for at least 5 % of their time, at least one
// in ten of them, while locks of rows took less than half of that.
// Cause: requests queue in the program for one of few connections; the database
// is not asked.
// Fix: as many connections as requests want at once, which follows from what they
// waited.
// Silent: when they waited less, or locks hold the connections (LCK-01: more of them
// would only wait too), or the database's host has no CPU left; blind when no pool
// is published.
type SmallPool struct{}

// Thresholds of POOL-06.
const (
	poolShare = 0.05
	// poolByLocks is the most of the pool's wait that locks may explain.
	poolByLocks  = 0.5
	fewPoolWaits = 20
	// waitersShare of the requests wait where a pool is too small; fewer are those
	// of a moment in which the program or the database stood still.
	waitersShare = 0.10
)

// ID returns POOL-06.
func (SmallPool) ID() string { return "POOL-06" }

// Check compares the wait for connections with the requests' time.
func (r SmallPool) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	p, err := poolLoads(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	least := float64(fewPoolWaits)
	if n, err := wholeRun(c).Requests(c.Whole()); err == nil {
		least = max(least, waitersShare*float64(n.Count))
	}
	if p.share < poolShare || p.waits.By < least {
		return nil, diagnose.Quiet(r.ID(), min(p.share/poolShare, p.waits.By/least),
			"requests waited for a connection %s times, %s %s; the thresholds are %s and %s",
			diagnose.Whole(p.waits.By), unit.Percent(p.share), p.of, diagnose.Whole(least), unit.Percent(poolShare))
	}
	locks := lockTime(c).Seconds()
	if locks > poolByLocks*p.wait.By || locks > 0.2*p.inUse*busyTime(c) {
		return nil, diagnose.Quiet(r.ID(), 0.5,
			"connections are held up by locks of rows for %s: more of them would wait too",
			unit.Duration(time.Duration(locks*float64(time.Second))))
	}
	if busy, cores, err := usedCPU(c); err == nil && cores > 0 && busy/cores >= saturated {
		return nil, diagnose.Quiet(r.ID(), 0.5, "the host is %s busy: more connections would share the same CPU",
			unit.Percent(busy/cores))
	}
	want := wanted(c, p)
	limit := unit.Plain(p.limit)
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "pool", Name: "connections"},
		Title:  fmt.Sprintf("Requests wait for one of %s connections", limit),
		Clause: fmt.Sprintf("requests wait for one of %s connections of the pool", limit), Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: p.limit > 0 && p.inUse >= p.limit, Lacks: "not all connections were seen in use"},
			diagnose.Signal{Holds: locks <= 0.1*p.wait.By, Lacks: "some of it are locks of rows"}),
		Impact: kasoku.Impact{Share: p.share, Of: p.of},
		Evidence: []kasoku.Evidence{
			{Source: sourceExpvar, Text: "WaitDuration", Note: "pool " + cut(p.name, 40),
				Value: unit.Duration(time.Duration(min(p.wait.By, 1e9) * float64(time.Second))), Number: p.wait.By,
				Strong: true,
				Series: []kasoku.Key{p.wait.Key}, Interval: c.Whole()},
			wholeRun(c).Counted(p.waits, true),
			{Source: sourceExpvar, Text: "InUse", Note: "of " + limit, Value: unit.Plain(p.inUse), Number: p.inUse,
				Strong:   true,
				Series:   []kasoku.Key{{Host: p.wait.Key.Host, Source: sourceExpvar, Name: "InUse", Instance: p.name}},
				Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("All %s connections are in use and requests queue for one in the program: %s of them waited, %s %s. Locks of rows took %s of that.",
			limit, diagnose.Whole(p.waits.By), unit.Percent(p.share), p.of,
			unit.Percent(min(locks/max(p.wait.By, 1e-9), 1))),
		Fixes: []kasoku.Fix{{
			Text: fmt.Sprintf("Let the pool open %d connections", want), Where: "where the pool is opened", Lang: "go",
			Code: fmt.Sprintf("db.SetMaxOpenConns(%d)\ndb.SetMaxIdleConns(%d)", want, want),
			Risk: kasoku.RiskAppRestart,
			Note: fmt.Sprintf("On average %s requests waited beside the %s that had one. Keep it below max_connections.", unit.Sig3(p.ahead), limit),
		}},
		Expect: "no wait for a connection", Verify: "repeat the load: WaitDuration must not grow", Interval: c.Whole(),
	}}, nil
}

// wanted is how many connections requests want at once, with a quarter to spare,
// within what the server allows.
func wanted(c *diagnose.Case, p poolLoad) int {
	n := math.Ceil((max(p.limit, p.inUse) + p.ahead) * 1.25)
	if most, ok := c.Number("max_connections"); ok && most >= 10 {
		n = min(n, math.Floor(0.8*most))
	}
	return int(min(max(n, 1), 10_000))
}
