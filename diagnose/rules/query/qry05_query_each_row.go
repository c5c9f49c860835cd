package query

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
)

// EachRow is the rule QRY-05.
type EachRow struct{}

// ID returns QRY-05.
func (EachRow) ID() string { return "QRY-05" }

// Doc describes the rule.
func (EachRow) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an endpoint that runs one more SELECT for each row of a list.`,
		Evidence: `a SELECT by a key that sends at most one row, or whose number follows the rows of a
			list, runs at least 5 times in each request of an endpoint. The endpoint is counted (by comments
			or a probe), or inferred from overlap in time and borne out: the lookups come in rows on one
			connection, or as many as a list has rows. Where the endpoint is not known the loop itself must be
			seen on a connection, or the lookups come in rows on one in seconds with less than a request for
			5 of them; how many a request runs is not said then.`,
		Cause: `the program reads a list and asks again for each of its rows (N+1); each statement costs a
			round trip, however fast it is. The list is named where what it sends may have the key. Or a request asks for
			the same again and again, which a trace of it, or rows on a connection, show: each thing at least twice, and
			fewer than 5 things.`,
		Fix: `one statement for all keys, WHERE … IN (…), or a JOIN in the list itself; for the same again, the answer is
			kept for the request.`,
		Silent: `when lookups run fewer than 5 times a request, when what they ask for was seen and is fewer than 5 things
			and none of them twice, or requests ask for the same but write to the table, lock rows or find none, when requests ask for the same values
			whatever they are for (settings, a menu) or again and again (a long poll), when a trace saw
			the same few in each request and no list has as many rows (written one by one), when the
			loop is one over an area (QRY-04) or of two levels (QRY-06), and blind without a slow log.`,
	}
}

// Check looks for loops that are neither nested nor over an area.
func (r EachRow) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return checkLoops(c, r.ID(), func(x statements.RowLoop, f *kasoku.Finding) {
		if x.Same {
			saySame(c, x, f)
			return
		}
		each := "row"
		if first := x.Loops[0]; first.List != nil && first.Named(c) == nil {
			each = "key"
		}
		f.Title = loopTitle(c, x, "runs one SELECT per "+each)
		f.Clause = fmt.Sprintf("%s runs %s SELECTs a request, one per %s", subjectOf(x), x.Amount(c, 0), each)
		f.Cause = fmt.Sprintf("%s runs %s lookups in each request. %s: each is a round trip, however fast it is.",
			subjectOf(x), x.Amount(c, 0), rowsOf(c, x.Loops[0]))
		f.Fixes = append(batchFixes(c, x), againFixes(c, x)...)
	})
}
