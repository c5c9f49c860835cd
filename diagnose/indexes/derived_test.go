package indexes

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// TestPropose_Within: conditions reach the tables inside derived tables where the server carries them in,
// and nowhere else; of tables that name each other none is read for ever.
func TestPropose_Within(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		rec := &kasoku.Recording{
			Tables: []kasoku.TableDef{{Name: "orders", Create: create, Engine: "InnoDB", Rows: 30000, DataBytes: 6 << 20,
				Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{30000}}}}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
				Tables: []string{"orders"}, Calls: 100, Total: time.Second, RowsExamined: 3000000, RowsSent: 300}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += p.Columns[0].Column
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", sql, got, want)
		}
	}
	f("SELECT x.id FROM (SELECT id, customer_id AS c FROM orders) x WHERE x.c = ?", "customer_id")
	f("SELECT id FROM (SELECT * FROM orders) x WHERE customer_id = ?", "customer_id")
	f("SELECT x.n FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) x WHERE x.customer_id = ?",
		"customer_id")
	f("WITH x AS (SELECT customer_id AS c, price FROM orders) SELECT price FROM x WHERE c = ?", "customer_id")
	f("WITH x (c, p) AS (SELECT customer_id, price FROM orders) SELECT p FROM x WHERE c = ?", "customer_id")
	f("WITH orders AS (SELECT * FROM orders) SELECT price FROM orders WHERE customer_id = ?", "customer_id")
	f("SELECT p FROM (SELECT price AS p, customer_id AS c FROM orders WHERE id > ? UNION ALL SELECT price, customer_id FROM orders "+
		"WHERE id < ?) x WHERE c = ?", "customer_id")
	f("SELECT p FROM (SELECT price AS p, id AS c FROM orders UNION ALL SELECT id AS p, customer_id AS price FROM orders) x "+
		"WHERE p = ?", "price")
	f("SELECT x.n FROM (SELECT state, SUM(customer_id) AS n FROM orders GROUP BY state) x WHERE x.n = ?", "")
	f("SELECT x.id FROM (SELECT id, customer_id FROM orders LIMIT 20000) x WHERE x.customer_id = ?", "")
	f("SELECT x.id FROM (SELECT id, customer_id + 1 AS customer_id FROM orders) x WHERE x.customer_id = ?", "")
	f("WITH RECURSIVE x AS (SELECT id, customer_id FROM orders WHERE id = 1 UNION ALL SELECT o.id, o.customer_id FROM orders o "+
		"JOIN x ON o.id = x.id + 1) SELECT id FROM x WHERE customer_id = ?", "")
	f("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a WHERE customer_id = ?", "")
}

// TestPropose_UnionPart: the rows of one part of a UNION are not held against the index of another, of
// whose values the server knows little.
func TestPropose_UnionPart(t *testing.T) {
	sql := "SELECT id, state FROM orders WHERE customer_id = ? UNION ALL SELECT id, state FROM old_orders WHERE customer_id = ?"
	primary := kasoku.IndexDef{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{30000}}
	rec := &kasoku.Recording{
		Tables: []kasoku.TableDef{{Name: "orders", Create: create, Engine: "InnoDB", Rows: 30000, DataBytes: 6 << 20,
			Indexes: []kasoku.IndexDef{primary, {Name: "orders_customer", Columns: []string{"customer_id"}, Cardinality: []int64{2}}}},
			{Name: "old_orders", Create: create, Engine: "InnoDB", Rows: 30000, DataBytes: 6 << 20, Indexes: []kasoku.IndexDef{primary}}},
		Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
			Tables: []string{"orders", "old_orders"}, Calls: 100, Total: time.Second, RowsExamined: 3001000, RowsSent: 2000}},
		Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
			{Select: "PRIMARY", Table: "orders", Access: "ref", Key: "orders_customer", Rows: 10},
			{Select: "UNION", Table: "old_orders", Access: "ALL", Rows: 29800, Extra: "Using where"}}}}}
	a, err := Propose(rec)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Proposals) != 1 || a.Proposals[0].Table != "old_orders" {
		t.Errorf("got %+v", a.Proposals)
	}
}

