package driver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// SingleInserts is the rule DRV-03.
type SingleInserts struct{}

// Thresholds of DRV-03.
const (
	// leastInserts of one class in a request are a loop; two are often written by
	// hand, as for both sides of a booking.
	leastInserts = 3
	// singleShare of the statements must write one row.
	singleShare = 0.9
	// fewInserts says too little of a run.
	fewInserts = 50
)

// ID returns DRV-03.
func (SingleInserts) ID() string { return "DRV-03" }

// Doc describes the rule.
func (SingleInserts) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a request, or a loop of another program, that inserts its rows one by one.`,
		Evidence: `an INSERT or REPLACE whose statements write a single row each runs at least 3 times in
			each request of an endpoint; where the endpoint is not known, in rows on one connection, 3 times
			as often as there are requests or 3 in each transaction, or known to be of none. Then the table is named, not a number a
			request. That there are far fewer commits than INSERTs bears it out.`,
		Cause: `the program inserts one element of a list after another: a round trip, a parse and a look
			at each index for every row.`,
		Fix: `one INSERT with all rows.`,
		Silent: `when requests insert a row or two, when statements write several rows already, and blind
			without a slow log.`,
	}
}

// An insertLoop is a class of single-row INSERTs with how often a request runs it.
type insertLoop struct {
	query    *kasoku.Query
	caller   *kasoku.Caller // nil when not known
	endpoint string         // empty when not known
	per      float64        // a request; of all requests where the endpoint is not known
	rows     bool           // the endpoint is not known, and they come in rows on one connection
}

// loops reports whether a program inserts row by row.
func (l insertLoop) loops() bool { return l.per >= leastInserts && (l.caller != nil || l.rows) }

// singleRows reports whether the statements of a class write one row each. Recordings of older
// versions do not count single rows; there the statement's text decides.
func singleRows(q *kasoku.Query) bool {
	if q.Verb != "INSERT" && q.Verb != "REPLACE" || q.Calls < fewInserts ||
		strings.Contains(strings.ToLower(q.Fingerprint), " select ") {
		return false
	}
	if q.SingleRow > 0 {
		return float64(q.SingleRow) >= singleShare*float64(q.Calls)
	}
	return !statements.Of(q).Rows && !strings.Contains(q.Fingerprint, "values (...)") &&
		!strings.HasSuffix(q.Fingerprint, "values(?+)")
}

// insertLoops returns the classes of single-row INSERTs with how often a request
// runs each, the most time first.
func insertLoops(c *diagnose.Case) []insertLoop {
	requests, err := c.Requests(c.Whole())
	var out []insertLoop
	for i := range c.Queries {
		q := &c.Queries[i]
		if !singleRows(q) {
			continue
		}
		l := insertLoop{query: q}
		if x := evidence.Surest(c, q.ID); x != nil {
			l.caller, l.endpoint, l.per = x, x.Endpoint(), x.PerRequest
		} else if part, known := evidence.RequestPart(c, q); known && part <= 0 {
			l.rows, l.per = statements.InRows(c, q), float64(q.Streak)
		} else if err == nil && requests.Count > 0 {
			// A service that inserts a row a request has rows of them too.
			l.rows, l.per = statements.InRows(c, q), max(float64(q.Calls)/float64(requests.Count), inTransaction(c, q))
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b insertLoop) int {
		return cmp.Compare(c.Statements().QueryTime(b.query),
			c.Statements().QueryTime(a.query))
	})
	return out
}

// inTransaction returns how many statements of a class a transaction has that consists of them
// alone, on average; 0 where few are so.
func inTransaction(c *diagnose.Case, q *kasoku.Query) float64 {
	var inserts, count uint64
	for i := range c.Transactions {
		if t := &c.Transactions[i]; len(t.Shape) == 1 && t.Shape[0] == q.ID {
			inserts, count = inserts+t.Statements, count+t.Count
		}
	}
	if inserts < fewInserts || float64(inserts) < singleShare*float64(q.Calls) {
		return 0
	}
	return float64(inserts) / float64(max(count, 1))
}

// Check looks for single-row INSERTs that a request runs several times.
func (r SingleInserts) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	var most float64
	for _, l := range insertLoops(c) {
		if l.loops() {
			out = append(out, r.finding(c, l))
		} else if l.caller != nil || l.rows {
			most = max(most, l.per)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), min(most/leastInserts, 0.99),
		"at most %s INSERTs of a single row are known to run in one request; the threshold is %d", wording.Average(most),
		leastInserts)
}

func (r SingleInserts) finding(c *diagnose.Case, l insertLoop) kasoku.Finding {
	s := statements.Of(l.query)
	i := l.impact(c, 1-1/l.per)
	i.Estimate = true // what the rows themselves take stays
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: l.endpoint}, Severity: evidence.StatementSeverity(i),
		Impact: i, Interval: c.Focus.Interval,
		Title: evidence.EndpointTitle(l.endpoint, fmt.Sprintf(" inserts row by row: %s INSERTs a request",
			wording.Average(l.per))),
		Clause:     fmt.Sprintf("%s inserts its rows one by one", l.endpoint),
		Confidence: diagnose.Confidence(r.signals(c, l)...),
		Evidence:   append([]kasoku.Evidence{insertEvidence(c, l)}, evidence.EndpointCount(c, l.endpoint)...),
		Cause: fmt.Sprintf("%s inserts into %s %s times in each request, one row a statement: each is a round trip, "+
			"and is parsed, of its own.",
			l.endpoint, s.Table, wording.Average(l.per)),
		Fixes:  []kasoku.Fix{insertFix(c, l, "Insert all rows of a request with one statement")},
		Expect: fmt.Sprintf("one INSERT a request instead of %s", wording.Average(l.per)),
		Verify: "the next run: INSERTs into " + s.Table + " about as many as requests",
	}
	if l.caller == nil {
		f.Object = kasoku.Object{Kind: "table", Name: s.Table}
		f.Title = wording.Cut(fmt.Sprintf("A loop inserts into %s row by row on one connection", wording.Cut(s.Table, 24)),
			wording.MaxTitle)
		f.Clause = fmt.Sprintf("a loop inserts into %s row by row", s.Table)
		f.Cause = fmt.Sprintf("A loop inserts into %s one row a statement, up to %s in a row on one connection: each is a "+
			"round trip, and is parsed, of its own. Which program runs it is not known.", s.Table, unit.Count(l.query.Streak))
		f.Fixes[0].Text = "Insert many rows with one statement"
		f.Expect, f.Verify = "one INSERT for many rows", "the next run: INSERTs into "+s.Table+" are few"
	}
	f.Evidence = append(f.Evidence, evidence.StatementTime(c, c.Statements().QueryTime(l.query), i, l.query))
	if g, err := c.Counters().Status(mysql.ComCommit); err == nil {
		f.Evidence = append(f.Evidence, c.Quote().Counted(g, false))
	}
	return f
}

// impact is that of the given part of the time that the server spent on the endpoint's share
// of the INSERTs; where the endpoint is not known, on all.
func (l insertLoop) impact(c *diagnose.Case, part float64) kasoku.Impact {
	took := part * float64(c.Statements().QueryTime(l.query))
	if l.caller == nil {
		return evidence.TimeImpact(c, time.Duration(took), l.query)
	}
	if l.caller.Share > 0 {
		took *= min(l.caller.Share, 1)
	}
	return evidence.TimeImpact(c, time.Duration(took))
}

func insertEvidence(c *diagnose.Case, l insertLoop) kasoku.Evidence {
	if l.caller == nil {
		return evidence.Statement(c, l.query, "× "+unit.Count(l.query.Calls),
			"in rows of up to "+unit.Count(l.query.Streak)+" on one connection, endpoint unknown", float64(l.query.Calls))
	}
	return evidence.Statement(c, l.query, "× "+wording.Average(l.per)+" a request", evidence.CallerWords(l.caller), l.per)
}

func (SingleInserts) signals(c *diagnose.Case, l insertLoop) []diagnose.Signal {
	few := diagnose.Signal{Lacks: "each INSERT is a transaction of its own"}
	if commit, err := c.Counters().Status(mysql.ComCommit); err != nil {
		few.Blind = err.Error()
	} else if insert, err := c.Counters().Status(mysql.ComInsert); err != nil {
		few.Blind = err.Error()
	} else {
		few.Holds = commit.By > 0 && insert.By >= 2*commit.By
	}
	return []diagnose.Signal{
		{Holds: true}, evidence.CallerSignal(l.caller),
		{Holds: l.query.Streak >= leastInserts, Lacks: "they do not come one after another on one connection"}, few,
	}
}

// manyRows are what mappers, drivers and languages have for rows of one INSERT.
var manyRows = map[string]string{
	language.GORM:         "; GORM's Create takes a slice",
	language.GoSQLX:       "; sqlx's NamedExec takes a slice",
	language.ActiveRecord: "; ActiveRecord has insert_all",
	language.Laravel:      "; Laravel's insert takes a list of rows",
	language.Python:       "; executemany of a cursor makes one INSERT of them",
	language.Django:       "; Django has bulk_create",
	language.SQLAlchemy:   "; SQLAlchemy's execute takes a list of rows",
	language.JavaScript:   "; rows.map(() => '(?, ?)').join(', ') writes the places, and rows.flat() has the values",
	language.Sequelize:    "; Sequelize has bulkCreate",
	language.TypeORM:      "; TypeORM's insert takes a list of rows",
	language.Prisma:       "; Prisma has createMany",
	language.Knex:         "; knex's insert takes a list of rows",
	language.Java: "; the driver makes one INSERT of a batch (addBatch, executeBatch) with " +
		"rewriteBatchedStatements=true in the JDBC URL",
	language.RustSQLX: "; sqlx's QueryBuilder has push_values",
	language.Diesel:   "; Diesel's values takes a list of rows",
	language.SeaORM:   "; SeaORM has insert_many",
}

// where is the program that runs the INSERTs.
func (l insertLoop) where() string {
	if l.caller == nil {
		return "the program that runs the loop: a request, a worker, an import"
	}
	return evidence.HandlerOf(l.endpoint)
}

// insertFix has the INSERT with several rows, or says why it cannot be written.
func insertFix(c *diagnose.Case, l insertLoop, text string) kasoku.Fix {
	f := kasoku.Fix{Text: text, Where: l.where(), Risk: kasoku.RiskAppRestart,
		Note: "A thousand rows a statement are fine" + language.Pick(c, manyRows) + ". Keep statements below " +
			"max_allowed_packet. The driver reports the AUTO_INCREMENT of the first row alone."}
	code, err := rewrite.DialectOf(c.Recording).InsertMany(statements.TextOf(l.query))
	if err != nil {
		f.Note = fmt.Sprintf("The statement needs a form of its own: %s. ", err) + f.Note
		return f
	}
	f.Code, f.Lang = code, "sql"
	return f
}
