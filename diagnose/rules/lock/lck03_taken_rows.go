package lock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// TakenRows is the rule LCK-03.
type TakenRows struct{}

// fewTaken transactions of a class say too little.
const fewTaken = 20

// ID returns LCK-03.
func (TakenRows) ID() string { return "LCK-03" }

// Doc describes the rule.
func (TakenRows) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds rows that are locked by their state, to be given another one.`,
		Evidence: `at least 20 transactions of the slow log have a SELECT … FOR UPDATE that chooses a row by a column
			and, right after it, an UPDATE of the same row that sets this column, as a queue has where a job is taken.
			It is a finding where samples show statements that wait for the lock, else a remark.`,
		Cause: `two statements, and a lock that is held from one to the other and to COMMIT, for what one statement
			does: an UPDATE with the state in its condition changes the row for one client alone, and says so by the
			number of rows that it changed.`,
		Fix: `one UPDATE with the state in its condition; the row is taken where it changed one row.`,
		Silent: `under 20 such transactions; where another statement comes between the two, where the UPDATE sets a
			column that the SELECT reads, and where the SELECT skips locked rows. Blind without the transactions of a
			slow log.`,
	}
}

// A takenRow is a class of transactions that take rows.
type takenRow struct {
	lock, update *kasoku.Query
	taking       statements.Taking
	count        uint64 // transactions
}

// Check looks through the transactions.
func (r TakenRows) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if len(c.Transactions) == 0 && len(c.Queries) > 0 && c.StatementSource() != "slow.log" {
		return nil, diagnose.Blind(r.ID(), errors.New("transactions are not known without a slow log"))
	}
	all := findTaken(c)
	var out []kasoku.Finding
	var most uint64
	for i := range all {
		if most = max(most, all[i].count); all[i].count >= fewTaken {
			out = append(out, r.finding(c, &all[i]))
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case most > 0:
		return nil, diagnose.Quiet(r.ID(), float64(most)/fewTaken, "%s locked a row by its state and gave it another; "+
			"the threshold is %d", unit.Counted(most, "transaction", "transactions"), fewTaken)
	}
	return nil, diagnose.Quiet(r.ID(), 0, "no transaction locks a row by its state and gives it another right after")
}

// findTaken returns the classes by their two statements, those of most transactions first.
func findTaken(c *diagnose.Case) (out []takenRow) {
	for i := range c.Transactions {
		t := &c.Transactions[i]
		for k := range max(len(t.Shape)-1, 0) {
			lock, update := c.Statements().QueryByID(t.Shape[k]), c.Statements().QueryByID(t.Shape[k+1])
			if lock == nil || update == nil {
				continue
			}
			taking, ok := statements.TakingOf(lock, update)
			if !ok {
				continue
			}
			at := slices.IndexFunc(out, func(x takenRow) bool { return x.lock == lock && x.update == update })
			if at < 0 {
				at, out = len(out), append(out, takenRow{lock: lock, update: update, taking: taking})
			}
			out[at].count += t.Count
			break
		}
	}
	slices.SortStableFunc(out, func(a, b takenRow) int { return int(b.count) - int(a.count) })
	return out
}

// waits returns how many samples show a statement that waits for the lock, or for one of the UPDATE.
func (x *takenRow) waits(c *diagnose.Case) (samples uint64, seen kasoku.Interval) {
	for i := range c.LockWaits {
		w := &c.LockWaits[i]
		if id := w.WaitingID; id != "" && (id == x.lock.ID || id == x.update.ID) {
			samples += w.Samples
			seen = kasoku.Interval{From: w.First, To: w.Last + time.Second}
		}
	}
	return samples, seen
}

// changed is how a program sees how many rows an UPDATE changed.
var changed = map[string]string{
	language.Go:   "In Go: n, err := res.RowsAffected(): the row is the caller's where n is 1.",
	language.PHP:  "$stmt->rowCount() === 1: the row is the caller's.",
	language.Ruby: "In Ruby: client.affected_rows == 1: the row is the caller's.",
	language.Python: "In Python: cursor.rowcount == 1: the row is the caller's. Drivers that count the rows that were found count the " +
		"same here, as the state differs.",
	language.JavaScript: "In Node.js: result.affectedRows === 1: the row is the caller's.",
	language.Java:       "In Java: executeUpdate() returns 1: the row is the caller's.",
	language.Rust:       "In Rust: result.rows_affected() == 1: the row is the caller's.",
	language.Unknown:    "The driver's count of changed rows is 1: the row is the caller's.",
}

func (r TakenRows) finding(c *diagnose.Case, x *takenRow) kasoku.Finding {
	spent := c.Statements().QueryTime(x.lock)
	impact := evidence.TimeImpact(c, spent, x.lock)
	waits, seen := x.waits(c)
	state := wording.List(x.taking.State, 3)
	fix := kasoku.Fix{
		Text:  "Take the row by the UPDATE alone, with " + state + " in its condition, and leave out the SELECT … FOR UPDATE",
		Where: "where the two are run", Risk: kasoku.RiskSemantics,
		Note: language.Pick(c, changed) + " Where it is 0, someone else was first: look for the next row. The value of " +
			state + " in the condition is the one that the SELECT asked for. What else the program reads of the row it reads " +
			"without FOR UPDATE; what other values of the UPDATE are made of must be read after it, or the lock stays.",
	}
	if caller := evidence.Surest(c, x.update.ID); caller != nil {
		fix.Where = evidence.HandlerOf(caller.Endpoint())
	}
	if x.taking.Update != "" {
		fix.Lang, fix.Code = "sql", x.taking.Update
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: x.taking.Table},
		Title:    wording.Cut("A row of "+x.taking.Table+" is taken by two statements and a lock", wording.MaxTitle),
		Clause:   fmt.Sprintf("a row of %s is taken by two statements and a lock", x.taking.Table),
		Severity: kasoku.Info, Impact: impact,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: x.taking.Update != "", Lacks: "the UPDATE's condition is more than equalities"},
			diagnose.Signal{Holds: waits > 0, Lacks: "no sample shows a statement that waits for the lock"}),
		Evidence: []kasoku.Evidence{
			{Source: c.StatementSource(x.lock), Text: "transactions with both, one right after the other",
				Value: unit.Count(x.count), Number: float64(x.count), Strong: true, Interval: c.Whole()},
			evidence.Statement(c, x.lock, unit.Duration(spent), unit.Counted(x.lock.Calls, "call", "calls"),
				spent.Seconds()),
			evidence.Statement(c, x.update, unit.Counted(x.update.Calls, "call", "calls"), "sets "+state,
				float64(x.update.Calls)),
		},
		Cause: fmt.Sprintf("%s locked a row of %s that they chose by %s, and set %s by the next statement: the lock is held "+
			"for both, and for COMMIT, where one UPDATE that has %s in its condition takes the row for one client alone.",
			wording.Capital(unit.Counted(x.count, "transaction", "transactions")), x.taking.Table, state,
			strings.Join(x.taking.State, " and "), state),
		Fixes:    []kasoku.Fix{fix},
		Expect:   "a statement less for each row that is taken; where few wait for the lock, the result stays as it is",
		Verify:   "repeat the load: the slow log has no such SELECT … FOR UPDATE, and no row is taken twice",
		Interval: c.Whole(),
	}
	if waits > 0 {
		f.Severity = evidence.SeverityOf(impact.Share)
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "locks",
			Text: "samples in which one of the two waits for a lock", Value: unit.Count(waits), Number: float64(waits),
			Interval: seen})
	}
	return f
}