// TestPropose_MadeFirst: what a subquery reads to make a table of it, once, is found by its own values; the index that
// its rows would be looked up by is of no use then.
func TestPropose_MadeFirst(t *testing.T) {
	const details = "CREATE TABLE `details` (\n  `id` int NOT NULL,\n  `order_id` int NOT NULL,\n" +
		"  `name` varchar(60) NOT NULL,\n  `value` varchar(400),\n  PRIMARY KEY (`id`),\n  KEY `of` (`order_id`)\n)"
	sql := "SELECT DISTINCT o.id, o.state FROM orders o WHERE EXISTS (SELECT id FROM details WHERE name = ? " +
		"AND o.id = order_id AND (value IS NOT NULL AND value = ?)) ORDER BY o.id LIMIT ?"
	primary := func(rows int64) kasoku.IndexDef {
		return kasoku.IndexDef{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{rows}}
	}
	f := func(how, want string) {
		t.Helper()
		rec := &kasoku.Recording{
			Tables: []kasoku.TableDef{
				{Name: "orders", Create: create, Engine: "InnoDB", Rows: 30000, DataBytes: 6 << 20,
					Indexes: []kasoku.IndexDef{primary(30000)}},
				{Name: "details", Create: details, Engine: "InnoDB", Rows: 90000, DataBytes: 9 << 20,
					Indexes: []kasoku.IndexDef{primary(90000),
						{Name: "of", Columns: []string{"order_id"}, Cardinality: []int64{30000}}}}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
				Tables: []string{"orders", "details"}, Calls: 10, Total: time.Second, RowsExamined: 1200000,
				RowsSent: 200}},
			Plans: []kasoku.Plan{{QueryID: "A", Rows: []kasoku.PlanRow{
				{Select: "PRIMARY", Table: "o", Access: "index", Key: "PRIMARY", Rows: 30000, Extra: "Using temporary"},
				{Select: "PRIMARY", Table: "<subquery2>", Access: "eq_ref", Key: "distinct_key", Rows: 1},
				{Select: how, Table: "details", Access: "ALL", Rows: 90000}}}}}
		if how != "MATERIALIZED" {
			rec.Plans[0].Rows[2] = kasoku.PlanRow{Select: how, Table: "details", Access: "ref", Key: "of", Rows: 3}
		}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += p.Table + " " + columnsText(p.Columns)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", how, got, want)
		}
	}
	f("MATERIALIZED", "details name, value")
	f("DEPENDENT SUBQUERY", "details order_id, name, value") // what is known outside leads
}

// TestPropose_NothingFound: a column that is NULL in each row has one value; a statement that asks for another one and
// reads all rows for it is served by an index all the same.
func TestPropose_NothingFound(t *testing.T) {
	f := func(calls, sent uint64, want string) {
		t.Helper()
		sql := "SELECT * FROM orders WHERE customer_id = ?"
		rec := &kasoku.Recording{
			Tables: []kasoku.TableDef{{Name: "orders", Create: create, Engine: "InnoDB", Rows: 20000,
				DataBytes: 6 << 20,
				Columns:   []kasoku.ColumnSample{{Name: "customer_id", Rows: 1000, Distinct: 1, Most: 1000}},
				Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"},
					Cardinality: []int64{20000}}}}},
			Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Fingerprint: strings.ToLower(sql), Sample: sql,
				Tables: []string{"orders"}, Calls: calls, Total: time.Second, RowsExamined: 20000 * calls,
				RowsSent: sent}}}
		a, err := Propose(rec)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range a.Proposals {
			got += columnsText(p.Columns)
		}
		if got != want {
			t.Errorf("%d calls, %d rows: got %q, want %q", calls, sent, got, want)
		}
	}
	f(20, 0, "customer_id")
	f(19, 0, "") // too few to say that none asks for the value that is there
	f(20, 20*20000, "")
}
