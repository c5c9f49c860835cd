package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// WideStar is the rule QRY-03.
type WideStar struct{}

// Thresholds of QRY-03.
const (
	// wideRow is from which average length on a row that is sent whole is worth a
	// remark: about four times what a list shows of one.
	wideRow = 400
	// starRows a call are a list.
	starRows = 10
)

// ID returns QRY-03.
func (WideStar) ID() string { return "QRY-03" }

// Doc describes the rule.
func (WideStar) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `remarks on SELECT * of tables with wide rows, and on wide columns that answers do not hold.`,
		Evidence: `a SELECT names all columns of a table that has a column of at least 1,000 bytes by its
			type, whose rows have at least 400 bytes on average, and sends at least 10 rows a call; such
			statements take at least 2 % of the requests' time. Or a SELECT that reads such columns, by name
			or by *, sends an endpoint at least 16 KiB a request, in rows of at least 400 bytes, and ten times
			what its answers have, 50 times where they may be compressed; the endpoint takes at least 2 % of the
			requests' time. Whether the program makes what it sends of such columns is not known.`,
		Cause: `each row is read, sent and taken apart whole, and no index can hold all that is read.`,
		Fix: `name the columns that are used; put wide ones that lists do not show into a table of their
			own; keep what is made of them, as an excerpt is, in a column of its own.`,
		Silent: `when rows are narrow or few, when it takes little time, and blind without a slow log or
			the tables' definitions.`,
	}
}

// Check looks for lists of whole rows.
func (r WideStar) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advice, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	of := map[*kasoku.TableDef][]*kasoku.Query{}
	wide := map[*kasoku.TableDef]indexes.Read{}
	var tables []*kasoku.TableDef
	for _, read := range advice.Reads() {
		q := c.Statements().QueryByID(read.QueryID)
		if q == nil || !read.Star || len(read.Wide) == 0 || statements.RowsPerCall(q) < starRows {
			continue
		}
		if of[read.Table] == nil {
			tables = append(tables, read.Table)
		}
		of[read.Table], wide[read.Table] = append(of[read.Table], q), read
	}
	out := r.unsent(c, advice)
	near, said := 0.0, "no SELECT * sends lists of rows that have a wide column"
	for _, t := range tables {
		if slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == t.Name }) {
			continue
		}
		f, n, why := r.table(c, wide[t], of[t])
		if f != nil {
			out = append(out, *f)
		} else if n >= near {
			near, said = n, why
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// table looks at the lists of one table.
func (r WideStar) table(c *diagnose.Case, read indexes.Read, of []*kasoku.Query) (f *kasoku.Finding, near float64,
	why string) {
	t := read.Table
	row := float64(t.DataBytes) / float64(max(t.Rows, 1))
	var quotes []kasoku.Evidence
	var took time.Duration
	for _, q := range of {
		took += c.Statements().QueryTime(q)
		if len(quotes) < advice.QuotedStatements {
			quotes = append(quotes, evidence.Statement(c, q, unit.Duration(q.Total),
				fmt.Sprintf("%s, %s rows a call", wording.Times(q.Calls), wording.Average(statements.RowsPerCall(q))), q.Total.Seconds()))
		}
	}
	impact := evidence.TimeImpact(c, took, of...)
	if row < wideRow || impact.Share < evidence.SmallShare {
		return nil, min(row/wideRow, impact.Share/evidence.SmallShare, 0.99),
			fmt.Sprintf("rows of %s have %s, lists of them take %s %s; the thresholds are %d bytes and %s",
				t.Name, unit.Bytes(uint64(row)), unit.Percent(impact.Share), impact.Of, wideRow,
				unit.Percent(evidence.SmallShare))
	}
	impact.Share, impact.Estimate = impact.Share/10, true // most of the time is in finding rows
	quotes = append(quotes, kasoku.Evidence{Source: "schema", Text: t.Name + ": " + wording.List(read.Wide, 4),
		Note: "length of a row, on average", Value: unit.Bytes(uint64(row)), Number: row, Strong: true,
		Interval: c.Whole()})
	return &kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: t.Name}, Severity: kasoku.Info, Impact: impact,
		Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("SELECT * sends whole rows of %s, %s each", wording.Cut(t.Name, 20),
			unit.Bytes(uint64(row))), wording.MaxTitle),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
			diagnose.Signal{Blind: "which columns the program uses is not known"}),
		Evidence: quotes,
		Cause: fmt.Sprintf("%s of statements read all columns of %s, among them %s, and send them in lists.",
			wording.Capital(unit.Counted(len(of), "class", "classes")), t.Name, wording.List(read.Wide, 3)),
		Fixes: []kasoku.Fix{{Text: "Name the columns that are used", Where: "where the statements are made",
			Note: "Columns that lists do not show may go into a table of their own, so that the one that is searched " +
				"is narrow.", Risk: kasoku.RiskAppRestart}},
		Expect: "less is read and sent; an index may hold all that is read",
		Verify: "Bytes_sent in the status falls",
	}, 0, ""
}
