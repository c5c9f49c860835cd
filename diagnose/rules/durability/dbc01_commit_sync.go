package durability

import (
	"fmt"

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
)

// ID returns DBC-01.
func (CommitSync) ID() string { return "DBC-01" }

// Doc describes the rule.
func (CommitSync) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds commits that wait for the disk.`,
		Evidence: `innodb_flush_log_at_trx_commit is 1, or the binary log is on and sync_binlog is 1, and
			by the slow log the commits, and the writes outside of transactions, take at least 5 % of the
			requests' time beyond what the cheapest read of the run takes. Innodb_data_fsyncs bears it out.`,
		Cause: `each commit waits until the log is on the disk; however fast the rest is, a connection
			commits no faster than the disk synchronises.`,
		Fix: `let the log be synchronised once a second; a crash of the machine then loses the commits of
			up to the last second. Or put many writes into one transaction. Below 10 % of the time it is a
			remark.`,
		Silent: `when commits cost little, as on a disk that synchronises at once, and when neither log is
			synchronised at commit; blind without the slow log.`,
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
				"takes anyway"}),
		Impact:   kasoku.Impact{Share: k.Share, Of: k.Of, Estimate: true, Shared: []string{"DBC-02"}},
		Evidence: append(r.variables(c, k), k.Evidence(c)...),
		Cause: fmt.Sprintf("%s waits at each commit until the log is on the disk: %s commits waited %s each beyond "+
			"what a statement takes, %s %s.",
			wording.Capital(c.Server()), unit.Count(k.Calls), unit.Duration(k.Each()), unit.Percent(k.Share), k.Of),
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
