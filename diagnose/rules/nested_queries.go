package rules

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// NestedQueries finds an endpoint that runs statements in a loop within a loop.
//
// Evidence: as for QRY-05, and the rows that are looked up are sent by a statement
// that itself runs at least twice in each request and sends more than one row:
// two levels of loops.
// Cause: the program reads a list, for each of its rows another, and for each row
// of that it asks again; statements grow with the product of the two.
// Fix: read each level at once, with WHERE … IN (…) or a JOIN, and GROUP BY where
// the inner statements count or add up.
// Silent: when there is no loop, when it has one level (QRY-04, QRY-05), when the
// endpoint is not known, and blind without a slow log.
type NestedQueries struct{}

// ID returns QRY-06.
func (NestedQueries) ID() string { return "QRY-06" }

// Check looks for loops of two levels.
func (r NestedQueries) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return checkLoops(c, r.ID(), func(x rowLoop, f *kasoku.Finding) {
		outer := perRequestOf(c, x.around.ID, x.endpoint)
		f.Title = loopTitle(c, x, "runs SELECTs in nested loops")
		f.Clause = fmt.Sprintf("%s runs %s SELECTs a request in nested loops", x.endpoint, perWords(x.perRequest(c)))
		f.Cause = fmt.Sprintf("%s runs a SELECT from %s %s times a request, and for each of its rows again: %s in all, of %s.",
			x.endpoint, statementOf(x.around).table, perWords(outer), perWords(x.perRequest(c)),
			unit.Counted(len(x.loops), "class", "classes"))
		f.Fixes = batchFixes(x)
	})
}
