package lock

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Deadlocks is the rule LCK-02.
type Deadlocks struct{}

// Thresholds of LCK-02.
const (
	// fewDeadlocks happen to any program that locks several rows.
	fewDeadlocks = 5
	// deadlockShare of the transactions, or of the requests, is more than a remark: of a
	// long run a few are no defect.
	deadlockShare = 0.001
)

// deadlockCode is the number of the server's error.
const deadlockCode = "1213"

// ID returns LCK-02.
func (Deadlocks) ID() string { return "LCK-02" }

// Doc describes the rule.
func (Deadlocks) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds transactions that lock the same rows in different orders.`,
		Evidence: `at least 5 deadlocks by the server's own count, or by lines of the application's log
			with error 1213. In fewer than one of a thousand transactions of the slow log, or of requests
			where it has none, they are a remark, and so are fewer than 5 of which the application's log has
			the error. The last one, as InnoDB reports it, names the table, the indexes and both
			statements.`,
		Cause: `two transactions each hold a row that the other one wants next; the server rolls one back.`,
		Fix: `change rows in one order, such as that of the primary key, or in one statement; and try a
			transaction again that was rolled back with 1213.`,
		Silent: `below the threshold, as a single deadlock happens to any program that locks several rows;
			where programs outside of the service use the server too, its count is left out; blind when
			nothing counts them.`,
	}
}

// Check counts deadlocks.
func (r Deadlocks) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	whole := evidence.WholeRun(c)
	counted, err := whole.Counters().Status(mysql.InnodbDeadlocks)
	shared := evidence.IsShared(c) // what the server counts is others' too then
	count := uint64(0)
	if err == nil && counted.By > 0 && counted.By < 1e15 && !shared {
		count = uint64(counted.By)
	}
	var last *kasoku.Deadlock
	for i := range c.Deadlocks {
		last = &c.Deadlocks[i]
		if count = max(count, 1); !shared {
			count = max(count, last.Count)
		}
	}
	var said uint64
	messages := whole.Lines().Said(func(m *kasoku.Message) bool { return m.Code == deadlockCode })
	for _, s := range messages {
		said += s.Count
	}
	count = max(count, said)
	if err != nil && count == 0 && !c.Lines().HasAppLog() && c.Find(kasoku.Key{Source: diagnose.MySQL,
		Name: mysql.InnodbRowLockWaits}) == nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if count < fewDeadlocks && said == 0 {
		return nil, diagnose.Quiet(r.ID(), float64(count)/fewDeadlocks, "%s deadlocks; the threshold is %d",
			unit.Count(count), fewDeadlocks)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: r.object(c, last), Title: fmt.Sprintf("%s back",
			unit.Counted(count, "deadlock rolls a transaction", "deadlocks roll transactions")), Clause: "deadlocks roll transactions back",
		Severity:   r.severity(c, count),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, r.shown(last), r.failed(c, said)),
		Impact:     r.impact(c, count),
		Cause: fmt.Sprintf("Transactions lock the same rows in different orders; %s rolled back.",
			unit.Counted(count, "was", "were")),
		Fixes: r.fixes(), Expect: "no deadlocks", Verify: "repeat the load: no new deadlock, no error 1213",
		Interval: c.Whole(),
	}
	if err == nil && counted.By > 0 && !shared {
		f.Evidence = append(f.Evidence, whole.Quote().Counted(counted, true))
	} else {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "status", Text: "deadlocks",
			Value: diagnose.More(float64(count)), Number: float64(count), Strong: true, Interval: c.Whole()})
	}
	if last != nil {
		f.Evidence = append(f.Evidence, r.quoted(last)...)
		f.Cause += fmt.Sprintf(" The last one was about %s.", last.Table)
	}
	for i, s := range messages {
		if i < 2 {
			f.Evidence = append(f.Evidence, whole.Quote().Quoted(s, true))
		}
	}
	return []kasoku.Finding{f}, nil
}

// severity is that of a remark where few of the transactions, or of the requests, were rolled
// back, and where neither was counted.
func (Deadlocks) severity(c *diagnose.Case, count uint64) kasoku.Severity {
	var of uint64
	for i := range c.Transactions {
		of += c.Transactions[i].Count
	}
	if n, err := evidence.WholeRun(c).Requests(c.Whole()); of == 0 && err == nil {
		of = n.Count
	}
	if count < fewDeadlocks || of == 0 || float64(count) < deadlockShare*float64(of) {
		return kasoku.Info
	}
	return kasoku.Problem
}

func (Deadlocks) object(c *diagnose.Case, last *kasoku.Deadlock) kasoku.Object {
	if last != nil && last.Table != "" {
		return kasoku.Object{Kind: "table", Name: bareTable(last.Table)}
	}
	if w, table := worstWait(c); w != nil {
		return kasoku.Object{Kind: "table", Name: table}
	}
	return kasoku.Object{Kind: "database", Name: c.Server()}
}

func (Deadlocks) shown(last *kasoku.Deadlock) diagnose.Signal {
	if last == nil {
		return diagnose.Signal{Blind: "the server did not report the last one"}
	}
	return diagnose.Signal{Holds: len(last.Statements) > 1, Lacks: "its statements are not known"}
}

// failed is the signal that the application notices.
func (Deadlocks) failed(c *diagnose.Case, said uint64) diagnose.Signal {
	if !c.Lines().HasAppLog() {
		return diagnose.Signal{Blind: c.Lines().NoLog("applog")}
	}
	return diagnose.Signal{Holds: said > 0, Lacks: "the application's log has no error " + deadlockCode}
}

// impact is the share of requests of which a transaction was rolled back.
func (Deadlocks) impact(c *diagnose.Case, count uint64) kasoku.Impact {
	n, err := evidence.WholeRun(c).Requests(c.Whole())
	if err != nil || n.Count == 0 {
		return kasoku.Impact{Of: evidence.OfRequests(c), Estimate: true}
	}
	return kasoku.Impact{Share: min(float64(count)/float64(n.Count), 1), Of: "of requests over the run", Estimate: true}
}

func (Deadlocks) quoted(d *kasoku.Deadlock) []kasoku.Evidence {
	var out []kasoku.Evidence
	// Both times that say how long ago it was are whole seconds.
	at := d.At.Truncate(time.Second)
	around := kasoku.Interval{From: max(at-time.Second, 0), To: at + 2*time.Second}
	for i, s := range d.Statements {
		e := kasoku.Evidence{Source: "innodb", Text: wording.Cut(s, 120), Note: "on " + bareTable(d.Table),
			Value: "goes on", Strong: true, Interval: around}
		if i == len(d.Statements)-1 {
			e.Value = "rolled back"
		}
		if i < len(d.Indexes) {
			e.Note = "index " + d.Indexes[i] + " of " + bareTable(d.Table)
		}
		out = append(out, e)
		if len(out) == 4 {
			break
		}
	}
	return out
}

func (Deadlocks) fixes() []kasoku.Fix {
	return []kasoku.Fix{
		{Text: "Change rows in one order everywhere, that of the primary key, or all of them in one statement",
			Where: "the program", Risk: kasoku.RiskAppRestart},
		{Text: "And run a transaction again that was rolled back with error 1213", Where: "the program",
			Risk: kasoku.RiskAppRestart,
			Note: "It is safe as long as nothing of it has left the database."},
	}
}
