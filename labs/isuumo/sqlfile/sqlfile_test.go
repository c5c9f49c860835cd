package sqlfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestStatements(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for line, q := range Statements(text) {
			got = append(got, fmt.Sprintf("%d:%s", line, q))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("")
	f(" \n;;\n")
	f("SELECT 1", "1:SELECT 1")
	f("a;b ; c\n", "1:a", "1:b", "1:c")
	f("a\nb;\n\nc;", "1:a\nb", "4:c")
	f("INSERT ';' ';;';b", "1:INSERT ';' ';;'", "1:b")
	f(`a 'it''s;';b`, `1:a 'it''s;'`, "1:b")
	f(`a 'it\';';b`, `1:a 'it\';'`, "1:b")
	f(`a "x;""y";b`, `1:a "x;""y"`, "1:b")
	f("a `x;\\`;b", "1:a `x;\\`", "1:b")
	f("-- one; two\na; # three;\nb", "2:a", "3:b")
	f("a -- one;\n;b", "1:a -- one;", "2:b")
	f("a --1;b", "1:a --1", "1:b")
	f("--\n--", []string{}...)
	f("/* a; */ b /* c; */ d;e", "1:b /* c; */ d", "1:e")
	f("/*/ a; */ b", "1:b")
	f("/*!40101 SET x=1 */;\nb", "1:/*!40101 SET x=1 */", "2:b")
	f("/* \n\n */\na; /* \n */ b", "4:a", "5:b")
	f("a 'open;", "1:a 'open;")
	f("a / b;c", "1:a / b", "1:c")
}

// FuzzStatements: what is yielded is in the text in that order, without a semicolon
// at its end, and lines only rise.
func FuzzStatements(f *testing.F) {
	for _, s := range []string{"a;b", "'a;", "-- x\n;", "/*", "/*!x*/;", "`\\`;", `'\';`, "#", "--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, last := text, 1
		for line, q := range Statements(text) {
			i := strings.Index(rest, q)
			if q == "" || i < 0 || line < last || line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q: line %d, %q", text, line, q)
			}
			rest, last = rest[i+len(q):], line
		}
	})
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The schema of the lab, with what OPS-02 changes.
const schema = `DROP DATABASE IF EXISTS shop; CREATE DATABASE shop;
CREATE TABLE shop.chair (id INT PRIMARY KEY, price INT, height INT, width INT, depth INT);
CREATE TABLE shop.estate (id INT PRIMARY KEY, rent INT, door_height INT, door_width INT);`

// TestRun: each file begins in the database of the DSN, though the first drops it;
// other sessions go on working; a file may have a statement of several megabytes.
func TestRun(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		ctx := t.Context()
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE shop")
		db := sandboxtest.DB(t, s, "shop")
		dir := t.TempDir()
		if err := Run(ctx, db, dir, false); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("no file: %v", err)
		}
		write(t, dir, map[string]string{
			"0_Schema.sql": schema,
			Tuning:         "CREATE INDEX chair_price ON chair (price);",
			"1_Rows.sql":   "INSERT INTO estate VALUES (1, 60000, 100, 200), (2, 1, 1, 1);",
			"2_Rows.sql":   "INSERT INTO chair VALUES " + manyRows() + ";",
			"notes.txt":    "this is no SQL",
		})
		other, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		for _, late := range []bool{false, true, true} {
			if err := Run(ctx, db, dir, late); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := other.QueryRowContext(ctx, "SELECT COUNT(*) FROM chair FORCE INDEX (chair_price) WHERE price = 4000").Scan(&n); err != nil || n != chairs {
				t.Errorf("late %v: %d chairs, %v", late, n, err)
			}
			var classes string
			err := other.QueryRowContext(ctx, "SELECT CONCAT_WS(' ', rent_class, door_height_class, door_width_class) FROM estate ORDER BY id LIMIT 1").Scan(&classes)
			if (err == nil) != late || late && classes != "2 2 4" {
				t.Errorf("late %v: classes %q, %v", late, classes, err)
			}
		}
		var current string
		for range 3 { // all sessions of the pool have the database
			if err := db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&current); err != nil || current != "shop" {
				t.Errorf("database %q, %v", current, err)
			}
		}
		write(t, dir, map[string]string{"3_Broken.sql": "-- fine\nSELECT 1;\nSELEKT 2;\n"})
		if err := Run(ctx, db, dir, false); err == nil || !strings.Contains(err.Error(), "3_Broken.sql: line 3: ") {
			t.Errorf("a broken file: %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := Run(ended, db, dir, false); err == nil {
			t.Error("it ran though the context has ended")
		}
	})
}

const chairs = 2000

// manyRows returns that many rows, as text of two megabytes.
func manyRows() string {
	var b strings.Builder
	for i := range chairs {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "(%d, /* %s; */ 4000, 100, 30, 200)", i, strings.Repeat("chair; ", 150))
	}
	return b.String()
}
