package pool

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
)

// SmallPool is the rule POOL-06.
type SmallPool struct{}

// Thresholds of POOL-06.
const (
	poolShare = 0.05
	// somePoolShare is the least part that is worth a remark.
	somePoolShare = 0.01
	// poolByLocks is the most of the pool's wait that locks may explain.
	poolByLocks  = 0.5
	fewPoolWaits = 20
	// queuedSeconds is in how many seconds one in ten requests waits at least, if not in the whole run. Fewer are
	// those of a moment in which the program or the database stood still.
	queuedSeconds = 3
)

// ID returns POOL-06.
func (SmallPool) ID() string { return "POOL-06" }

// Doc describes the rule.
func (SmallPool) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a pool of connections that is too small.`,
		Evidence: `what the program publishes of its pool (sql.DBStats over expvar) says that requests
			waited for a connection for at least 5 % of their time, with at least one wait for each
			ten requests of the run or of three of its seconds, while locks of rows took less than half
			of that, or those that hold these locks run no statement meanwhile, and none was logged for half
			of the time for which the connections were taken, by a whole slow log of a database on the
			program's host with CPU left; from 1 % on it is a remark. Where none is published: the slow log
			has nine in ten of the statements that the
			server counted, all of one connection, which was in them for 70 % of the time; with the
			program's CPU they fill nine tenths of it, two requests and more were open on average,
			and half a core was idle.`,
		Cause: `requests queue in the program for one of few connections; the database is not asked.`,
		Fix: `as many connections as requests want at once, which follows from what they waited; where the
			program holds them while it waits for something else, to give them back before.`,
		Silent: `when they waited less, or locks hold the connections (LCK-01: more of them would only
			wait too), or the service uses all of its database's host, or three statements for each core
			run at once there and no CPU is left, whoever uses it; blind when no pool is published
			and more than one connection was seen, or the workers have one request in work at a time (HW-12), or
			others use the server too.`,
		Host: []diagnose.Pressure{diagnose.OnCPU},
	}
}

// Check compares the wait for connections with the requests' time.
func (r SmallPool) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	p, err := evidence.PoolLoads(c)
	if err != nil {
		if only, ok := onlyOf(c); ok {
			return []kasoku.Finding{r.onlyFinding(c, only)}, nil
		}
		return nil, diagnose.Blind(r.ID(), err)
	}
	least := float64(fewPoolWaits)
	if n, err := evidence.WholeRun(c).Requests(c.Whole()); err == nil {
		least = max(least, evidence.QueuedShare*float64(n.Count))
	}
	if p.Share < somePoolShare || p.Waits.By < fewPoolWaits || p.Waits.By < least && p.Queued < queuedSeconds {
		return nil, diagnose.Quiet(r.ID(), min(p.Share/somePoolShare, p.Waits.By/least),
			"requests waited for connections %s times, %s %s, one in ten of them in %d seconds; the thresholds are "+
				"%s and %s, or %d seconds", diagnose.Whole(p.Waits.By), unit.Percent(p.Share), p.Of, p.Queued,
			diagnose.Whole(least), unit.Percent(somePoolShare), queuedSeconds)
	}
	locks := evidence.LockTime(c).Seconds()
	idle, quiet := p.HeldIdle(locks), p.LocksIdle(c, locks)
	if !(idle && quiet) && (locks > poolByLocks*p.Wait.By || locks > 0.2*p.InUse*evidence.BusyTime(c)) {
		return nil, diagnose.Quiet(r.ID(), 0.5,
			"connections are held up by locks of rows for %s: more of them would wait too",
			unit.Duration(time.Duration(locks*float64(time.Second))))
	}
	busy, cores, err := evidence.UsedCPU(c, evidence.DatabaseHost(c))
	if err == nil && cores > 0 && busy/cores >= evidence.Saturated {
		return nil, diagnose.Quiet(r.ID(), 0.5,
			"the service uses %s of the database's host's CPU, which more connections would share", unit.Percent(busy/cores))
	}
	if crowd := evidence.Crowded(c); crowd != "" {
		return nil, diagnose.Quiet(r.ID(), 0.5, "%s: more connections would share the same CPU", crowd)
	}
	severity := kasoku.Problem
	if p.Share < poolShare {
		severity = kasoku.Info
	}
	limit := unit.Plain(p.Limit)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "pool", Name: "connections"},
		Title:  fmt.Sprintf("Requests wait for one of %s connections", limit),
		Clause: fmt.Sprintf("requests wait for one of %s connections of the pool", limit), Severity: severity,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: p.Limit > 0 && p.InUse >= p.Limit, Lacks: "not all connections were seen in use"},
			diagnose.Signal{Holds: locks <= 0.1*p.Wait.By, Lacks: "some of it are locks of rows"}),
		Impact: kasoku.Impact{Share: p.Share, Of: p.Of},
		Evidence: []kasoku.Evidence{
			{Source: evidence.SourceExpvar, Text: expvar.WaitDuration, Note: "pool " + wording.Cut(p.Name, 40),
				Value: unit.Duration(time.Duration(min(p.Wait.By, 1e9) * float64(time.Second))), Number: p.Wait.By,
				Strong: true,
				Series: []kasoku.Key{p.Wait.Key}, Interval: c.Whole()},
			evidence.WholeRun(c).Quote().Counted(p.Waits, true),
			{Source: evidence.SourceExpvar, Text: expvar.InUse, Note: "of " + limit,
				Value: unit.Plain(p.InUse), Number: p.InUse,
				Strong: true,
				Series: []kasoku.Key{{Host: p.Wait.Key.Host, Source: evidence.SourceExpvar, Name: expvar.InUse,
					Instance: p.Name}},
				Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("Requests queue in the program for one of its %s connections: %s waits, %s %s. Locks of rows "+
			"took %s of that.",
			limit, diagnose.Whole(p.Waits.By), unit.Percent(p.Share), p.Of,
			unit.Percent(min(locks/max(p.Wait.By, 1e-9), 1))),
		Fixes:  r.fixes(c, p),
		Expect: "no wait for a connection", Verify: "repeat the load: WaitDuration must not grow", Interval: c.Whole(),
	}
	if idle {
		r.addIdle(&f, c, p, quiet)
	}
	return []kasoku.Finding{f}, nil
}

// addIdle says that no statement was logged while the program held its connections; quiet is whether that is so of
// those that hold locks of rows.
func (SmallPool) addIdle(f *kasoku.Finding, c *diagnose.Case, p evidence.PoolLoad, quiet bool) {
	f.Evidence = append(f.Evidence, kasoku.Evidence{Source: c.StatementSource(), Strong: true, Interval: c.Whole(),
		Text: "time of its connections for which no statement was logged", Note: "of " +
			unit.Duration(time.Duration(p.Used*float64(time.Second))), Value: unit.Percent(p.Idle), Number: p.Idle})
	f.Cause += fmt.Sprintf(" For %s of the time for which they were taken no statement was logged: the program may have "+
		"had a transaction open, or rows that it did not close, while it did something else.", unit.Percent(p.Idle))
	if quiet {
		f.Cause += " Transactions that lock rows were open without a statement too: what they had locked by then stayed locked."
		f.Explains = append(f.Explains, "LCK-01") // what the open transaction has locked
	}
	f.Fixes = append([]kasoku.Fix{{
		Text: "Give the connection back before the program waits for something else", Risk: kasoku.RiskAppRestart,
		Where: "the handlers that wait: for a job, for another service, between two looks",
		Note: "End the transaction, and close the rows, before a wait, and begin anew after it: what each look reads is " +
			"newer then. A transaction that is open has a connection to itself, and keeps what it locked.",
	}}, f.Fixes...)
}

// serverPart is the part of max_connections that one pool takes at most.
const serverPart = 0.8

// fixes open more connections. Where the server does not allow more than the pool has, its
// limit is raised first.
func (SmallPool) fixes(c *diagnose.Case, p evidence.PoolLoad) []kasoku.Fix {
	want := min(math.Ceil((max(p.Limit, p.InUse)+p.Ahead)*1.25), 10_000) // a quarter to spare
	var out []kasoku.Fix
	if most, ok := c.Number("max_connections"); ok && most >= 10 && want > math.Floor(serverPart*most) {
		if room := math.Floor(serverPart * most); room > p.Limit {
			want = room
		} else {
			raised := math.Ceil(want/serverPart/50) * 50
			out = append(out, kasoku.Fix{
				Text: fmt.Sprintf("Raise max_connections first: the pool may open %s of the %s that the server allows",
					unit.Plain(p.Limit), diagnose.Whole(most)),
				Where: "now; in the option file for the next start", Lang: "sql", Risk: kasoku.RiskNone,
				Code: fmt.Sprintf("SET GLOBAL max_connections = %.0f;", raised), Note: memoryPrice(c, raised-most)})
		}
	}
	want = max(want, 1)
	return append(out, kasoku.Fix{
		Text: fmt.Sprintf("Let the pool open %.0f connections", want), Where: "where the pool is opened", Lang: "go",
		Code: fmt.Sprintf("db.SetMaxOpenConns(%.0f)\ndb.SetMaxIdleConns(%.0f)", want, want),
		Risk: kasoku.RiskAppRestart,
		Note: fmt.Sprintf("On average %s requests waited beside the %s that had one. Keep it below "+
			"max_connections.", unit.Sig3(p.Ahead), unit.Plain(p.Limit)),
	})
}
