package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// WideDistinct is the rule QRY-14.
type WideDistinct struct{}

// Thresholds of QRY-14.
const (
	// gatheredRows examined a call, and gatheredPerRow for each that is sent, are work that a page
	// does not need.
	gatheredRows   = 1000
	gatheredPerRow = 10
)

// ID returns QRY-14.
func (WideDistinct) ID() string { return "QRY-14" }

// Doc describes the rule.
func (WideDistinct) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds pages by SELECT DISTINCT that gather long columns of all rows for a few, or rows
			that are distinct anyway.`,
		Evidence: `a SELECT DISTINCT with ORDER BY and LIMIT reads a column of at least 1,000 bytes by its type from
			a table whose rows have at least 400 bytes on average, its plan gathers rows in a temporary table,
			it examines at least 1,000 rows a call and ten for each that it sends, and takes at least 2 % of
			the requests' time. Or no row can come twice, whatever its length: the primary key of a table is
			selected, and joins find at most one row of each other table.`,
		Cause: `what is distinct is known by the table's primary key, but the server compares and sorts whole
			rows, long texts included, in a temporary table that may go to disk.`,
		Fix: `find the rows of the page without the long columns, then join them by the primary key; DISTINCT
			left out, where no row can come twice.`,
		Silent: `when the primary key is not selected, when rows are narrow or few and may come twice, when it takes
			little time, and blind without a slow log, plans or the tables' definitions.`,
	}
}

// Check looks for pages of distinct rows.
func (r WideDistinct) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	var named []string // statements
	near, said := 0.0, "no SELECT DISTINCT with a LIMIT gathers long columns in a temporary table"
	for i := range c.Queries {
		q := &c.Queries[i]
		if !isDistinctPage(q) {
			continue
		}
		if f, n := r.needless(c, q); n >= 1 {
			out, named = append(out, f), append(named, q.ID)
		} else if n > near {
			near, said = n, fmt.Sprintf("a page of rows of %s that are distinct anyway examines %s for %s sent, and "+
				"takes %s %s; the thresholds are %d rows, %d for each and %s", f.Object.Name,
				wording.Average(advice.ExaminedPerCall(q)), wording.Average(statements.RowsPerCall(q)),
				unit.Percent(f.Impact.Share), f.Impact.Of, gatheredRows, gatheredPerRow,
				unit.Percent(evidence.SmallShare))
		}
	}
	for _, read := range advised.Reads() {
		q := c.Statements().QueryByID(read.QueryID)
		if q == nil || len(read.Wide) == 0 || !isDistinctPage(q) {
			continue
		}
		gathers := temporaryStep(c, q)
		if gathers == nil || slices.Contains(named, q.ID) {
			continue
		}
		examined, sent := advice.ExaminedPerCall(q), statements.RowsPerCall(q)
		row := float64(read.Table.DataBytes) / float64(max(read.Table.Rows, 1))
		impact := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
		impact.Estimate = true
		n := min(examined/gatheredRows, examined/(gatheredPerRow*max(sent, 1)), row/wideRow, impact.Share/evidence.SmallShare)
		code := lateCode(c, q, read)
		switch {
		case n >= 1 && code != "":
			out, named = append(out, r.finding(c, q, read, gathers, impact, code)), append(named, q.ID)
		case n >= near:
			near, said = min(n, 0.99), fmt.Sprintf("a page of distinct rows of %s, %s each, examines %s for %s sent, and takes "+
				"%s %s; the thresholds are %d bytes, %d rows, %d for each and %s", read.Table.Name, unit.Bytes(uint64(row)),
				wording.Average(examined), wording.Average(sent), unit.Percent(impact.Share), impact.Of, wideRow,
				gatheredRows, gatheredPerRow, unit.Percent(evidence.SmallShare))
			if n >= 1 {
				said = "a page of distinct rows of " + read.Table.Name + " cannot be written in two steps for sure"
			}
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

func isDistinctPage(q *kasoku.Query) bool {
	return q.Calls > 0 && statements.Of(q).Limit &&
		strings.HasPrefix(strings.ToLower(q.Fingerprint), "select distinct ")
}

// needless is about a page whose rows are distinct without DISTINCT, and are gathered for it. Of a statement with
// queries within it, it is not known whether those take the time.
//
// It returns how near that is to the thresholds, 0 where DISTINCT may leave out rows.
func (r WideDistinct) needless(c *diagnose.Case, q *kasoku.Query) (f kasoku.Finding, near float64) {
	gathers := temporaryStep(c, q)
	if gathers == nil || !isOneQuery(c, q) {
		return f, 0
	}
	code, table, err := rewrite.DialectOf(c.Recording).WithoutDistinct(statements.TextOf(q), definer(c, q))
	examined, sent := advice.ExaminedPerCall(q), statements.RowsPerCall(q)
	impact := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
	impact.Estimate = true
	if err != nil {
		return f, 0
	}
	near = min(examined/gatheredRows, examined/(gatheredPerRow*max(sent, 1)), impact.Share/evidence.SmallShare)
	f = r.gathered(c, q, table, gathers, impact)
	f.Title = wording.Cut(fmt.Sprintf("DISTINCT gathers rows of %s that are distinct anyway, for %s",
		wording.Cut(table, 20), wording.Average(sent)), wording.MaxTitle)
	f.Clause = fmt.Sprintf("pages of %s are found by a DISTINCT that leaves out nothing", wording.Cut(table, 30))
	f.Cause = fmt.Sprintf("No row can come twice: the primary key of %s is selected, and what is joined has at most "+
		"one row for each of its rows. The server does not see that, gathers all rows that fit in a temporary table, "+
		"and sends %s.", table, wording.Average(sent))
	f.Fixes = []kasoku.Fix{{Text: "Leave DISTINCT out", Where: evidence.HandlerOf(callerName(c, q)), Lang: "sql",
		Code: code, Risk: kasoku.RiskAppRestart, Note: sameRows}}
	f.Expect = "no temporary table; with an index of its order the statement stops at its LIMIT"
	return f, near
}

// isOneQuery reports whether a plan has no step of a query within the statement.
func isOneQuery(c *diagnose.Case, q *kasoku.Query) bool {
	return slices.ContainsFunc(c.Plans, func(p kasoku.Plan) bool {
		return p.QueryID == q.ID && p.Host == q.Host && len(p.Rows) > 0 && !slices.ContainsFunc(p.Rows,
			func(step kasoku.PlanRow) bool { return step.Select != "SIMPLE" && step.Select != "" })
	})
}

// temporaryStep returns the step of a statement's plan that gathers rows, nil where there is none.
func temporaryStep(c *diagnose.Case, q *kasoku.Query) *kasoku.PlanRow {
	for i := range c.Plans {
		if c.Plans[i].QueryID != q.ID || c.Plans[i].Host != q.Host {
			continue
		}
		steps := c.Plans[i].Rows
		for k := range steps {
			if strings.Contains(steps[k].Extra, "Using temporary") {
				return &steps[k]
			}
		}
	}
	return nil
}

// lateCode is the statement in two steps; empty where it cannot be written so.
func lateCode(c *diagnose.Case, q *kasoku.Query, read indexes.Read) string {
	at := slices.IndexFunc(read.Table.Indexes, func(x kasoku.IndexDef) bool { return x.Name == "PRIMARY" })
	if at < 0 || strings.Contains(strings.ToUpper(read.Table.Create), "INVISIBLE") { // which * leaves out
		return ""
	}
	code, err := rewrite.DialectOf(c.Recording).FetchWideLast(statements.TextOf(q), rewrite.WideTable{
		Alias: read.Alias, Columns: indexes.ColumnsOf(read.Table), Primary: read.Table.Indexes[at].Columns, Wide: read.Wide})
	if err != nil {
		return ""
	}
	return code
}

// sameRows is what both rewrites leave as it is.
const sameRows = "The same rows in the same order, but for rows that are equal in it, whose order neither statement " +
	"says: where that matters, add the primary key to both orders."

// gathered is what both findings have in common.
func (r WideDistinct) gathered(c *diagnose.Case, q *kasoku.Query, table string, gathers *kasoku.PlanRow,
	impact kasoku.Impact) kasoku.Finding {
	name := callerName(c, q)
	note := fmt.Sprintf("%s, %s rows examined for %s sent", wording.Times(q.Calls),
		wording.Average(advice.ExaminedPerCall(q)), wording.Average(statements.RowsPerCall(q)))
	if x := evidence.Only(c, q.ID); x != nil {
		note += "; " + evidence.CallerWords(x)
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: table}, Severity: evidence.StatementSeverity(impact),
		Impact: impact, Interval: c.Focus.Interval,
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "what the statement takes without that was not measured"}),
		Evidence: append([]kasoku.Evidence{
			evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds()),
			evidence.StatementTime(c, c.Statements().QueryTime(q), impact, q),
			{Source: "plan", Text: "EXPLAIN: " + wording.Cut(gathers.Extra, 80), Note: "of " + gathers.Table, Strong: true,
				Value: unit.Plain(gathers.Rows) + " rows", Number: gathers.Rows, Interval: c.Whole()},
		}, evidence.EndpointCount(c, name)...),
		Verify: "the time of the statement; EXPLAIN of both",
	}
}

