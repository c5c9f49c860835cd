package durability

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Binlog is the rule DBC-02.
type Binlog struct{}

// binlogShare is the least part of the requests' time that is worth a restart.
const binlogShare = 0.02

// ID returns DBC-02.
func (Binlog) ID() string { return "DBC-02" }

// Doc describes the rule.
func (Binlog) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a binary log that commits wait for while no replica is connected.`,
		Evidence: `log_bin is ON, at least 100 transactions went into it (Binlog_cache_use), no replica
			was connected, and the commits' wait that it accounts for is at least 2 % of the requests' time:
			half of what commits wait when the redo log is synchronised as well, else all.`,
		Cause: `each commit writes and, with sync_binlog = 1, synchronises a second log. MySQL has it on
			by default, MariaDB has it off. Whether backups or a reader that was away need it is not
			known, so its confidence is medium at most.`,
		Fix: `sync_binlog = 0 without a restart; or skip-log-bin in the option file where nothing needs
			the log.`,
		Silent: `when the log is off, a replica reads it, or commits cost little; blind without the slow
			log or the server's variables.`,
	}
}

// Check looks for a log without a reader.
func (r Binlog) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	k, err := evidence.CommitsOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if !k.Binlog {
		return nil, diagnose.Quiet(r.ID(), 0, "the binary log is off")
	}
	used, err := evidence.WholeRun(c).Counters().Status(mysql.BinlogCacheUse)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if evidence.IsShared(c) {
		used.By = min(used.By, float64(k.Calls)) // the others' went into it too
	}
	share := k.Share
	switch {
	case !k.Sync:
		share = 0
	case k.Redo:
		share /= 2
	}
	readers, known := countReplicas(c)
	switch {
	case readers > 0:
		return nil, diagnose.Quiet(r.ID(), 0, "%s replicas read the binary log", unit.Plain(readers))
	case used.By < evidence.FewCommits:
		return nil, diagnose.Quiet(r.ID(), min(used.By/evidence.FewCommits, 0.5),
			"%s transactions went into the binary log; the threshold is %d", diagnose.Whole(used.By), evidence.FewCommits)
	case share < binlogShare:
		return nil, diagnose.Quiet(r.ID(), share/binlogShare,
			"the binary log makes commits wait for %s %s; the threshold is %s", unit.Percent(share), k.Of,
			unit.Percent(binlogShare))
	}
	reader := diagnose.Signal{Holds: true}
	if !known {
		reader.Blind = "whether a replica is connected was not recorded"
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "variable", Name: "log_bin"},
		Title:    "Commits wait for the binary log; no replica was connected during the run",
		Clause:   "each commit waits for the binary log, and no replica was connected",
		Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(append([]diagnose.Signal{{Holds: true}, reader, k.SyncSignal(),
			{Lacks: "backups may copy the log, and a reader may have been away: a run does not show that"}},
			evidence.SharedServer(c)...)...),
		Impact: kasoku.Impact{Share: share, Of: k.Of, Estimate: true, Shared: []string{"DBC-01"}},
		Evidence: append([]kasoku.Evidence{c.Quote().Variable("log_bin"), c.Quote().Variable("sync_binlog"),
			evidence.WholeRun(c).Quote().Counted(used, true)}, k.Evidence(c)...),
		Cause: fmt.Sprintf("%s writes each transaction into the binary log too and waits until it is on the disk; no "+
			"replica was connected. %s transactions went into it.",
			wording.Capital(c.Server()), diagnose.Whole(used.By)),
		Fixes: []kasoku.Fix{
			{Text: "Do not wait for it", Where: "now; in the option file for the next start",
				Code: "SET GLOBAL sync_binlog = 0;", Lang: "sql", Risk: kasoku.RiskDurability,
				Note: "After a crash of the machine the binary log may lack commits that the data has.",
				Edits: []kasoku.Edit{{Kind: kasoku.EditVariable, Do: "SET GLOBAL sync_binlog = 0",
					Conf: "sync_binlog = 0"}}},
			{Text: "Or switch it off, where neither backups nor replicas need it",
				Where: "the option file, below [mysqld]; takes a restart",
				Code:  "skip-log-bin", Lang: "ini", Risk: kasoku.RiskRestart,
				Note: "Without it there is neither replication nor recovery to a moment between two backups. Take out " +
					"lines with log_bin, in all option files: the last one that the server reads holds.",
				Edits: []kasoku.Edit{{Kind: kasoku.EditVariable, Conf: "skip-log-bin"}}},
		},
		Expect: "about half of the commits' wait",
		Verify: "repeat the load: Binlog_cache_use must not grow, and COMMIT take less time", Interval: c.Whole(),
	}}, nil
}

// countReplicas returns how many read the binary log, and whether that was recorded.
func countReplicas(c *diagnose.Case) (most float64, known bool) {
	for _, name := range []string{mysql.ConnReplicas, mysql.SlavesConnected} {
		if g, err := evidence.WholeRun(c).Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: name}); err == nil {
			most, known = max(most, g.Max), true
		}
	}
	return most, known
}
