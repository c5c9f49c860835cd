package durability

import (
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// CommitSync is the rule DBC-01.
type CommitSync struct{}

// Thresholds of DBC-01.
const (
	// syncShare is the least part of the requests' time worth a risk: where people
	// found it, 50 to 90 % of the time of an INSERT were the commit's.
	syncShare = 0.05
	// riskShare is the share below which it is a remark: what mends it costs
	// durability, which is more than a few percent are worth to most.
	riskShare = 0.1
	// writesPerSync is how many writes with a flush each a commit waits for at most, of each
	// log that it synchronises: the log's and that of the file system's journal, after those of
	// the group of commits before it.
	writesPerSync = 4
	// leastByDisk is the least part of the wait that the disk's own times must account for:
	// commits that take longer wait for something else, as rows or CPU.
	leastByDisk = 0.25
)

// ID returns DBC-01.
func (CommitSync) ID() string { return "DBC-01" }

// Doc describes the rule.
func (CommitSync) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds commits that wait for the disk.`,
		Evidence: `innodb_flush_log_at_trx_commit is 1, or the binary log is on and sync_binlog is 1, and
			by the slow log the commits, and the writes of few rows outside of transactions, take at least
			5 % of the requests' time beyond what the cheapest read of the run takes. Innodb_data_fsyncs bears
			it out, and that the disk's writes and flushes take as long.`,
		Cause: `each commit waits until the log is on the disk; however fast the rest is, a connection
			commits no faster than the disk synchronises.`,
		Fix: `let the log be synchronised once a second; a crash of the machine then loses the commits of
			up to the last second. Or put many writes into one transaction. Below 10 % of the time it is a
			remark.`,
		Silent: `when commits cost little, as on a disk that synchronises at once, and when neither log is
			synchronised at commit; when the disk's own times account for less than a quarter of the wait, or
			the host has no CPU left and they do not account for all of it, unless neighbours fill it: then the share
			is what the disk itself takes; blind without the slow log.`,
		Host: []diagnose.Pressure{diagnose.OnDisk},
	}
}

// Check adds up what commits wait.
func (r CommitSync) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	k, err := evidence.CommitsOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	switch {
	case !k.Redo && !k.Sync:
		return nil, diagnose.Quiet(r.ID(), 0, "no log is synchronised at commit")
	case k.Calls < evidence.FewCommits:
		return nil, diagnose.Quiet(r.ID(), min(float64(k.Calls)/evidence.FewCommits, 0.5), "%s commits; the threshold is %d",
			unit.Count(k.Calls), evidence.FewCommits)
	case k.Share < syncShare:
		return nil, diagnose.Quiet(r.ID(), k.Share/syncShare,
			"commits wait for the disk for %s %s, %s each; the threshold is %s",
			unit.Percent(k.Share), k.Of, unit.Duration(k.Each()), unit.Percent(syncShare))
	}
	w := diskWaitOf(c, k)
	beside := ""
	if busy, ok := evidence.HostBusy(c); ok && busy >= evidence.Saturated && !w.explains() {
		used, cores, known := evidence.NeighboursOf(c)
		if !known || w.unknown != "" || busy-used/max(cores, 0.01) >= evidence.Saturated {
			return nil, diagnose.Quiet(r.ID(), 0.5, "the host's CPU is %s busy: statements wait for that", unit.Percent(busy))
		}
		k.Share *= w.part
		beside = " Programs outside of the service fill the host's CPU, for which statements wait, too: the share is " +
			"what the disk itself takes."
		if k.Share < syncShare {
			return nil, diagnose.Quiet(r.ID(), k.Share/syncShare, "the disk itself takes %s %s; the threshold is %s",
				unit.Percent(k.Share), k.Of, unit.Percent(syncShare))
		}
	}
	if w.unknown == "" && w.part < leastByDisk {
		return nil, diagnose.Quiet(r.ID(), w.part/leastByDisk, "commits take %s each, and the disk %s %s for a write and %s "+
			"for a flush: most of it is no wait for the disk",
			unit.Duration(k.Each()), w.disk.name, unit.Duration(w.disk.each), unit.Duration(w.disk.flush))
	}
	object := "innodb_flush_log_at_trx_commit"
	if !k.Redo {
		object = "sync_binlog"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "variable", Name: object},
		Title:    fmt.Sprintf("Commits wait for the disk for %s %s", unit.Percent(k.Share), k.Of),
		Clause:   "each commit waits for the disk",
		Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, k.SyncSignal(),
			diagnose.Signal{Holds: evidence.CheapestRead(c) > 0, Lacks: "no read of the run shows what a statement " +
				"takes anyway"}, w.signal()),
		Impact:   kasoku.Impact{Share: k.Share, Of: k.Of, Estimate: true, Shared: []string{"DBC-02"}},
		Evidence: slices.Concat(r.variables(c, k), k.Evidence(c), w.evidence(c)),
		Cause: fmt.Sprintf("%s waits at each commit until the log is on the disk: %s commits waited %s each beyond "+
			"what a statement takes, %s %s.",
			wording.Capital(c.Server()), unit.Count(k.Calls), unit.Duration(k.Each()), unit.Percent(k.Share), k.Of) + beside,
		Fixes: r.fixes(k), Expect: fmt.Sprintf("commits that take some tens of µs instead of %s",
			unit.Duration(k.Each())),
		Verify:   "repeat the load: the time of COMMIT and of single writes in the slow log must fall",
		Interval: c.Whole(),
	}
	if k.Share < riskShare {
		f.Severity = kasoku.Info
	}
	return []kasoku.Finding{f}, nil
}

