package indexes

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestPropose_Leads: a join that reads one table whole could begin with the other, where an index for
// its condition is missing; not where the condition leaves most rows, where the table that is read
// whole could not be looked up, or where the order is fixed.
func TestPropose_Leads(t *testing.T) {
	people := kasoku.TableDef{Name: "people", Engine: "InnoDB", Rows: 40000, DataBytes: 4 << 20,
		Create: "CREATE TABLE `people` (\n  `id` int NOT NULL,\n  `born` date NOT NULL,\n" +
			"  PRIMARY KEY (`id`)\n)",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{40000}}}}
	guardians := kasoku.TableDef{Name: "guardians", Engine: "InnoDB", Rows: 40000, DataBytes: 2 << 20,
		Create: "CREATE TABLE `guardians` (\n  `pupil` int NOT NULL,\n  `parent` int NOT NULL,\n" +
			"  PRIMARY KEY (`pupil`,`parent`)\n)",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"pupil", "parent"},
			Cardinality: []int64{40000, 40000}}}}
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
