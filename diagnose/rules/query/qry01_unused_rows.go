package query

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
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
	// packedPerRow is less than a row takes of an answer that may be compressed: rows
	// that differ at all take a byte or more each.
	packedPerRow = 0.25
	// nearlyAll of a class's calls with one text, letter for letter, are for settings or
	// a menu, of which a page uses some; but not where so many rows come in an order: a page
	// shows the first of them.
	nearlyAll  = 0.9
	manyInRows = 500
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
			endpoint's answers are too small for them: fewer than 8 bytes for each row that its requests read
			where nginx is known to compress nothing, else a byte for four rows; or, where nginx compresses
			nothing and answers hardly differ in size, a third of the bytes that the server sent for them.
			The bytes are taken for those of answers with status 200; of its largest answer where not each of
			its requests runs the statement, or where rows a call grow over the run: those of its last third are
			held against it. Where the endpoint is only possible, all
			answers of the run together are too small for the rows.`,
		Cause: `the program reads a whole history and uses its first row, or counts and adds up rows
			itself; the server finds, sorts and sends all of them.`,
		Fix: `let the database return what is used: ORDER BY … LIMIT 1, the columns that are needed, or
			the sum itself; with a LIMIT, the index of the order where the table has none.`,
		Silent: `when statements send few rows or have a LIMIT, when nine in ten calls of a class have one text,
			as for settings that each page loads whole, unless 500 rows come by ORDER BY; when answers are
			large enough for the rows, when no endpoint is known to run the statement, and blind without a slow log or an access
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
	largest  bool    // of its largest answer, not of the mean
	byBytes  bool    // only the bytes that were sent say so
	late     bool    // rows are those of the last third of the run
}

// mostlyOf returns the endpoint that most of a class overlaps with in time, nil when there is
// none: where the times of statements are not known well enough, it is only possible.
func mostlyOf(c *diagnose.Case, q *kasoku.Query) *kasoku.Caller {
	const most = 0.5
	for _, x := range c.Statements().CallersOf(q.ID) {
		if x.Class == kasoku.CallerPossible && x.Share > most {
			return &x
		}
	}
	return nil
}