// A diskWait is how much of what a commit waits the disk accounts for.
type diskWait struct {
	disk    diskUse
	part    float64 // 1 and more: all of it
	unknown string  // why it is not known; empty when it is
}

// diskWaitOf compares what a commit waits with what the database's disk takes.
func diskWaitOf(c *diagnose.Case, k evidence.Commits) diskWait {
	d, err := databaseDisk(c)
	switch {
	case err != nil:
		return diskWait{unknown: err.Error()}
	case d.name == "":
		return diskWait{unknown: "no disk took what the database wrote"}
	case d.flush < 0:
		return diskWait{unknown: "the times of the disk's flushes were not recorded"}
	}
	logs := time.Duration(1)
	if k.Redo && k.Sync {
		logs = 2
	}
	longest := logs * writesPerSync * (d.each + d.flush)
	return diskWait{disk: d, part: longest.Seconds() / max(k.Each().Seconds(), 1e-9)}
}

// explains reports whether the disk accounts for all of the wait.
func (w diskWait) explains() bool { return w.unknown == "" && w.part >= 1 }

func (w diskWait) signal() diagnose.Signal {
	return diagnose.Signal{Holds: w.explains(), Blind: w.unknown, Lacks: "the disk answers sooner than that"}
}

func (w diskWait) evidence(c *diagnose.Case) []kasoku.Evidence {
	if w.unknown != "" {
		return nil
	}
	return []kasoku.Evidence{{
		Source: "host", Text: "a write to " + w.disk.name, Note: "and " + unit.Duration(w.disk.flush) + " for a flush",
		Value: unit.Duration(w.disk.each), Number: w.disk.each.Seconds(), Series: w.disk.keys, Interval: c.Whole(),
	}}
}

func (CommitSync) variables(c *diagnose.Case, k evidence.Commits) []kasoku.Evidence {
	out := []kasoku.Evidence{c.Quote().Variable("innodb_flush_log_at_trx_commit")}
	if k.Binlog {
		out = append(out, c.Quote().Variable("log_bin"), c.Quote().Variable("sync_binlog"))
	}
	return out
}

func (CommitSync) fixes(k evidence.Commits) []kasoku.Fix {
	f := kasoku.Fix{
		Text:  "Let the log be synchronised once a second instead of at each commit",
		Where: "now; in the option file for the next start", Lang: "sql", Risk: kasoku.RiskDurability,
		Note: "A crash of the machine loses the commits of up to the last second; a crash of the server alone loses " +
			"none. For a benchmark, or data that can be had again.",
	}
	add := func(name, value string) {
		f.Edits = append(f.Edits, kasoku.Edit{Kind: kasoku.EditVariable, Do: "SET GLOBAL " + name + " = " + value,
			Conf: name + " = " + value})
		f.Code += "SET GLOBAL " + name + " = " + value + ";\n"
	}
	if k.Redo {
		add("innodb_flush_log_at_trx_commit", "2")
	}
	if k.Sync {
		add("sync_binlog", "0")
		f.Note += " After a crash of the machine the binary log may lack commits that the data has, so replicas must " +
			"be made anew."
	}
	return []kasoku.Fix{f, {
		Text:  "Or put writes that belong together into one transaction: one commit then waits for all of them",
		Where: "the program", Risk: kasoku.RiskAppRestart,
	}}
}
