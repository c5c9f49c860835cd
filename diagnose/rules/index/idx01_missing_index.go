package index

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/internal/advice"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// MissingIndex is the rule IDX-01.
type MissingIndex struct{}

// ID returns IDX-01.
func (MissingIndex) ID() string { return "IDX-01" }

// Doc describes the rule.
func (MissingIndex) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds columns that are compared for equality and that no index begins with.`,
		Evidence: `statements compare columns of a table for equality and read all of it: rows examined
			against rows sent in the slow log, type ALL in the plan, and no index of the table that begins
			with one of the columns. An index would save at least 1 % of the requests' time.`,
		Cause: `without an index the server looks at each row of the table.`,
		Fix: `an index on the columns of equality, followed by the order that is wanted, or by one range,
			or by the few columns that are read.`,
		Silent: `when an index serves, when the table is small or the statements take little time, and
			blind without a slow log or the tables' definitions.`,
	}
}

// Check looks for proposals that begin with columns of equality.
func (r MissingIndex) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return advice.IndexRule{ID: r.ID(), Why: indexes.Equality,
		None: "every column that takes time to compare for equality has an index",
		Title: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("%s of %s: no index on %s", wording.Capital(g.RowsWords(c)), wording.Cut(g.Table, 20),
				advice.ColumnsWords(g.Proposals[0]))
		},
		Cause: func(c *diagnose.Case, g advice.IndexGroup) string {
			return fmt.Sprintf("No index of %s begins with %s, so each statement looks at the whole table: %s that it sends.",
				g.Table, advice.ColumnsWords(g.Proposals[0]), g.RowsWords(c)) + g.ServesWords()
		}}.Check(c)
}
