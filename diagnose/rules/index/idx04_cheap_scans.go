package index

import (
	"fmt"
	"slices"
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

// Thresholds of the remark on tables that are read whole in each request, and cost little yet.
const (
	// cheapRows are more than a table has that does not grow, as a list of countries.
	cheapRows = 500
	// eachRequest a request are one in each of them.
	eachRequest = 0.95
)

// cheapScans remarks on tables of which each request of an endpoint reads all rows for a few, of
// which no finding names the table: what is cheap at this size is not when it has grown.
func (r GeneralIndex) cheapScans(c *diagnose.Case) (out []kasoku.Finding) {
	advised, err := advice.ForIndexes(c)
	if err != nil {
		return nil
	}
	for _, read := range advised.Reads() {
		q, t := c.Statements().QueryByID(read.QueryID), read.Table
		served := func(p indexes.Proposal) bool {
			return slices.ContainsFunc(p.Serves, func(s indexes.Served) bool { return s.QueryID == read.QueryID })
		}
		if q == nil || q.Verb != "SELECT" || q.Calls == 0 ||
			slices.ContainsFunc(advised.Proposals, served) ||
			len(read.Equal) == 0 || len(read.Hidden) > 0 || !read.Alone ||
			slices.ContainsFunc(out, func(f kasoku.Finding) bool { return f.Object.Name == t.Name }) {
			continue
		}
		x, s := evidence.Surest(c, q.ID), scan{query: q, read: read}
		impact := evidence.TimeImpact(c, c.Statements().QueryTime(q), q)
		examined := advice.ExaminedPerCall(q)
		if x == nil || x.PerRequest < eachRequest || impact.Share >= advice.IndexShare || examined < cheapRows ||
			examined < scannedShare*float64(t.Rows) || examined < scannedPerRow*max(statements.RowsPerCall(q), 1) ||
			!s.readsTable(c) || s.plan == nil {
			continue
		}
		impact.Estimate = true
		out = append(out, kasoku.Finding{
			ID: r.ID(), Object: kasoku.Object{Kind: "table", Name: t.Name}, Severity: kasoku.Info, Impact: impact,
			Interval: c.Focus.Interval,
			Title: wording.Cut(fmt.Sprintf("%s reads all %s rows of %s in each request", wording.Cut(x.Endpoint(), 28),
				diagnose.Whole(examined), wording.Cut(t.Name, 16)), wording.MaxTitle),
			Confidence: diagnose.Confidence(diagnose.Signal{Holds: true},
				diagnose.Signal{Blind: "how the table grows is not known"}),
			Evidence: s.evidence(c),
			Cause: fmt.Sprintf("No index serves %s of %s. It takes %s %s at this size, and more with each row.",
				wording.List(read.Equal, 3), t.Name, unit.Percent(impact.Share), impact.Of),
			Fixes: []kasoku.Fix{{Text: "Where the table grows, an index that begins with the one of " +
				strings.Join(read.Equal, ", ") + " that differs most", Where: "the file from which tables are made", Risk: kasoku.RiskNone,
				Note: "Below the time from which one is proposed; each index is one more to write."}},
			Expect: "the statement examines the rows that it needs", Verify: "rows examined a call of the statement",
		})
	}
	return out
}