// answered returns the bytes of all answers of the run: where they are too few for the rows of
// a class, its rows are unused whichever endpoint runs it.
func answered(c *diagnose.Case) (bytes float64) {
	_, endpoints := c.FrontLog()
	for i := range endpoints {
		bytes += float64(endpoints[i].Bytes)
	}
	return bytes
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
	plain, perRow := sendsPlain(c), packedPerRow
	if plain {
		perRow = bytesPerRow
	}
	said := "no SELECT without LIMIT that sends rows is known to be of an endpoint"
	for i := range c.Queries {
		q := &c.Queries[i]
		s := statements.Of(q)
		if q.Verb != "SELECT" || s.Limit || q.Calls < statements.LeastPerRequest || statements.RowsPerCall(q) == 0 ||
			isMenu(q) {
			continue
		}
		x := evidence.Surest(c, q.ID)
		if x == nil {
			if x = mostlyOf(c, q); x == nil {
				continue
			}
		}
		e := c.Statements().EndpointOf(x.Endpoint())
		if e == nil || e.Codes[http.StatusOK] == 0 || e.Bytes == 0 {
			continue
		}
		u := unusedRow{query: q, caller: x, endpoint: e, rows: statements.RowsPerCall(q) * max(x.PerRequest, 1),
			bytes: float64(e.Bytes) / float64(e.Codes[http.StatusOK])}
		if x.PerRequest < 1 && e.MaxBytes > 0 {
			// Some of the endpoint's requests run it, as where all of an API have one path: they may
			// be those with the largest answers.
			u.bytes, u.largest = float64(e.MaxBytes), true
		}
		many, small := statements.RowsPerCall(q)/manyRowsSent, perRow*u.rows/max(u.bytes, 1)
		byBytes := false
		if x.Class == kasoku.CallerPossible {
			u.rows = statements.RowsPerCall(q) // how many calls a request makes is not known
			small = perRow * float64(q.RowsSent) / max(answered(c), 1)
		} else if plain && flatAnswers(e) {
			sent := float64(q.BytesSent) / float64(q.Calls) * max(x.PerRequest, 1)
			few := bytesSentShare * sent / max(u.bytes, 1)
			byBytes, small = small < 1 && few >= 1, max(small, few)
		}
		u.byBytes = byBytes
		if late := lateRows(q) * max(x.PerRequest, 1); small < 1 && x.Class != kasoku.CallerPossible && e.MaxBytes > 0 &&
			perRow*late >= float64(e.MaxBytes) {
			u.rows, u.bytes, u.largest, u.late, small = late, float64(e.MaxBytes), true, true, perRow*late/float64(e.MaxBytes)
		}
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

// lateRows is how many rows a call of a class sends in the last third of a run in which it sends more and
// more; 0 for others.
func lateRows(q *kasoku.Query) float64 {
	if g := growthOf(q); g.grows() {
		return g.last
	}
	return 0
}

// isMenu reports whether a class is of settings, or of a menu, that pages load whole.
func isMenu(q *kasoku.Query) bool {
	ordered := strings.Contains(strings.ToLower(q.Fingerprint), " order by ")
	return float64(q.Repeated) >= nearlyAll*float64(q.Calls) && !(ordered && statements.RowsPerCall(q) >= manyInRows)
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
	reads, verb, use := " reads %s rows a call and sends few", "reads", "sends"
	has := "its answer has"
	when := ""
	switch {
	case u.late:
		has, when = "the largest answer of the run has", ", in the last third of the run"
	case u.largest:
		has = "the largest answer has"
	}
	cause := fmt.Sprintf("A request of %s reads %s rows of %s%s, and %s %s: too few for so many rows. The "+
		"rest is thrown away by the program, or counted and added up.",
		name, wording.Average(u.rows), s.Table, when, has, unit.Bytes(uint64(u.bytes)))
	if u.caller.Class == kasoku.CallerPossible {
		reads, verb, use = " may read %s rows a call and send few", "may read", "send"
		cause = fmt.Sprintf("The statement read %s rows of %s, and all answers of the run have %s: too few for so many "+
			"rows. The rest is thrown away by the program, or counted and added up. Most of it ran while %s was open.",
			unit.Count(u.query.RowsSent), s.Table, unit.Bytes(uint64(answered(c))), name)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "endpoint", Name: name}, Severity: evidence.StatementSeverity(i), Impact: i,
		Interval: c.Focus.Interval,
		Title: evidence.EndpointTitle(name, fmt.Sprintf(reads,
			wording.Average(statements.RowsPerCall(u.query)))),
		Clause: fmt.Sprintf("%s %s %s rows of %s and %s few of them", name, verb, wording.Average(u.rows), s.Table, use),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, whole, evidence.CallerSignal(u.caller),
			diagnose.Signal{Holds: flatAnswers(u.endpoint), Lacks: "its answers differ in size"}),
		Evidence: append([]kasoku.Evidence{
			evidence.Statement(c, u.query, wording.Average(statements.RowsPerCall(u.query))+" rows a call",
				evidence.CallerWords(u.caller), statements.RowsPerCall(u.query)),
			{Source: "access", Text: "answer of " + name, Note: fmt.Sprintf("%s to %s",
				unit.Bytes(u.endpoint.MinBytes), unit.Bytes(u.endpoint.MaxBytes)),
				Value: unit.Bytes(uint64(u.bytes)), Number: u.bytes, Strong: true,
				Interval: kasoku.Interval{From: u.endpoint.First, To: u.endpoint.Last}},
			evidence.StatementTime(c, d, i, u.query),
		}, evidence.EndpointCount(c, name)...),
		Cause:  cause,
		Expect: "rows sent a call fall to what the answer holds",
		Verify: "the next run: Rows_sent a call of the statement",
		Fixes: []kasoku.Fix{{Text: "Ask for the rows and columns that are used", Where: evidence.HandlerOf(name),
			Note: "How many rows the answer needs is not in the log: a page has its LIMIT after its ORDER BY, the newest " +
				"row LIMIT 1. Where the program leaves out some of the rows that it reads, that condition goes into the " +
				"statement first: else the page has fewer. " +
				"Where rows are counted or added up by the program, let the database do it: SELECT COUNT(*), SUM(…), MAX(…).",
			Risk: kasoku.RiskAppRestart}},
	}
	if do, ok := orderIndex(c, u.query); ok {
		f.Fixes = append(f.Fixes, kasoku.Fix{Text: "With a LIMIT after its ORDER BY: the index of that order",
			Where: "the live database, and the file from which tables are made", Lang: "sql", Code: do + ";",
			Note: "The statement stops then at its LIMIT. Without a LIMIT it reads all rows as before, and the index is one " +
				"more to keep. Not checked: whether the server uses it.", Risk: kasoku.RiskNone})
	}
	return f
}
