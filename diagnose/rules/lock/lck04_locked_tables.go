package lock

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// LockedTables is the rule LCK-04.
type LockedTables struct{}

// fewTableLocks are what an import or a migration takes; a program that serves requests takes more.
const fewTableLocks = 20

// ID returns LCK-04.
func (LockedTables) ID() string { return "LCK-04" }

// Doc describes the rule.
func (LockedTables) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a program that locks whole tables by LOCK TABLES … WRITE.`,
		Evidence: `at least 20 such statements ran outside of initialize, by the slow log or digests. What they took is
			how long they waited for all that used the tables. It is a finding from 1 % of the requests' time on, else a
			remark.`,
		Cause: `until UNLOCK TABLES no other connection reads or writes the tables, also where it wants other rows; it
			waits for the table's metadata, which no count of waits for rows shows.`,
		Fix: `a lock that only those take who have to come one after another, around a transaction.`,
		Silent: `under 20 statements, of READ locks alone, and of those in initialize; blind without a slow log or
			digests.`,
	}
}

// Check looks for the statements.
func (r LockedTables) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var all []*kasoku.Query
	var most uint64
	read := false
	for i := range c.Queries {
		q := &c.Queries[i]
		tables, locks := writeLocked(q)
		read = read || locks
		if len(tables) == 0 || evidence.OnlyInitialize(c, q) {
			continue
		}
		if n := c.Statements().QueryCalls(q); n >= fewTableLocks {
			all = append(all, q)
		} else {
			most = max(most, n)
		}
	}
	switch {
	case len(all) > 0:
	case most > 0:
		return nil, diagnose.Quiet(r.ID(), float64(most)/fewTableLocks,
			"LOCK TABLES … WRITE ran %s; the threshold is %d", unit.Counted(most, "time", "times"), fewTableLocks)
	case read:
		return nil, diagnose.Quiet(r.ID(), 0, "LOCK TABLES ran for READ alone, or in initialize")
	default:
		return nil, diagnose.Quiet(r.ID(), 0, "no statement is LOCK TABLES")
	}
	var out []kasoku.Finding
	for _, q := range all {
		out = append(out, r.finding(c, q))
	}
	return out, nil
}

// writeLocked returns the tables that a LOCK TABLES locks for WRITE; locks reports whether it is one at all.
func writeLocked(q *kasoku.Query) (tables []string, locks bool) {
	text := strings.ToLower(q.Fingerprint)
	if !strings.HasPrefix(text, "lock tables ") && !strings.HasPrefix(text, "lock table ") {
		return nil, false
	}
	for part := range strings.SplitSeq(text, ",") {
		if wording.ContainsWord(part, "write") {
			part = strings.TrimPrefix(strings.TrimPrefix(part, "lock tables "), "lock table ")
			named := sqlshape.Tables([]byte("lock tables " + part))
			if len(named) > 0 && !slices.Contains(tables, named[0]) {
				tables = append(tables, named[0])
			}
		}
	}
	return tables, true
}

func (r LockedTables) finding(c *diagnose.Case, q *kasoku.Query) kasoku.Finding {
	tables, _ := writeLocked(q)
	calls, spent := c.Statements().QueryCalls(q), c.Statements().QueryTime(q)
	impact := evidence.TimeImpact(c, spent, q)
	names := wording.List(tables, 3)
	where := "where the statement is run"
	if caller := evidence.Surest(c, q.ID); caller != nil {
		where = evidence.HandlerOf(caller.Endpoint())
	}
	lock := strings.ReplaceAll(bareTable(tables[0]), "`", "")
	each := spent / time.Duration(max(calls, 1))
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: bareTable(tables[0])},
		Title:    wording.Cut("A program locks whole tables: "+names, wording.MaxTitle),
		Clause:   "a program locks whole tables: " + names,
		Severity: evidence.StatementSeverity(impact), Impact: impact,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Holds: each >= time.Millisecond, Lacks: "the statements themselves waited little"},
			evidence.CallerSignal(evidence.Surest(c, q.ID))),
		Evidence: []kasoku.Evidence{
			evidence.Statement(c, q, unit.Counted(calls, "call", "calls"), "mean "+unit.Duration(each), float64(calls)),
			evidence.StatementTime(c, spent, impact, q),
		},
		Cause: fmt.Sprintf("%s locked %s for WRITE: from then to UNLOCK TABLES no other connection reads or writes any row "+
			"of these tables, and it waits itself, %s each, until no statement or transaction uses them. Innodb_row_lock_waits "+
			"counts none of that; SHOW PROCESSLIST has \"Waiting for table metadata lock\".",
			wording.Capital(unit.Counted(calls, "statement", "statements")), names, unit.Duration(each)),
		Fixes: []kasoku.Fix{{
			Text:  "Take a named lock around a transaction, instead of LOCK TABLES",
			Where: where, Lang: "sql", Risk: kasoku.RiskSemantics,
			Code: fmt.Sprintf("SELECT GET_LOCK('%s', 10);\nSTART TRANSACTION;\nCOMMIT;\nSELECT RELEASE_LOCK('%s');", lock, lock),
			Note: "What stood between LOCK TABLES and UNLOCK TABLES stands between START TRANSACTION and COMMIT, on the same " +
				"connection. GET_LOCK is 1 for the one who has the lock, 0 after 10 s without it, and is given back with the " +
				"connection at the latest. It holds off those alone who ask for it: every place that writes what this " +
				"one decides by has to take it. Where one row stands for the whole, SELECT … FOR UPDATE of that row does the same.",
		}},
		Expect:   "others read and write these tables meanwhile",
		Verify:   "repeat the load: the slow log has no LOCK TABLES, and the rule that it guards still holds",
		Interval: c.Whole(),
	}
	return f
}
