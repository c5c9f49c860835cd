package index

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
)

// TestReadsTable: a table is read whole by a scan of it, and through a join that begins with all
// rows of a small table (a search in all projects of Redmine); not by the key of one project.
func TestReadsTable(t *testing.T) {
	f := func(examined uint64, access string, first string, want bool) {
		t.Helper()
		q := kasoku.Query{ID: "A", Calls: 10, RowsExamined: 10 * examined}
		s := scan{query: &q, read: indexes.Read{QueryID: "A", Table: &kasoku.TableDef{Name: "issues", Rows: 19_250}}}
		c := &diagnose.Case{Recording: &kasoku.Recording{Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
			{Table: "projects", Access: first, Rows: 8}, {Table: "issues", Access: access, Rows: 1200}}}}}}
		if got := s.readsTable(c); got != want {
			t.Errorf("%d rows by %s after %s: %v, want %v", examined, access, first, got, want)
		}
		if n := s.rowsRead(); n > 19_250 {
			t.Errorf("%v rows of a table of 19,250", n)
		}
	}
	f(19_300, "ALL", "const", true)
	f(25_381, "ref", "ALL", true)
	f(2_500, "ref", "ALL", false)    // few projects have most rows, or most are passed over
	f(25_381, "ref", "const", false) // one project
	f(90_000, "ref", "ALL", false)   // another table's rows
}
