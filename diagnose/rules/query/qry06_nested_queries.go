package query

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// NestedQueries is the rule QRY-06.
type NestedQueries struct{}

// ID returns QRY-06.
func (NestedQueries) ID() string { return "QRY-06" }

// Doc describes the rule.
func (NestedQueries) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an endpoint that runs statements in a loop within a loop.`,
		Evidence: `as for QRY-05, and the rows that are looked up are sent by a statement that itself runs
			at least twice in each request and sends more than one row: two levels of loops. Their numbers
			go together over requests, or a column's name says that the lookups are for those rows.`,
		Cause: `the program reads a list, for each of its rows another, and for each row of that it asks
			again; statements grow with the product of the two.`,
		Fix: `read each level at once, with WHERE … IN (…) or a JOIN, and GROUP BY where the inner
			statements count or add up.`,
		Silent: `when there is no loop, when it has one level (QRY-04, QRY-05), when the endpoint is not
			known, and blind without a slow log.`,
	}
}

// Check looks for loops of two levels.
func (r NestedQueries) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return checkLoops(c, r.ID(), func(x statements.RowLoop, f *kasoku.Finding) {
		outer := statements.PerRequestOf(c, x.Around.ID, x.Endpoint)
		f.Title = loopTitle(c, x, "runs SELECTs in nested loops")
		f.Clause = fmt.Sprintf("%s runs %s SELECTs a request in nested loops", x.Endpoint, x.Amount(c, 0))
		f.Cause = fmt.Sprintf("%s runs a SELECT from %s %s times a request, and for each of its rows again: %s in "+
			"all, of %s.",
			x.Endpoint, statements.Of(x.Around).Table, wording.Average(outer), x.Amount(c, 0),
			unit.Counted(len(x.Loops), "class", "classes"))
		f.Fixes = batchFixes(c, x)
	})
}
