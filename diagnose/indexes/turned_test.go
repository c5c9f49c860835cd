package indexes

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// people and their guardians: a key that begins with the child.
var (
	people = kasoku.TableDef{Name: "people", Engine: "InnoDB", Rows: 40000, DataBytes: 4 << 20,
		Create: "CREATE TABLE `people` (\n  `id` int NOT NULL,\n  `born` date NOT NULL,\n" +
			"  PRIMARY KEY (`id`)\n)",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{40000}}}}
	guardians = kasoku.TableDef{Name: "guardians", Engine: "InnoDB", Rows: 40000, DataBytes: 2 << 20,
		Create: "CREATE TABLE `guardians` (\n  `pupil` int NOT NULL,\n  `parent` int NOT NULL,\n" +
			"  PRIMARY KEY (`pupil`,`parent`)\n)",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"pupil", "parent"},
			Cardinality: []int64{40000, 40000}}}}
)

// TestPropose_Leads: a join that reads one table whole could begin with the other, where an index for
// its condition is missing; not where the condition leaves most rows, where the table that is read
// whole could not be looked up, or where the order is fixed.
func TestPropose_Leads(t *testing.T) {
	f := func(want, sql, access, kind string, most int) {
		t.Helper()
		g := guardians
		g.Columns = []kasoku.ColumnSample{{Name: "parent", Rows: 4000, Distinct: max(4000/most-500, 1), Most: most}}
		rec := &kasoku.Recording{Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "10.11.19-MariaDB"}},
			Tables: []kasoku.TableDef{people, g},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: sql, Sample: sql,
				Tables: []string{"guardians", "people"}, Calls: 80, Total: 30 * time.Second, RowsExamined: 6_400_000,
				RowsSent: 240}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
				{Select: kind, Table: "p", Access: access, Rows: 40000, Filtered: 100},
				{Select: kind, Table: "g", Access: "eq_ref", Key: "PRIMARY", Rows: 1, Filtered: 100}}}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += p.Why + " " + p.Table + " (" + columnsOf(p.Columns) + ")"
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", sql, got, want)
		}
	}
	const children = "SELECT p.id, p.born FROM guardians g JOIN people p ON p.id = g.pupil WHERE g.parent = ?"
	f("equality guardians (parent)", children, "ALL", "SIMPLE", 1)
	f("equality guardians (parent)", children, "index", "SIMPLE", 1)
	f("", children, "range", "SIMPLE", 1)
	f("", children, "ALL", "DEPENDENT SUBQUERY", 1)
	f("", children, "ALL", "SIMPLE", 4000)
	f("", "SELECT p.id, p.born FROM people p LEFT JOIN guardians g ON p.id = g.pupil AND g.parent = ?",
		"ALL", "SIMPLE", 1)
}

// TestPropose_Guessed: where each row of the first table that fits is sent, with what is looked up for
// it, the rows that are sent say how often that is, not a tenth that the server guesses. Groups and a
// LIMIT send fewer.
func TestPropose_Guessed(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		rec := &kasoku.Recording{Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: "9.7.0"}},
			Tables: []kasoku.TableDef{people, guardians},
			Queries: []kasoku.Query{
				{ID: "A", Verb: "SELECT", Fingerprint: sql, Sample: sql, Tables: []string{"guardians", "people"},
					Calls: 80, Total: 5 * time.Second, RowsExamined: 3_200_160, RowsSent: 80},
				{ID: "B", Verb: "SELECT", Fingerprint: "select ?", Sample: "SELECT ?", Calls: 1, Total: 85 * time.Second}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
				{Select: "SIMPLE", Table: "g", Access: "index", Key: "PRIMARY", Rows: 40000, Filtered: 10},
				{Select: "SIMPLE", Table: "p", Access: "eq_ref", Key: "PRIMARY", Rows: 1, Filtered: 100}}}}}
		rec.Tables[1].Columns = []kasoku.ColumnSample{{Name: "parent", Rows: 4000, Distinct: 1200, Most: 8}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += p.Why + " " + p.Table + " (" + columnsOf(p.Columns) + ")"
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", sql, got, want)
		}
	}
	const from = " FROM guardians g JOIN people p ON p.id = g.pupil WHERE g.parent = ?"
	f("SELECT p.id, p.born"+from+" ORDER BY p.born", "equality guardians (parent)")
	f("SELECT DISTINCT p.born"+from, "")
	f("SELECT p.born, COUNT(*)"+from+" GROUP BY p.born", "")
}
