package index

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// CompositeIndex is the rule IDX-03.
type CompositeIndex struct{}

// ID returns IDX-03.
func (CompositeIndex) ID() string { return "IDX-03" }

// Doc describes the rule.
func (CompositeIndex) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an index that has only some of the columns that are compared for equality.`,
		Evidence: `statements compare several columns for equality, and the index that they use has some
			of them: type ref in the plan, and in the slow log more rows examined than sent. One with all of
			them would save at least 1 % of the requests' time.`,
		Cause: `the index finds all rows that agree in its columns; the others are compared row by row.`,
		Fix:   `one index of all columns of equality.`,
		Silent: `when the index in use finds few rows, and blind without a slow log or the tables'
			definitions.`,
	}
}

// Check looks for proposals that have more columns of equality than an index in use.
func (r CompositeIndex) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return advice.IndexRule{ID: r.ID(), Why: indexes.Composite,
		None: "every index that is used has the columns of equality that take time",
		Title: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("%s of %s: its index lacks a column of equality", wording.Capital(g.RowsWords(c)),
				wording.Cut(g.Table, 18))
		},
		Cause: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("The index in use has one part of the columns that statements on %s compare for equality, "+
				"and the rest is compared row by row: %s that are sent. (%s) has all of them.",
				g.Table, g.RowsWords(c), advice.ColumnsWords(g.Proposals[0])) + g.ServesWords()
		}}.Check(c)
}
