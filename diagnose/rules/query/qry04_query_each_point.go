package query

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/rewrite"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
)

// EachPoint is the rule QRY-04.
type EachPoint struct{}

// ID returns QRY-04.
func (EachPoint) ID() string { return "QRY-04" }

// Doc describes the rule.
func (EachPoint) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an endpoint that reads what lies in a box and asks again for each row whether it
			lies in the shape.`,
		Evidence: `as for QRY-05, and the list comes from the looked-up table itself by ranges of two
			columns, bounded on both sides, or by a shape, or the lookup compares shapes.`,
		Cause: `the bounding box is one statement and the exact test another for each row in it; most rows
			fail the test, and each costs a round trip.`,
		Fix: `one statement that has both, the box for the index and the shape for the exact answer, with
			the order and the limit of the answer.`,
		Silent: `when there is no loop, when its list has no such ranges of two columns of the same table
			(QRY-05), when loops are nested (QRY-06), and blind without a slow log.`,
	}
}

// Check looks for loops over an area.
func (r EachPoint) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return checkLoops(c, r.ID(), func(x statements.RowLoop, f *kasoku.Finding) {
		f.Title = loopTitle(c, x, "runs one SELECT per row")
		f.Clause = fmt.Sprintf("%s asks for each of %s rows whether it lies in the area", subjectOf(x),
			x.Amount(c, 0))
		f.Cause = fmt.Sprintf("%s reads what lies in a box of %s and asks again for each row: %s statements a request "+
			"where one can answer.",
			subjectOf(x), x.Loops[0].Shape.Table, x.Amount(c, 0))
		f.Fixes = areaFixes(c, x)
	})
}

// areaFixes is one statement that has the box and the shape, where the list has a box.
func areaFixes(c *diagnose.Case, x statements.RowLoop) []kasoku.Fix {
	fix := kasoku.Fix{Text: "Ask once for what lies in the area", Where: evidence.HandlerOf(x.Endpoint),
		Risk: kasoku.RiskAppRestart,
		Note: "Put the lookup's test of the shape, with its other conditions, into the WHERE of the statement that " +
			"reads the rows."}
	l := x.Loops[0]
	if l.List == nil {
		return append([]kasoku.Fix{fix}, batchFixes(c, x)...)
	}
	box := statements.Of(l.List)
	if len(box.Ranged) != 2 {
		return []kasoku.Fix{fix}
	}
	code, err := rewrite.DialectOf(c.Recording).AddShape(statements.TextOf(l.List), statements.TextOf(l.Query), box.Ranged,
		uniqueKeys(c, l.Shape.Table))
	if err != nil {
		return []kasoku.Fix{fix}
	}
	fix.Lang, fix.Code = "sql", code
	fix.Note = "The ranges keep an index useful; the shape decides. POINT takes its coordinates in the order of the " +
		"lookup's points: turn them where those begin with the other. " +
		"With a stored point and a spatial index the ranges can go."
	return []kasoku.Fix{fix}
}
