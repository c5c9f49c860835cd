package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/unit"
)

// UnusedRows is the rule QRY-01.
type UnusedRows struct{}

// Thresholds of QRY-01.
const (
	// manyRowsSent a call are more than an answer that uses one or two needs.
	manyRowsSent = 50
	// bytesPerRow is less than the shortest row that an answer could hold: a
	// number with its comma.
	bytesPerRow = 8
	// bytesSentShare of the bytes that the server sends for rows is less than an
	// answer with all of them: JSON is longer than the protocol's rows.
	bytesSentShare = 1. / 3
	// flatSizes is how often the largest answer may be the smallest for sizes not
	// to follow the rows.
	flatSizes = 2
)

// ID returns QRY-01.
func (UnusedRows) ID() string { return "QRY-01" }

// Doc describes the rule.
func (UnusedRows) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an endpoint that reads far more rows than its answers can hold.`,
		Evidence: `a SELECT without LIMIT sends at least 50 rows a call, an endpoint runs it, and the
			endpoint's answers are too small for them: fewer than 8 bytes for each row that its requests read;
			or, where nginx compresses nothing and answers hardly differ in size, a third of the bytes that
			the server sent for them.`,
		Cause: `the program reads a whole history and uses its first row, or counts and adds up rows
			itself; the server finds, sorts and sends all of them.`,
		Fix: `let the database return what is used: ORDER BY … LIMIT 1, the columns that are needed, or
			the sum itself.`,
		Silent: `when statements send few rows or have a LIMIT, when answers are large enough for the
			rows, when no endpoint is known to run the statement, and blind without a slow log or an access
			log with sizes.`,
	}
}

// An unusedRow is a class of statements whose rows an endpoint does not use.
type unusedRow struct {
	query    *kasoku.Query
	caller   *kasoku.Caller
	endpoint *kasoku.Endpoint
	rows     float64 // read for each request
	bytes    float64 // of an answer
	byBytes  bool    // only the bytes that were sent say so
}

// flatAnswers reports whether the sizes of an endpoint's answers do not follow the rows.
func flatAnswers(e *kasoku.Endpoint) bool {
	return e.MaxBytes > 0 && float64(e.MaxBytes) <= flatSizes*float64(max(e.MinBytes, 1))
}

// Check compares rows sent with the sizes of answers.
func (r UnusedRows) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	var near float64
	plain := sendsPlain(c)
	said := "no SELECT without LIMIT that sends rows is known to be of an endpoint"
	for i := range c.Queries {
		q := &c.Queries[i]
		s := statements.Of(q)
		if q.Verb != "SELECT" || s.Limit || q.Calls < statements.LeastPerRequest || statements.RowsPerCall(q) == 0 {
			continue
		}
		x := evidence.Surest(c, q.ID)
		if x == nil {
			continue
		}
		e := c.Statements().EndpointOf(x.Endpoint())
		if e == nil || e.Count == 0 || e.Bytes == 0 {
			continue
		}
		u := unusedRow{query: q, caller: x, endpoint: e, rows: statements.RowsPerCall(q) * max(x.PerRequest, 1),
			bytes: float64(e.Bytes) / float64(e.Count)}
		many, small := statements.RowsPerCall(q)/manyRowsSent, bytesPerRow*u.rows/max(u.bytes, 1)
		byBytes := false
		if plain && flatAnswers(e) {
			sent := float64(q.BytesSent) / float64(q.Calls) * max(x.PerRequest, 1)
			few := bytesSentShare * sent / max(u.bytes, 1)
			byBytes, small = small < 1 && few >= 1, max(small, few)
		}
		u.byBytes = byBytes
		if many >= 1 && small >= 1 {
			out = append(out, r.finding(c, u, s))
			continue
		}
		if n := min(many, small, 0.99); n >= near {
			near = n
			said = fmt.Sprintf("a SELECT from %s sends %s rows a call, and answers of %s have %s bytes", s.Table,
				wording.Average(statements.RowsPerCall(q)), x.Endpoint(), diagnose.Whole(u.bytes))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// sendsPlain reports whether nginx is known to compress no answers.
func sendsPlain(c *diagnose.Case) bool {
	w, err := webserver.ConfigOf(c.Recording)
	return err == nil && !slices.ContainsFunc(w.Directives, func(d nginxconf.Directive) bool {
		return (d.Name() == "gzip" || d.Name() == "brotli") && len(d.Words) > 1 && d.Words[1] != "off"
	})
}

func (r UnusedRows) finding(c *diagnose.Case, u unusedRow, s statements.Statement) kasoku.Finding {
	share := u.caller.Share
	if share <= 0 {
		share = 1
	}
	d := time.Duration(min(share, 1) * float64(c.Statements().QueryTime(u.query)))
	i := evidence.TimeImpact(c, d)
	i.Estimate = true
	name := u.caller.Endpoint()
	whole := diagnose.Signal{Holds: true}
	if u.byBytes {
		whole = diagnose.Signal{Blind: "rows or columns may be left out, and the program may compress"}
	}
	code, lang := "", ""
	if text, err := rewrite.TakeFirst(statements.TextOf(u.query)); err == nil {
		code, lang = text, "sql"
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: evidence.SeverityOf(i.Share), Impact: i,
		Interval: c.Focus.Interval,
		Title: evidence.EndpointTitle(name, fmt.Sprintf(" reads %s rows a call and uses few",
			wording.Average(statements.RowsPerCall(u.query)))),
		Clause: fmt.Sprintf("%s reads %s rows of %s and uses few of them", name, wording.Average(u.rows), s.Table),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, whole, evidence.CallerSignal(u.caller),
			diagnose.Signal{Holds: flatAnswers(u.endpoint), Lacks: "its answers differ in size"}),
		Evidence: append([]kasoku.Evidence{
			evidence.Statement(u.query, wording.Average(statements.RowsPerCall(u.query))+" rows a call", evidence.CallerWords(u.caller),
				statements.RowsPerCall(u.query)),
			{Source: "access", Text: "answer of " + name, Note: fmt.Sprintf("%s to %s",
				unit.Bytes(u.endpoint.MinBytes), unit.Bytes(u.endpoint.MaxBytes)),
				Value: unit.Bytes(uint64(u.bytes)), Number: u.bytes, Strong: true,
				Interval: kasoku.Interval{From: u.endpoint.First, To: u.endpoint.Last}},
			evidence.StatementTime(c, d, i),
		}, evidence.EndpointCount(c, name)...),
		Cause: fmt.Sprintf("A request of %s reads %s rows of %s, and its answer has %s: too few for so many rows. The rest is found, sent and thrown away.",
			name, wording.Average(u.rows), s.Table, unit.Bytes(uint64(u.bytes))),
		Expect: "rows sent a call fall to what the answer holds",
		Verify: "the next run: Rows_sent a call of the statement",
		Fixes: []kasoku.Fix{{Text: "Ask for what is used: the newest row, and only the columns that are needed",
			Where: evidence.HandlerOf(name), Lang: lang, Code: code,
			Note: "Where rows are counted or added up by the program, let the database do it: SELECT COUNT(*), SUM(…), MAX(…).", Risk: kasoku.RiskAppRestart}},
	}
	return f
}
