package rules

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
)

// IndexOrder finds an index that finds the rows, but not in the order that is wanted.
//
// Evidence: statements use an index of several columns for those that they compare
// for equality, want another order than its next column gives, and read all rows that
// fit to sort them: Using filesort in the plan, rows examined against rows sent in the
// slow log. An index with that order would save at least 1 % of the requests' time.
// Cause: after the columns of equality an index is sorted by its next column only.
// Fix: an index with the same first columns that goes on with the order.
// Silent: when the order is served, when few rows are sorted, and blind without a slow
// log or the tables' definitions.
type IndexOrder struct{}

// ID returns IDX-02.
func (IndexOrder) ID() string { return "IDX-02" }

// Check looks for proposals that differ from an index in use by their order.
func (r IndexOrder) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return indexRule{id: r.ID(), why: indexes.WrongOrder,
		none: "every index that is used gives the order that is wanted behind its first columns",
		title: func(c *diagnose.Case, g indexGroup) string {
			return fmt.Sprintf("%s of %s are sorted: its index has another order", capital(g.readFor(c)),
				cut(g.table, 18))
		},
		cause: func(c *diagnose.Case, g indexGroup) string {
			used := "The index in use"
			if p := planOf(c, g.served[0].QueryID, g.table); p != nil && p.Key != "" {
				used = "The index " + p.Key
			}
			return fmt.Sprintf("%s finds the rows of %s, and its next column is not the order that is wanted: all rows that fit are read and sorted, %s that are sent. (%s) has the order.",
				used, g.table, g.readFor(c), columnsWords(g.proposals[0])) + g.saying()
		}}.check(c)
}
