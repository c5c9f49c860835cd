package index

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// FixedRanges is the rule IDX-05.
type FixedRanges struct{}

// ID returns IDX-05.
func (FixedRanges) ID() string { return "IDX-05" }

// Doc describes the rule.
func (FixedRanges) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds ranges of which there are only a few different ones.`,
		Evidence: `statements ask for a range of a column and for an order, a count or other columns
			beside it; in the slow log there are at most 10 different ranges, each asked for at least 5 times;
			and what those statements would still take with the indexes that are proposed is at least 1 % of
			the requests' time.`,
		Cause: `after a range the next column of an index neither finds rows nor gives their order. A
			fixed range is a value in disguise: the number of the range.`,
		Fix: `a generated column with the number of the range, an index on it and the order, and
			statements that compare the number for equality.`,
		Silent: `when ranges differ from call to call, when the range is the order, when it takes little
			time, and blind without a slow log or the tables' definitions.`,
	}
}

// Check looks for columns with few ranges, by table.
func (r FixedRanges) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var out []kasoku.Finding
	near, said := 0.0, "no column is asked for in at most 10 ranges that come again"
	for _, list := range byTable(advised.Ranges) {
		impact := r.impact(c, list)
		if impact.Share >= advice.IndexShare {
			out = append(out, r.finding(c, list, impact))
			continue
		}
		if n := impact.Share / advice.IndexShare; n >= near {
			near = n
			said = fmt.Sprintf("%s of %s is asked for in %d ranges, which with the indexes proposed take %s %s; the "+
				"threshold is %s",
				list[0].Column, list[0].Table, list[0].Ranges, unit.Percent(impact.Share), impact.Of,
				unit.Percent(advice.IndexShare))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, diagnose.Quiet(r.ID(), near, "%s", said)
}

// byTable groups columns by their table, which keep their order.
func byTable(in []indexes.FixedRanges) (out [][]indexes.FixedRanges) {
next:
	for _, f := range in {
		for i := range out {
			if o := &out[i][0]; o.Table == f.Table && o.Schema == f.Schema && o.Host == f.Host {
				out[i] = append(out[i], f)
				continue next
			}
		}
		out = append(out, []indexes.FixedRanges{f})
	}
	return out
}

// impact is that of the column that gives most: statements with several such columns
// would be counted for each.
func (FixedRanges) impact(c *diagnose.Case, list []indexes.FixedRanges) kasoku.Impact {
	i := evidence.TimeImpact(c, list[0].Saved, c.Statements().QueriesByID(list[0].QueryIDs)...)
	i.Estimate = true
	return i
}

func (r FixedRanges) finding(c *diagnose.Case, cols []indexes.FixedRanges, impact kasoku.Impact) kasoku.Finding {
	first := cols[0]
	var names, notes []string
	var quotes []kasoku.Evidence
	for i, f := range cols {
		names = append(names, f.Column)
		if i > 3 {
			continue
		}
		notes = append(notes, fmt.Sprintf("%s is a stored generated column of %s: 0 where %s is below the first bound "+
			"of the ranges, 1 below the second, and so on; then %s.",
			f.Bucket, f.Table, f.Column, f.Index))
		quotes = append(quotes, kasoku.Evidence{Source: "slow.log", Text: "different ranges of " + f.Column,
			Note: "in " + unit.Counted(len(f.QueryIDs), "class of statements", "classes of statements") + ", " +
				unit.Duration(f.Total),
			Value: unit.Count(f.Ranges), Number: float64(f.Ranges), Strong: true, Interval: c.Whole()})
	}
	if q := c.Statements().QueryByID(first.QueryIDs[0]); q != nil {
		note := fmt.Sprintf("%s, %s rows examined for %s sent", wording.Times(q.Calls), wording.Average(advice.ExaminedPerCall(q)),
			wording.Average(statements.RowsPerCall(q)))
		note += evidence.ByWords(c, q.ID)
		quotes = append(quotes, evidence.Statement(c, q, unit.Duration(q.Total), note, q.Total.Seconds()))
	}
	return kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: first.Table}, Severity: evidence.StatementSeverity(impact),
		Impact: impact, Interval: c.Focus.Interval,
		Title: wording.Cut(fmt.Sprintf("Ranges of %s in %s are always the same %d", wording.Cut(first.Column, 20),
			wording.Cut(first.Table, 16), first.Ranges), wording.MaxTitle),
		Clause:     fmt.Sprintf("ranges of %s stop the use of an index", wording.Cut(first.Column, 20)),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}),
		Evidence:   quotes,
		Cause: fmt.Sprintf("%s is asked for in ranges of which there are only %d. After a range an index gives neither "+
			"an order nor other columns; after the number of a range it gives both.",
			wording.List(names, 4), first.Ranges),
		Fixes: []kasoku.Fix{{Text: "Store the number of the range, and compare that",
			Where: "the schema, and where the statements are made", Risk: kasoku.RiskAppRestart,
			Note: strings.Join(notes, " ") + " SELECT * gets one more column. The statements must ask for the " +
				"number: WHERE " + first.Bucket + " = ?"}},
		Expect: fmt.Sprintf("the statements take about %s less", unit.Duration(first.Saved)),
		Verify: "EXPLAIN says ref on the new index and no filesort",
	}
}
