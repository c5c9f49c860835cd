package mysql_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestPlan(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		for _, s := range []string{
			"CREATE DATABASE `shop 1`",
			"CREATE TABLE `shop 1`.items (id INT AUTO_INCREMENT PRIMARY KEY, price INT, name VARCHAR(40), at DATETIME, KEY by_price (price, name(10)))",
			"INSERT INTO `shop 1`.items (price, name) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (3, 'd')",
			"ANALYZE TABLE `shop 1`.items",
		} {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		r := newReader(t, sandboxtest.DB(t, srv, ""))
		t.Run("select", func(t *testing.T) {
			p, err := mysql.Explain(t.Context(), r, mysql.Question{Schema: "shop 1", Statement: "SELECT * FROM items WHERE name = 'a\\'b' ORDER BY at"})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Steps) != 2 || !slices.Contains(p.Steps[0], "filtered") || !slices.Contains(p.Steps[1], "ALL") {
				t.Errorf("steps %v", p.Steps)
			}
			if p.Format != "json" || !strings.HasPrefix(p.Text, "{") || p.Note != "" {
				t.Errorf("%s %q %q", p.Format, p.Text, p.Note)
			}
		})
		t.Run("analyze", func(t *testing.T) {
			p, err := mysql.Explain(t.Context(), r, mysql.Question{Schema: "shop 1", Statement: "SELECT COUNT(*) FROM items WHERE price > 1", Analyze: true})
			if err != nil || p.Format != "analyze" || !strings.Contains(p.Text, "r_rows") && !strings.Contains(p.Text, "actual") {
				t.Errorf("%+v %v", p, err)
			}
		})
		t.Run("limit", func(t *testing.T) {
			begin := time.Now()
			p, err := mysql.Explain(t.Context(), r, mysql.Question{Statement: "SELECT SLEEP(0.5) + a.n FROM (SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) a, (SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) b, " +
				"(SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) c", Analyze: true, Limit: time.Second})
			if err == nil && p.Note == "" || time.Since(begin) > 20*time.Second {
				t.Errorf("%+v %v after %v", p, err, time.Since(begin))
			}
			var n int
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM `shop 1`.items WHERE price = 3").Scan(&n); err != nil || n != 2 {
				t.Errorf("%d rows left, %v", n, err)
			}
		})
		t.Run("refused", func(t *testing.T) {
			for _, s := range []string{"nonsense", "SELECT 1; DROP DATABASE `shop 1`", "SELECT * FROM missing", "DELETE FROM items", "CREATE TABLE x (id INT)"} {
				_, _ = mysql.Explain(t.Context(), r, mysql.Question{Schema: "shop 1", Statement: s, Analyze: true})
				if p, err := mysql.Explain(t.Context(), r, mysql.Question{Schema: "shop 1", Statement: s}); err == nil {
					t.Errorf("%s: %+v", s, p)
				}
			}
			if _, err := r.Status(t.Context()); err != nil {
				t.Errorf("the reader is unusable after: %v", err)
			}
		})
		t.Run("plain texts", func(t *testing.T) { testPlainTexts(t, db, r) })
		t.Run("table", func(t *testing.T) { testTableDef(t, r) })
	})
}

// testPlainTexts: what is sent instead of a statement with backslashes has the same answer,
// in each sql_mode, and a plan.
func testPlainTexts(t *testing.T, db *sql.DB, r *mysql.Reader) {
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sandboxtest.Exec(t, db, "CREATE TABLE `shop 1`.texts (n VARCHAR(9))", "INSERT INTO `shop 1`.texts VALUES ('a;b'), ('x_;'), ('xy;'), ('A\\\\;'), ('xy%\\0')")
	ask := func(mode, text string) (out string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), "SET SESSION sql_mode = '"+mode+"'"); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRowContext(t.Context(), text).Scan(&out); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		return out
	}
	for _, s := range []string{
		`SELECT CONCAT_WS(',', HEX('a\%b\_;'), HEX('\0\b\n\r\t\Z\\\'\"\x;'), HEX("it's \"'';"), HEX('a''\';'))`,
		"SELECT CONCAT(HEX(_binary'\\\\;\xff\x01'), HEX(_binary 'a\\'\\\\;'), HEX('é\\\\;'))",
		"SELECT GROUP_CONCAT(CONCAT(n LIKE 'a\\;_', n LIKE 'x\\_;' ESCAPE '\\\\', n LIKE 'xy|%\\0' ESCAPE '|', n = 'a\\\\;', n < 'b\\\\;') ORDER BY n) FROM `shop 1`.texts",
	} {
		text, _, ok := sqlshape.PlainText([]byte(s))
		if !ok || string(text) == s {
			t.Errorf("%q: sent as %q", s, text)
			continue
		}
		want := ask("", s)
		for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"} {
			if got := ask(mode, string(text)); got != want {
				t.Errorf("%q: %s, sent as %q in mode %q: %s", s, want, text, mode, got)
			}
		}
		if _, err := mysql.Explain(t.Context(), r, mysql.Question{Statement: string(text)}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func testTableDef(t *testing.T, r *mysql.Reader) {
	d, err := mysql.NewSchema(r).TableDef(t.Context(), "shop 1", "items")
	if err != nil {
		t.Fatal(err)
	}
	if d.Engine != "InnoDB" || d.Rows == 0 || d.DataBytes == 0 || strings.Contains(d.Create, "AUTO_INCREMENT=") || !strings.Contains(d.Create, "by_price") {
		t.Errorf("%+v", d)
	}
	slices.SortFunc(d.Indexes, func(a, b mysql.IndexParts) int { return strings.Compare(a.Name, b.Name) })
	if len(d.Indexes) != 2 || d.Indexes[0].Name != "PRIMARY" || !d.Indexes[0].Unique || strings.Join(d.Indexes[1].Columns, ", ") != "price, name(10)" ||
		d.Indexes[1].Cardinality[1] < d.Indexes[1].Cardinality[0] || d.Indexes[0].Cardinality[0] != 4 {
		t.Errorf("indexes %+v", d.Indexes)
	}
	if _, err := mysql.NewSchema(r).TableDef(t.Context(), "shop 1", "it'ems"); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("a table that is not there: %v", err)
	}
}
