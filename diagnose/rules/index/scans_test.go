package index

import (
	"strings"
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

// TestReadsOtherTable: rows that other steps of the plan examine are not the table's, also where
// the other table is of its size.
func TestReadsOtherTable(t *testing.T) {
	f := func(want bool, steps ...kasoku.PlanRow) {
		t.Helper()
		q := kasoku.Query{ID: "A", Calls: 10, RowsExamined: 251_000}
		s := scan{query: &q, read: indexes.Read{QueryID: "A", Table: &kasoku.TableDef{Name: "tags", Rows: 15_000}, Alias: "t"}}
		c := &diagnose.Case{Recording: &kasoku.Recording{Plans: []kasoku.Plan{{QueryID: "A", Rows: steps}}}}
		if got := s.readsTable(c); got != want {
			t.Errorf("%v: %v, want %v", steps, got, want)
		}
	}
	tags := kasoku.PlanRow{Table: "t", Access: "ref", Rows: 1}
	step := func(access string, rows float64) kasoku.PlanRow {
		return kasoku.PlanRow{Table: "posts", Access: access, Rows: rows}
	}
	f(true, step("ALL", 8), tags)
	f(true, step("ALL", 8), tags, step("eq_ref", 1))
	f(false, step("ALL", 25_000), tags)
	f(false, step("ALL", 8), step("ref", 3_000), tags)
	f(false, step("ALL", 8), tags, step("ref", 10))
	f(false, step("ALL", 8), tags, step("eq_ref", 1), step("eq_ref", 1), step("eq_ref", 1))
	f(true, step("ALL", 25_000), kasoku.PlanRow{Table: "T", Access: "ALL", Rows: 15_000})
	f(false, kasoku.PlanRow{Table: "tags", Access: "ALL", Rows: 15_000}, tags) // by another name
}

// TestWrappedRows: IDX-10 counts rows of the table, not those of others.
func TestWrappedRows(t *testing.T) {
	q := kasoku.Query{ID: "A", Calls: 10, RowsExamined: 253_810, RowsSent: 30}
	s := scan{query: &q, hidden: []indexes.Hidden{{Function: "JSON_EXTRACT", Column: "data"}},
		read: indexes.Read{QueryID: "A", Table: &kasoku.TableDef{Name: "issues", Rows: 19_250}}}
	got := WrappedColumn{}.finding(&diagnose.Case{Recording: &kasoku.Recording{}}, &s)
	if !strings.Contains(got.Title, "reads 19,250 rows of issues") || !strings.Contains(got.Cause, "19,250 rows") {
		t.Errorf("%s\n%s", got.Title, got.Cause)
	}
}
