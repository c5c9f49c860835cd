package index

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// MixedOrder is the rule IDX-06.
type MixedOrder struct{}

// ID returns IDX-06.
func (MixedOrder) ID() string { return "IDX-06" }

// Doc describes the rule.
func (MixedOrder) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an ORDER BY with both directions that no index has.`,
		Evidence: `statements order by several columns, some descending and some ascending, and sort what
			they read: Using filesort in the plan, rows examined against rows sent in the slow log. No index
			has these directions, and one that has would save at least 1 % of the requests' time. MariaDB from
			10.8 and MySQL from 8.0 have such indexes.`,
		Cause: `an index can be read forwards or backwards, which turns all its columns; an order of both
			directions needs an index whose columns differ in direction.`,
		Fix: `an index with DESC where the ORDER BY has it.`,
		Silent: `when an index has the order, when few rows are sorted, on older servers, and blind
			without a slow log or the tables' definitions.`,
	}
}

// Check looks for proposals with descending parts.
func (r MixedOrder) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return advice.IndexRule{ID: r.ID(), Why: indexes.MixedOrder, None: "no ORDER BY with both directions takes time",
		Title: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("Searches of %s sort %s: no index has that order", wording.Cut(g.Table, 16), g.RowsWords(c))
		},
		Cause: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("The order goes down in one column and up in another. An index of %s whose columns all go "+
				"the same way cannot give it, so all rows that fit are read and sorted: %s that are sent. (%s) has the order.",
				g.Table, g.RowsWords(c), advice.ColumnsWords(g.Proposals[0])) + g.ServesWords()
		}}.Check(c)
}
