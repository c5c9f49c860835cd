package query

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/statements"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// QueryEachPoint is the rule QRY-04.
type QueryEachPoint struct{}

// ID returns QRY-04.
func (QueryEachPoint) ID() string { return "QRY-04" }

// Doc describes the rule.
func (QueryEachPoint) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an endpoint that reads what lies in a box and asks again for each row whether it
			lies in the shape.`,
		Evidence: `as for QRY-05, and the list comes from the looked-up table itself by ranges of two
			columns or by a shape, or the lookup compares shapes.`,
		Cause: `the bounding box is one statement and the exact test another for each row in it; most rows
			fail the test, and each costs a round trip.`,
		Fix: `one statement that has both, the box for the index and the shape for the exact answer, with
			the order and the limit of the answer.`,
		Silent: `when there is no loop, when its list has no range of two columns of the same table
			(QRY-05), when loops are nested (QRY-06), and blind without a slow log.`,
	}
}

// Check looks for loops over an area.
func (r QueryEachPoint) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return checkLoops(c, r.ID(), func(x statements.RowLoop, f *kasoku.Finding) {
		f.Title = loopTitle(c, x, "runs one SELECT per row")
		f.Clause = fmt.Sprintf("%s asks for each of %s rows whether it lies in the area", subjectOf(x),
			wording.Average(x.PerRequest(c)))
		f.Cause = fmt.Sprintf("%s reads what lies in a box of %s and asks again for each row: %s statements a request where one can answer.",
			subjectOf(x), x.Loops[0].Shape.Table, wording.Average(x.PerRequest(c)))
		f.Fixes = areaFixes(x)
	})
}

func areaFixes(x statements.RowLoop) []kasoku.Fix {
	l := x.Loops[0]
	s := l.Shape
	fix := kasoku.Fix{Text: "Ask once for what lies in the area", Where: evidence.HandlerOf(x.Endpoint), Lang: "sql",
		Risk: kasoku.RiskAppRestart,
		Note: "The ranges keep an index useful; the shape decides. With a stored point and a spatial index the ranges can go."}
	if l.List == nil {
		fix.Code = fmt.Sprintf("SELECT %s FROM %s WHERE ST_Contains(ST_PolygonFromText(?), …) ORDER BY … LIMIT ?;",
			s.Choose, s.Table)
		return append([]kasoku.Fix{fix}, batchFixes(x)...)
	}
	box := statements.Of(l.List)
	if len(box.Ranged) < 2 {
		fix.Code = fmt.Sprintf("SELECT %s FROM %s WHERE ST_Contains(ST_PolygonFromText(?), …) ORDER BY … LIMIT ?;",
			box.Choose, box.Table)
		return []kasoku.Fix{fix}
	}
	a, b := box.Ranged[0], box.Ranged[1]
	fix.Code = fmt.Sprintf("SELECT %s FROM %s\nWHERE %s BETWEEN ? AND ? AND %s BETWEEN ? AND ?\n  AND ST_Contains(ST_PolygonFromText(?), POINT(%s, %s))\nORDER BY … LIMIT ?;",
		box.Choose, box.Table, a, b, a, b)
	return []kasoku.Fix{fix}
}
