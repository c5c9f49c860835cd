package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestAsSelect(t *testing.T) {
	f := func(statement, want string) {
		t.Helper()
		got, ok := explain.AsSelect(statement)
		if got != want || ok != (want != "") {
			t.Errorf("%s:\n got %q %v\nwant %q", statement, got, ok, want)
		}
	}
	f("UPDATE items SET price = 1 WHERE id = 7", "SELECT * FROM items WHERE id = 7")
	f("/* a */ update low_priority ignore `it``ems` AS i set name = 'from where' ORDER BY id LIMIT 3", "SELECT * FROM `it``ems` AS i ORDER BY id LIMIT 3")
	f("UPDATE a JOIN (SELECT x FROM b WHERE y = 1) c ON a.x = c.x SET a.y = (SELECT 1 FROM d WHERE e), a.z = 2 WHERE a.q IN (1, 2)",
		"SELECT * FROM a JOIN (SELECT x FROM b WHERE y = 1) c ON a.x = c.x WHERE a.q IN (1, 2)")
	f("UPDATE items SET stock = stock - 1", "SELECT * FROM items")
	f("DELETE FROM items", "SELECT * FROM items")
	f("DELETE QUICK FROM items WHERE name = 'a;b' LIMIT 5", "SELECT * FROM items WHERE name = 'a;b' LIMIT 5")
	f("DELETE a, b FROM a JOIN b USING (id) WHERE a.x = 1", "SELECT * FROM a JOIN b USING (id) WHERE a.x = 1")
	f("DELETE FROM a USING a JOIN b ON a.id = b.id WHERE b.x", "SELECT * FROM a JOIN b ON a.id = b.id WHERE b.x")
	f("DELETE FROM items WHERE id = 1 RETURNING name", "SELECT * FROM items WHERE id = 1")
	f("INSERT INTO a (x) SELECT x FROM b WHERE y = 1 ON DUPLICATE KEY UPDATE x = 2", "SELECT x FROM b WHERE y = 1")
	f("REPLACE INTO a WITH w AS (SELECT 1) SELECT * FROM w", "WITH w AS (SELECT 1) SELECT * FROM w")
	f("INSERT INTO a (x) VALUES (1), ((SELECT 2))", "")
	f("INSERT INTO a SET x = 1", "")
	f("COMMIT", "")
	f("", "")
}

func FuzzAsSelect(f *testing.F) {
	for _, s := range []string{"UPDATE a SET b = 1 WHERE c", "DELETE a FROM a USING b", "INSERT INTO a SELECT 1 ON DUPLICATE KEY UPDATE x", "DELETE FROM 'a RETURNING", "update set", "on duplicate"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := explain.AsSelect(s)
		if ok && len(got) > len(s)+len("SELECT * FROM ")+2 || !ok && strings.TrimSpace(got) != "" && !strings.HasPrefix(got, "SELECT * FROM") {
			t.Errorf("%q: %q %v", s, got, ok)
		}
	})
}

func TestQueries(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		for _, s := range []string{
			"CREATE DATABASE shop", "CREATE TABLE shop.items (id INT AUTO_INCREMENT PRIMARY KEY, price INT, name VARCHAR(40))",
			"INSERT INTO shop.items (price, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')",
		} {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		r, err := mysql.New(t.Context(), sandboxtest.DB(t, srv, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		class := func(id, verb, raw string, took time.Duration) kasoku.Query {
			return kasoku.Query{Host: "h", ID: id, Verb: verb, Raw: raw, Schema: "shop", Tables: []string{"items"}, Total: took}
		}
		queries := []kasoku.Query{
			class("C", "COMMIT", "COMMIT", time.Hour), class("S", "SELECT", "SELECT * FROM items WHERE price = 3", 9*time.Second),
			class("U", "UPDATE", "UPDATE items SET name = 'x' WHERE price = 3", 8*time.Second), class("I", "INSERT", "INSERT INTO items (price) VALUES (7)", 7*time.Second),
			class("M", "SELECT", "SELECT * FROM gone", 6*time.Second), class("N", "SELECT", "", 5*time.Second), class("B", "SELECT", "SELECT (", 4*time.Second),
			class("X", "SELECT", "SELECT 1", time.Second),
		}
		plans, tables, err := explain.Queries(t.Context(), r, queries, explain.Options{Top: 6})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range plans {
			access := "none"
			if len(p.Rows) > 0 {
				access = p.Rows[0].Access
			}
			got = append(got, p.QueryID+" "+access)
		}
		if s := strings.Join(got, ", "); s != "S ALL, U ALL, I none, M none, N none, B none" {
			t.Errorf("plans %s", s)
		}
		if plans[0].Note != "" || plans[1].Note != explain.Converted || plans[2].Note != explain.NoPlan || !strings.Contains(plans[3].Note, "1146") ||
			plans[4].Note != explain.NoSample || !strings.Contains(plans[5].Note, "1064") {
			t.Errorf("notes %+v", plans)
		}
		hostile := []kasoku.Query{class("G", "SELECT", "SET GLOBAL max_connections = 9", 9*time.Second), class("O", "SELECT", "SELECT 1.INTO OUTFILE '/tmp/x'", 8*time.Second),
			class("W", "INSERT", "UPDATE items SET name = 'x'", 7*time.Second), class("F", "SELECT", "FOR CONNECTION 1", 6*time.Second)}
		if plans, _, err := explain.Queries(t.Context(), r, hostile, explain.Options{Analyze: true}); err != nil || len(plans) != 4 || len(plans[0].Rows)+len(plans[1].Rows)+
			len(plans[3].Rows) != 0 || plans[0].Note != explain.NoPlan || !strings.Contains(plans[1].Note, "not asked") || plans[2].Note != explain.Converted {
			t.Errorf("hostile: %+v, %v", plans, err)
		}
		if len(tables) != 1 || tables[0].Name != "items" || tables[0].Host != "h" {
			t.Errorf("tables %+v", tables)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM shop.items WHERE name = 'x' OR price = 7").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows were changed, %v", n, err)
		}
	})
}

func TestMask(t *testing.T) {
	f := func(format, text, want string) {
		t.Helper()
		p := kasoku.Plan{Format: format, Text: text}
		explain.Mask(&p)
		if got := strings.Join(strings.Fields(p.Text), " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	f("table", "id\n1\n", "id 1")
	f("json", `{"query_block":{"select_id":1,"cost_info":{"query_cost":"0.65"},"table":{"attached_condition":"(a.x = 'secret') and b < 7","rows":3,"key":"k1"}}}`,
		`{ "query_block": { "cost_info": { "query_cost": "0.65" }, "select_id": 1, "table": { "attached_condition": "(a.x = ?) and b < ?", "key": "k1", "rows": 3 } } }`)
	f("analyze", `{"query_plan":{"operation":"Filter: (items.price = 3)","ranges":["(3 <= price)"],"actual_rows":2.0,"access_type":"index"}}`,
		`{ "query_plan": { "access_type": "index", "actual_rows": 2.0, "operation": "Filter: (items.price = ?)", "ranges": [ "(? <= price)" ] } }`)
	f("analyze", "-> Filter: (name = 'x')", "-> Filter: (name = ?)")
}
