package prepared_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/prepared"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestCheck: what a server refuses is not printed, what it takes is said to be accepted, and what it
// could not be asked is not checked. Nothing is run.
func TestCheck(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		for _, s := range []string{
			"CREATE DATABASE shop", "CREATE DATABASE other",
			"CREATE TABLE shop.items (id INT AUTO_INCREMENT PRIMARY KEY, price INT, name VARCHAR(40))",
			"CREATE TABLE other.items (id INT PRIMARY KEY)",
			"INSERT INTO shop.items (price) VALUES (1), (2)",
			"CREATE TABLE shop.calls (id INT)", "SET GLOBAL log_bin_trust_function_creators = ON",
			"CREATE FUNCTION shop.noted() RETURNS INT DETERMINISTIC BEGIN INSERT INTO calls VALUES (1); RETURN 1; END",
			"CREATE USER blind ", "GRANT SELECT ON other.* TO blind", "GRANT SELECT (id) ON shop.items TO blind",
		} {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		reader := func(db *sql.DB) *mysql.Reader {
			t.Helper()
			r, err := mysql.New(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() })
			return r
		}
		r := reader(db)
		fix := func(code string) kasoku.Fix {
			return kasoku.Fix{Lang: "sql", Code: code, Note: "First.", Edits: []kasoku.Edit{{Kind: kasoku.EditIndex}}}
		}
		check := func(r *mysql.Reader, fixes ...kasoku.Fix) []kasoku.Fix {
			rec := &kasoku.Recording{Diagnosis: &kasoku.Diagnosis{Findings: []kasoku.Finding{{Fixes: fixes}}},
				Queries: []kasoku.Query{{Schema: "shop", Total: time.Second}, {Schema: ""}}}
			prepared.Check(t.Context(), r, rec, "other")
			return rec.Diagnosis.Findings[0].Fixes
		}
		const refused = "refuses it as kasoku would write it"
		for code, want := range map[string]string{
			"SELECT name FROM items WHERE price IN (?, ?) ORDER BY name LIMIT ?;":        prepared.Accepted,
			"SELECT id FROM items WHERE id = ?;\nDELETE FROM items WHERE price < ?;":     prepared.Accepted,
			"CREATE INDEX by_price ON items (price);":                                    prepared.Accepted,
			"SELECT COUNT ( * ) FROM items;":                                             refused + " (Error 1064",
			"SELECT id FROM items WHERE id = ?;\nSELECT price, colour FROM items;":       refused + " (Error 1054",
			"SELECT name FROM items LIMIT ? ORDER BY name;":                              refused + " (Error 1064",
			"SELECT * FROM missing WHERE id = ?;":                                        "Not checked on the server: Error 1146",
			"SELECT name FROM items WHERE … = ?;":                                        "Not checked on the server: a column",
			"ALTER TABLE items ADD COLUMN colour INT;\nUPDATE items SET colour = price;": "Not checked on the server: it needs what another of these statements makes (Error 1054",
			"SELECT INTERVAL(shop.noted(), 1, 2, 3, 4, 5, 6, 7, 8) FROM items;":          "Not checked on the server: Error 1792",
			"UPDATE items SET price = INTERVAL(shop.noted(), 1, 2, 3, 4, 5, 6, 7, 8);":   prepared.Accepted,
			"SELECT id FROM items WHERE id = ? FOR UPDATE;":                              prepared.Accepted,
			"SET GLOBAL sync_binlog = 0;":                                                "",
		} {
			got := check(r, fix(code))[0]
			if !strings.HasPrefix(got.Note, "First.") || !strings.Contains(got.Note, want) || want == "" && got.Note != "First." {
				t.Errorf("%s: %s", code, got.Note)
			}
			if left := got.Code == "" && got.Edits == nil; left != strings.HasPrefix(want, refused) || !left && got.Code != code {
				t.Errorf("%s: code %q, edits %v", code, got.Code, got.Edits)
			}
		}
		// The column may be one that another fix of the finding makes.
		pair := check(r, fix("ALTER TABLE items ADD COLUMN colour INT;"), fix("SELECT colour FROM items;"))
		if pair[1].Code == "" || !strings.Contains(pair[1].Note, "Not checked on the server: it needs what another of these statements makes (Error 1054") {
			t.Errorf("%+v", pair)
		}
		// An account without rights says nothing of a statement.
		blind, err := mysqlflags.OpenDSN(srv.DSN("blind", ""))
		if err != nil {
			t.Fatal(err)
		}
		defer blind.Close()
		if got := check(reader(blind), fix("SELECT name FROM items;"))[0]; got.Code == "" || !strings.Contains(got.Note, "may not read the tables") {
			t.Errorf("%+v", got)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM shop.items WHERE price > 0").Scan(&n); err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM shop.calls").Scan(&n); err != nil || n != 0 {
			t.Errorf("a function wrote %d rows, %v", n, err)
		}
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE INDEX_NAME = 'by_price'").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d indexes were made, %v", n, err)
		}
	})
}
