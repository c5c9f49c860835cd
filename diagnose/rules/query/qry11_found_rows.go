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

// FoundRows is the rule QRY-11.
type FoundRows struct{}

// Thresholds of QRY-11.
const (
	// foundRows examined a call, and foundPerRow for each that is sent, are work that a page
	// does not need.
	foundRows   = 1000
	foundPerRow = 10
)

// ID returns QRY-11.
func (FoundRows) ID() string { return "QRY-11" }

// Doc describes the rule.
func (FoundRows) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds pages with SQL_CALC_FOUND_ROWS, which read all rows for a few.`,
		Evidence: `a SELECT with SQL_CALC_FOUND_ROWS examines at least 1,000 rows a call and ten for each that
			it sends, and takes at least 2 % of the requests' time.`,
		Cause: `the server must find all rows to count them, so it does not stop at the LIMIT, and sorts and
			reads also those that no page shows.`,
		Fix: `two statements: the page, which stops at its LIMIT where an index has its order, and COUNT(*),
			which reads no columns and may be kept. MySQL has called the words deprecated since 8.0.17.`,
		Silent: `when few rows are examined, when the page alone reads all rows too (a search by LIKE, groups in a
			temporary table), when it takes little time, and blind without a slow log.`,
	}
}

// Check looks for the words.
func (r FoundRows) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if err := evidence.CheckStatements(c); err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	near, said := 0.0, "no statement has SQL_CALC_FOUND_ROWS"
	for i := range c.Queries {
		q := &c.Queries[i]
		if q.Verb != "SELECT" || q.Calls == 0 || !wording.ContainsFold(q.Fingerprint, "sql_calc_found_rows") {
			continue
		}
		if why := readsAllAnyway(c, q); why != "" {
			if near == 0 {
				said = "a page with SQL_CALC_FOUND_ROWS reads all rows without the words, too: " + why
			}
			continue
		}
		examined, sent := advice.ExaminedPerCall(q), statements.RowsPerCall(q)
		impact := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
		n := min(examined/foundRows, examined/(foundPerRow*max(sent, 1)), impact.Share/evidence.SmallShare)
		if n >= 1 {
			out = append(out, r.finding(c, q, impact))
		} else if n >= near {
			near, said = n, fmt.Sprintf("a page with SQL_CALC_FOUND_ROWS examines %s rows for %s sent, and takes %s %s; "+
				"the thresholds are %d, %d for each and %s", wording.Average(examined), wording.Average(sent),
				unit.Percent(impact.Share), impact.Of, foundRows, foundPerRow, unit.Percent(evidence.SmallShare))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// readsAllAnyway returns why a page reads all rows also when nothing counts them: asked for twice,
// for the page and for their number, it takes twice as long. Empty when an index may end it sooner.
func readsAllAnyway(c *diagnose.Case, q *kasoku.Query) string {
	if advised, err := advice.ForIndexes(c); err == nil {
		for _, read := range advised.Reads() {
			if read.QueryID == q.ID && len(read.Hidden) > 0 {
				return "no index finds those that fit"
			}
		}
	}
	for i := range c.Plans {
		if c.Plans[i].QueryID != q.ID {
			continue
		}
		for _, step := range c.Plans[i].Rows {
			if strings.Contains(step.Extra, "Using temporary") {
				return "they are gathered before they are sorted"
			}
		}
	}
	return ""
}

func (r FoundRows) finding(c *diagnose.Case, q *kasoku.Query, impact kasoku.Impact) kasoku.Finding {
	impact.Estimate = true
	s := statements.Of(q)
	x := evidence.Only(c, q.ID)
	object, name := kasoku.Object{Kind: "table", Name: s.Table}, ""
	note := fmt.Sprintf("%s, %s rows examined for %s sent", wording.Times(q.Calls),
		wording.Average(advice.ExaminedPerCall(q)), wording.Average(statements.RowsPerCall(q)))
	if x != nil {
		name = x.Endpoint()
		object = kasoku.Object{Kind: "endpoint", Name: name}
		note += "; " + evidence.CallerWords(x)
	}
	f := kasoku.Finding{
		ID: r.ID(), Object: object, Severity: evidence.StatementSeverity(impact), Impact: impact,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("SQL_CALC_FOUND_ROWS finds %s rows of %s for a page of %s",
			diagnose.Whole(advice.ExaminedPerCall(q)), wording.Cut(s.Table, 16),
			wording.Average(statements.RowsPerCall(q))), wording.MaxTitle),
		Clause: fmt.Sprintf("pages of %s are read with all rows before and after them", wording.Cut(s.Table, 30)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "what the count alone takes was not measured"}),
		Evidence: append([]kasoku.Evidence{evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds()),
			evidence.StatementTime(c, c.Statements().QueryTime(q), impact, q)}, evidence.EndpointCount(c, name)...),
		Cause: "To count all rows the server does not stop at the LIMIT: it reads, joins and sorts also those that the " +
			"page does not show.",
		Fixes:  []kasoku.Fix{r.fix(c, q, name)},
		Expect: "the page examines about as many rows as it shows, where an index has its order",
		Verify: "rows examined a call of both statements",
	}
	return f
}

// fix is the two statements, with the index of the order where that is of one table.
func (FoundRows) fix(c *diagnose.Case, q *kasoku.Query, name string) kasoku.Fix {
	f := kasoku.Fix{Text: "Ask for the page and for the count apart", Where: evidence.HandlerOf(name),
		Risk: kasoku.RiskAppRestart,
		Note: "SELECT FOUND_ROWS() goes. Between the two rows may be written, so that they differ by these; in one " +
			"transaction " +
			"they do not. A page that shows no number of pages needs no count: ask for one row more than it shows. Not " +
			"checked: whether both are shorter."}
	page, count, err := rewrite.DialectOf(c.Recording).SplitFoundRows(statements.TextOf(q))
	if err != nil {
		return f
	}
	f.Lang, f.Code = "sql", page+"\n"+count
	if do, ok := orderIndex(c, q); ok {
		f.Code = do + ";\n" + f.Code
	}
	return f
}

// orderIndex is the index with which a SELECT of one table stops at its LIMIT: what it compares
// for equality and the columns of its order, which all ascend or all descend. There is none
// where an index begins so, or other conditions decide.
func orderIndex(c *diagnose.Case, q *kasoku.Query) (do string, ok bool) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return "", false
	}
	for _, read := range advised.Reads() {
		if read.QueryID != q.ID || !read.Alone || !read.Simple || len(read.Ordered) == 0 {
			continue
		}
		want := slices.Concat(read.Equal, slices.DeleteFunc(slices.Clone(read.Ordered), func(name string) bool {
			return slices.Contains(read.Equal, name)
		}))
		if last := len(want) - 1; last > 0 && isPrimary(read.Table, want[last]) {
			want = want[:last] // each index ends with it
		}
		if slices.ContainsFunc(want, func(name string) bool { return slices.Contains(read.Wide, name) }) {
			return "", false
		}
		for _, x := range read.Table.Indexes {
			if len(x.Columns) >= len(want) && slices.EqualFunc(x.Columns[:len(want)], want, strings.EqualFold) {
				return "", false
			}
		}
		_, do, _ := indexes.IndexOn(read.Table, want...)
		return do, true
	}
	return "", false
}

// isPrimary reports whether a column alone is the primary key.
func isPrimary(t *kasoku.TableDef, name string) bool {
	return slices.ContainsFunc(t.Indexes, func(x kasoku.IndexDef) bool {
		return x.Name == "PRIMARY" && len(x.Columns) == 1 && strings.EqualFold(x.Columns[0], name)
	})
}
