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

// TestReadsThroughTwo: as Redmine's search in the notes of all issues, which reads all issues
// of all projects and all journals of these.
func TestReadsThroughTwo(t *testing.T) {
	f := func(want bool, examined, issues uint64, steps ...kasoku.PlanRow) {
		t.Helper()
		q := kasoku.Query{ID: "A", Calls: 6, RowsExamined: 6 * examined}
		s := scan{query: &q, read: indexes.Read{QueryID: "A", Table: &kasoku.TableDef{Schema: "r", Name: "journals", Rows: 59_700}}}
		c := &diagnose.Case{Recording: &kasoku.Recording{
			Plans: []kasoku.Plan{{QueryID: "A", Rows: append(steps, kasoku.PlanRow{Table: "journals", Access: "ref", Rows: 1},
				kasoku.PlanRow{Select: "MATERIALIZED", Table: "em", Access: "ALL", Rows: 32})}},
			Tables: []kasoku.TableDef{{Schema: "other", Name: "issues", Rows: 1}, {Schema: "r", Name: "issues", Rows: issues}}}}
		if got := s.readsTable(c); got != want {
			t.Errorf("%d rows, %d issues after %v: %v, want %v", examined, issues, steps, got, want)
		}
	}
	projects, roles := kasoku.PlanRow{Table: "projects", Access: "ALL", Rows: 8}, kasoku.PlanRow{Table: "<subquery2>", Access: "eq_ref", Rows: 1}
	issues := kasoku.PlanRow{Table: "issues", Access: "ref", Rows: 1203}
	f(true, 80_108, 19_800, projects, roles, issues)
	f(false, 30_000, 19_800, projects, roles, issues)  // of some issues
	f(false, 110_000, 19_800, projects, roles, issues) // issues may be read twice
	f(false, 80_108, 60_000, projects, roles, issues)  // issues may be what is read
	f(false, 80_108, 19_800, projects, roles, kasoku.PlanRow{Table: "i", Access: "ref", Rows: 1203})
	f(false, 80_108, 19_800, kasoku.PlanRow{Table: "issues", Access: "ALL", Rows: 19_800})
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

// TestReadsPart: as Gitea's search in all repositories, which compares the issues that are open; a
// LIKE on a small table of a join is not what reads the rows.
func TestReadsPart(t *testing.T) {
	f := func(want, part bool, table, function string, steps ...kasoku.PlanRow) {
		t.Helper()
		q := kasoku.Query{ID: "A", Calls: 6, RowsExamined: 6 * 45_363}
		s := scan{query: &q, read: indexes.Read{QueryID: "A", Table: &kasoku.TableDef{Name: table, Rows: 20_012}},
			hidden: []indexes.Hidden{{Column: "name", Function: function}}}
		c := &diagnose.Case{Recording: &kasoku.Recording{Plans: []kasoku.Plan{{QueryID: "A", Rows: steps}}}}
		if got := s.readsTable(c); got != want || s.part != part {
			t.Errorf("%s of %v: %v, a part %v; want %v, %v", table, steps, got, s.part, want, part)
		}
	}
	first := kasoku.PlanRow{Select: "PRIMARY", Table: "repository", Access: "index", Rows: 12, Filtered: 100}
	issue := kasoku.PlanRow{Select: "PRIMARY", Table: "issue", Access: "ref|filter", Rows: 852, Filtered: 50}
	comment := kasoku.PlanRow{Select: "DEPENDENT SUBQUERY", Table: "comment", Access: "ref", Rows: 1, Filtered: 50}
	again := kasoku.PlanRow{Select: "DEPENDENT SUBQUERY", Table: "issue", Access: "eq_ref", Rows: 1, Filtered: 100}
	once := kasoku.PlanRow{Select: "MATERIALIZED", Table: "repository", Access: "ref", Rows: 12, Filtered: 100}
	f(true, true, "issue", indexes.LikeFunction, first, issue, comment, again, once)
	f(false, false, "issue", "YEAR", first, issue, comment, again, once)
	f(false, false, "users", indexes.LikeFunction, first, issue, kasoku.PlanRow{Select: "SUBQUERY", Table: "users", Access: "ref", Rows: 40})
	f(true, false, "issue", indexes.LikeFunction, kasoku.PlanRow{Select: "SIMPLE", Table: "issue", Access: "ALL", Rows: 20_012})
}

// TestReadsTable_LookedUp: a table whose one row is looked up by a unique key for each row of another one is not what a
// search reads (a search in the names of templates, too, as Cacti's); one of which a key finds several may be.
func TestReadsTable_LookedUp(t *testing.T) {
	f := func(access string, want bool) {
		t.Helper()
		q := kasoku.Query{ID: "A", Calls: 10, RowsExamined: 280_000}
		s := scan{query: &q, hidden: []indexes.Hidden{{Column: "name", Function: indexes.RegexpFunction}},
			read: indexes.Read{QueryID: "A", Table: &kasoku.TableDef{Name: "templates", Rows: 60}}}
		c := &diagnose.Case{Recording: &kasoku.Recording{Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
			{Table: "sources", Access: "index", Rows: 30, Filtered: 100},
			{Table: "templates", Access: access, Rows: 1, Filtered: 100}}}}}}
		if got := s.readsTable(c); got != want {
			t.Errorf("%s: %v, want %v", access, got, want)
		}
	}
	f("eq_ref", false)
	f("const", false)
	f("ref", true)
}