// callerName is the endpoint that alone runs a statement; empty where it is not known.
func callerName(c *diagnose.Case, q *kasoku.Query) string {
	if x := evidence.Only(c, q.ID); x != nil {
		return x.Endpoint()
	}
	return ""
}

func (r WideDistinct) finding(c *diagnose.Case, q *kasoku.Query, read indexes.Read, gathers *kasoku.PlanRow,
	impact kasoku.Impact, code string) kasoku.Finding {
	t, sent := read.Table, statements.RowsPerCall(q)
	row := t.DataBytes / max(t.Rows, 1)
	f := r.gathered(c, q, t.Name, gathers, impact)
	f.Title = wording.Cut(fmt.Sprintf("SELECT DISTINCT gathers whole rows of %s for a page of %s",
		wording.Cut(t.Name, 20), wording.Average(sent)), wording.MaxTitle)
	f.Clause = fmt.Sprintf("pages of %s are found with the long columns of all rows", wording.Cut(t.Name, 30))
	f.Confidence = diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true},
		diagnose.Signal{Blind: "what the rows take without these columns was not measured"})
	f.Evidence = slices.Insert(f.Evidence, 3, kasoku.Evidence{Source: "schema",
		Text: t.Name + ": " + wording.List(read.Wide, 4), Note: "length of a row, on average", Value: unit.Bytes(row),
		Number: float64(row), Strong: true, Interval: c.Whole()})
	f.Cause = fmt.Sprintf("To know what is distinct the server gathers all rows that fit in a temporary table, with "+
		"%s, sorts it, and sends %s. The primary key, which is selected too, says as much without these columns.",
		wording.List(read.Wide, 3), wording.Average(sent))
	f.Fixes = []kasoku.Fix{{Text: "Find the rows of the page first, and read their long columns then",
		Where: evidence.HandlerOf(callerName(c, q)), Lang: "sql", Code: code, Risk: kasoku.RiskAppRestart,
		Note: sameRows}}
	f.Expect = "the temporary table holds short rows, in memory"
	return f
}
