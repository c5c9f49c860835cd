package statements

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// fewOrdered is the least number of calls of a class whose order may matter to someone.
const fewOrdered = 10

// HasPrimary reports whether a table has a primary key.
func HasPrimary(t *kasoku.TableDef) bool {
	return slices.ContainsFunc(t.Indexes, func(x kasoku.IndexDef) bool { return x.Name == "PRIMARY" }) ||
		wording.ContainsFold(t.Create, "primary key")
}

// RestingOnOrder returns the classes that send rows of the table in the order in which it
// stores them, in the order of the run. A table with a primary key has none.
func RestingOnOrder(c *diagnose.Case, t *kasoku.TableDef) (out []*kasoku.Query) {
	if HasPrimary(t) {
		return nil
	}
	for i := range c.Queries {
		if q := &c.Queries[i]; restsOnOrder(q, t) {
			out = append(out, q)
		}
	}
	return out
}

// restsOnOrder reports whether a class sends rows of the table in the order in
// which they come.
func restsOnOrder(q *kasoku.Query, t *kasoku.TableDef) bool {
	if q.Verb != "SELECT" || q.Calls < fewOrdered || len(q.Tables) == 0 {
		return false
	}
	name := q.Tables[0]
	if i := strings.LastIndex(name, "."); i >= 0 {
		if t.Schema != "" && !strings.EqualFold(name[:i], t.Schema) {
			return false
		}
		name = name[i+1:]
	}
	s := Of(q)
	if !strings.EqualFold(name, t.Name) || s.Ordered || s.Grouped || s.Sums || s.Counts {
		return false
	}
	return RowsPerCall(q) > NestedRows || s.Limit && q.RowsExamined > q.RowsSent
}
