package rules

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// QueryEachPoint finds an endpoint that reads what lies in a box and asks again for
// each row whether it lies in the shape.
//
// Evidence: as for QRY-05, and the list comes from the looked-up table itself by
// ranges of two columns or by a shape, or the lookup compares shapes.
// Cause: the bounding box is one statement and the exact test another for each row
// in it; most rows fail the test, and each costs a round trip.
// Fix: one statement that has both, the box for the index and the shape for the
// exact answer, with the order and the limit of the answer.
// Silent: when there is no loop, when its list has no range of two columns of the
// same table (QRY-05), when loops are nested (QRY-06), and blind without a slow log.
type QueryEachPoint struct{}

// ID returns QRY-04.
func (QueryEachPoint) ID() string { return "QRY-04" }

// Check looks for loops over an area.
func (r QueryEachPoint) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	return checkLoops(c, r.ID(), func(x rowLoop, f *kasoku.Finding) {
		f.Title = loopTitle(c, x, "runs one SELECT per row")
		f.Clause = fmt.Sprintf("%s asks for each of %s rows whether it lies in the area", x.who(),
			perWords(x.perRequest(c)))
		f.Cause = fmt.Sprintf("%s reads what lies in a box of %s and asks again for each row: %s statements a request where one can answer.",
			x.who(), x.loops[0].shape.table, perWords(x.perRequest(c)))
		f.Fixes = areaFixes(x)
	})
}

func areaFixes(x rowLoop) []kasoku.Fix {
	l := x.loops[0]
	s := l.shape
	fix := kasoku.Fix{Text: "Ask once for what lies in the area", Where: handlerOf(x.endpoint), Lang: "sql",
		Risk: kasoku.RiskAppRestart,
		Note: "The ranges keep an index useful; the shape decides. With a stored point and a spatial index the ranges can go."}
	if l.list == nil {
		fix.Code = fmt.Sprintf("SELECT %s FROM %s WHERE ST_Contains(ST_PolygonFromText(?), …) ORDER BY … LIMIT ?;",
			s.choose, s.table)
		return append([]kasoku.Fix{fix}, batchFixes(x)...)
	}
	box := statementOf(l.list)
	if len(box.ranged) < 2 {
		fix.Code = fmt.Sprintf("SELECT %s FROM %s WHERE ST_Contains(ST_PolygonFromText(?), …) ORDER BY … LIMIT ?;",
			box.choose, box.table)
		return []kasoku.Fix{fix}
	}
	a, b := box.ranged[0], box.ranged[1]
	fix.Code = fmt.Sprintf("SELECT %s FROM %s\nWHERE %s BETWEEN ? AND ? AND %s BETWEEN ? AND ?\n  AND ST_Contains(ST_PolygonFromText(?), POINT(%s, %s))\nORDER BY … LIMIT ?;",
		box.choose, box.table, a, b, a, b)
	return []kasoku.Fix{fix}
}
