package index

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// Order is the rule IDX-02.
type Order struct{}

// ID returns IDX-02.
func (Order) ID() string { return "IDX-02" }

// Doc describes the rule.
func (Order) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an index that finds the rows, but not in the order that is wanted.`,
		Evidence: `statements use an index of several columns for those that they compare for equality,
			want another order than its next column gives, and read all rows that fit to sort them: Using
			filesort in the plan, rows examined against rows sent in the slow log. An index with that order
			would save at least 1 % of the requests' time.`,
		Cause: `after the columns of equality an index is sorted by its next column only.`,
		Fix:   `an index with the same first columns that goes on with the order.`,
		Silent: `when the order is served, when few rows are sorted, and blind without a slow log or the
			tables' definitions.`,
	}
}

// Check looks for proposals that differ from an index in use by their order.
func (r Order) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return advice.IndexRule{ID: r.ID(), Why: indexes.WrongOrder,
		None: "every index that is used gives the order that is wanted after its first columns",
		Title: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("%s of %s are sorted: its index has another order", wording.Capital(g.RowsWords(c)),
				wording.Cut(g.Table, 18))
		},
		Cause: func(c *diagnose.Case, g advice.IndexGroup) string {
			used := "The index in use"
			if p := advice.PlanOf(c, g.Served[0].QueryID, g.Table); p != nil && p.Key != "" {
				used = "The index " + p.Key
			}
			return fmt.Sprintf("%s finds the rows of %s, and its next column is not the order that is wanted: all rows "+
				"that fit are read and sorted, %s that are sent. (%s) has the order.",
				used, g.Table, g.RowsWords(c), advice.ColumnsWords(g.Proposals[0])) + g.ServesWords()
		}}.Check(c)
}
