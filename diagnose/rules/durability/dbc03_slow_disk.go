package durability

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// SlowDisk is the rule DBC-03.
type SlowDisk struct{}

// Thresholds of DBC-03.
const (
	// slowWrite is what a disk of flash does not take, nor a cached one.
	slowWrite = 2 * time.Millisecond
	// busyDisk is how busy the disk must be: one that is idle delays nothing.
	busyDisk = 0.30
)

// ID returns DBC-03.
func (SlowDisk) ID() string { return "DBC-03" }

// Doc describes the rule.
func (SlowDisk) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a disk that slows writes down although no commit waits for it.`,
		Evidence: `no log is synchronised at commit, and still commits and single writes take at least 5 %
			of the requests' time beyond what the cheapest read takes, while a disk of the host took more than
			2 ms for a write on average and was busy for at least 30 % of the time.`,
		Cause: `pages and logs are written slower than they are changed, so that writes wait for room in
			the log or in the buffer pool.`,
		Fix: `faster storage for the data directory or the redo log.`,
		Silent: `while a log is synchronised at commit, which is DBC-01's and first; when writes cost
			little or disks are fast, or the host has no CPU left; blind without the slow log or disks.`,
		Host: []diagnose.Pressure{diagnose.OnDisk},
	}
}

// Check looks for slow writes that no setting explains.
func (r SlowDisk) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	k, err := evidence.CommitsOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if k.Redo || k.Sync {
		return nil, diagnose.Quiet(r.ID(), 0, "a log is synchronised at commit: that comes first")
	}
	d, err := databaseDisk(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	near := min(k.Share/syncShare, d.each.Seconds()/slowWrite.Seconds(), d.busy/busyDisk, float64(k.Calls)/evidence.FewCommits)
	if near < 1 {
		return nil, diagnose.Quiet(r.ID(), near,
			"writes wait for %s %s, and a disk takes %s for a write and is %s busy; the thresholds are %s, %s and %s",
			unit.Percent(k.Share), k.Of, unit.Duration(d.each), unit.Percent(d.busy), unit.Percent(syncShare),
			unit.Duration(slowWrite), unit.Percent(busyDisk))
	}
	if busy, ok := evidence.HostBusy(c); ok && busy >= evidence.Saturated {
		return nil, diagnose.Quiet(r.ID(), 0.5, "the host's CPU is %s busy: statements wait for that", unit.Percent(busy))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "disk", Name: d.name},
		Title:    fmt.Sprintf("Writes wait for the disk %s, %s each", wording.Cut(d.name, 20), unit.Duration(d.each)),
		Clause:   "writes wait for a slow disk",
		Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: d.busy >= 2*busyDisk, Lacks: "the disk had time left"}),
		Impact: kasoku.Impact{Share: k.Share, Of: k.Of, Estimate: true},
		Evidence: append([]kasoku.Evidence{
			{Source: "host", Text: "a write to " + d.name, Note: unit.Percent(d.busy) + " busy",
				Value: unit.Duration(d.each), Number: d.each.Seconds(), Strong: true, Series: d.keys,
				Interval: c.Whole()},
			c.Quote().Variable("innodb_flush_log_at_trx_commit"),
		}, k.Evidence(c)...),
		Cause: fmt.Sprintf("No commit waits for the log any more, and single writes still take %s each beyond a "+
			"statement's own: the disk %s takes %s for a write.",
			unit.Duration(k.Each()), d.name, unit.Duration(d.each)),
		Fixes: []kasoku.Fix{{
			Text:  "Put the data directory, or the redo log alone, on faster storage",
			Where: "the option file; takes a restart",
			Note: "innodb_log_group_home_dir names the directory of the redo log; move its files there while the server " +
				"is stopped. On tmpfs only what may be lost: without its redo log a server does not start.",
			Risk: kasoku.RiskRestart,
		}},
		Expect: "writes that take less than 2 ms", Verify: "repeat the load: the disk's time for a write must fall",
		Interval: c.Whole(),
	}}, nil
}
