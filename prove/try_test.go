package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const victim = "KASOKU_TEST_PROVE_DSN"

// TestMain is the process that is killed in the middle of a trial, too.
func TestMain(m *testing.M) {
	dsn := os.Getenv(victim)
	if dsn == "" {
		os.Exit(m.Run())
	}
	changed := false
	o := options(dsn, os.Args[1])
	o.Progress = func(what string, _, _ int) {
		if changed && what == os.Args[2] {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		changed = changed || what == "change"
	}
	_, err := Try(context.Background(), o)
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}

// options are of a finding that proposes an index and a variable.
func options(dsn, journals string) Options {
	return Options{
		DSN: dsn, Guard: guard.Options{Dir: journals}, Repeat: 3,
		Finding: &kasoku.Finding{ID: "IDX-01", Fixes: []kasoku.Fix{
			{Text: "by hand"},
			{Edits: []kasoku.Edit{
				{Kind: kasoku.EditIndex, Do: "CREATE INDEX items_kind_price ON items (kind, price DESC)", Undo: "DROP INDEX items_kind_price ON items"},
				{Kind: kasoku.EditVariable, Do: "SET GLOBAL max_connections = 77"},
			}},
		}},
		Queries: []kasoku.Query{
			{ID: "A", Verb: "SELECT", Tables: []string{"items"}, Calls: 10, Total: 9, Raw: "SELECT id FROM items WHERE kind = 7 ORDER BY price DESC LIMIT 5"},
			{ID: "B", Verb: "UPDATE", Tables: []string{"items"}, Calls: 10, Total: 8, Raw: "UPDATE items SET price = price + 1 WHERE kind = 7"},
			{ID: "C", Verb: "SELECT", Tables: []string{"others"}, Calls: 10, Total: 7, Raw: "SELECT 1"},
		},
	}
}

func fill(t *testing.T, s *sandbox.Server) *sql.DB {
	t.Helper()
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, kind INT, price INT, note VARCHAR(200))",
		"INSERT INTO shop.items (kind, price, note) VALUES (1, 1, REPEAT('x', 100))")
	for range 14 {
		sandboxtest.Exec(t, db, "INSERT INTO shop.items (kind, price, note) SELECT FLOOR(RAND() * 500), FLOOR(RAND() * 1000), note FROM shop.items")
	}
	sandboxtest.Exec(t, db, "ANALYZE TABLE shop.items")
	return db
}

// state is whether the index is there, and the variable.
func state(t *testing.T, db *sql.DB) string {
	t.Helper()
	var n, max int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE INDEX_NAME = 'items_kind_price'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT @@GLOBAL.max_connections").Scan(&max); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(n, " ", max)
}

func TestTry(t *testing.T) {
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		db := fill(t, s)
		before := state(t, db)
		dir := filepath.Join(t.TempDir(), "journals")
		mysql := s.Kind != sandbox.KindMariaDB
		o := options(s.DSN("", "shop"), dir)
		visible := ""
		o.Progress = func(what string, _, _ int) {
			if what == "hidden" {
				if err := db.QueryRowContext(t.Context(), "SELECT MAX(IS_VISIBLE) FROM information_schema.STATISTICS WHERE INDEX_NAME = 'items_kind_price'").Scan(&visible); err != nil {
					t.Error(err)
				}
			}
		}
		res, err := Try(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		want := "not checked before it is used: this server has no plan"
		if mysql {
			want = "checked while hidden: 2 of 2 plans use it, "
		}
		if !strings.HasPrefix(res.Hidden, want) || res.Refuted || (visible == "NO") != mysql {
			t.Errorf("hidden: %q, visible %q", res.Hidden, visible)
		}
		if got := state(t, db); got != before {
			t.Errorf("state %q, was %q", got, before)
		}
		if len(res.Samples) != 2 || res.Samples[0].Note != "" || res.Samples[1].Note == "" || !res.Known || res.Kept {
			t.Errorf("trial %+v", res)
		}
		if p := res.Samples[0].PlanAfter; p == nil || len(p.Rows) != 1 || p.Rows[0].Key != "items_kind_price" || res.Samples[0].PlanBefore.Rows[0].Key != "" {
			t.Errorf("plans %+v, %+v", res.Samples[0].PlanBefore, p)
		}
		killed(t, s, db, dir, before, "measure")
		if mysql {
			killed(t, s, db, dir, before, "hidden")
		}
		o = options(s.DSN("", "shop"), dir)
		o.Keep = true
		if res, err = Try(t.Context(), o); err != nil || !res.Kept {
			t.Fatal(res, err)
		}
		if got := state(t, db); got != "2 77" {
			t.Errorf("kept: state %q", got)
		}
		if p := planOf(t, db, o.Queries[0].Raw); p != "items_kind_price" {
			t.Errorf("kept: a plan of another session has the key %q", p)
		}
		refuted(t, s, dir)
		if found, err := guard.Journals(dir); err != nil || len(found) != 0 {
			t.Errorf("journals %v, %v", found, err)
		}
	})
}

// killed: a trial that is killed leaves a journal that takes everything back, even
// when the server was restarted since.
func killed(t *testing.T, s *sandbox.Server, db *sql.DB, dir, before, phase string) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir, phase)
	cmd.Env = append(os.Environ(), victim+"="+s.DSN("", "shop"))
	if out, err := cmd.CombinedOutput(); !strings.Contains(fmt.Sprint(err), "killed") {
		t.Fatalf("%v: %s", err, out)
	}
	if got := state(t, db); got != "2 77" {
		t.Errorf("killed: state %q", got)
	}
	if s.Kind == sandbox.KindMariaDB {
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	found, err := guard.Journals(dir)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := guard.Restore(t.Context(), found[0].Path, s.DSN("", "shop"), func(guard.Left) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := state(t, db); got != before {
		t.Errorf("restored: state %q, was %q", got, before)
	}
}

// planOf returns the key that a plan of the first table has.
func planOf(t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN FORMAT=TRADITIONAL "+strings.ReplaceAll(statement, "FROM ", "FROM shop."))
	if err != nil {
		rows, err = db.QueryContext(t.Context(), "EXPLAIN "+strings.ReplaceAll(statement, "FROM ", "FROM shop."))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	key := ""
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		if at := slices.Index(columns, "key"); at >= 0 && key == "" {
			key = values[at].(*sql.NullString).String
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return key
}

// refuted: an index that no plan has is dropped on MySQL before it is measured.
func refuted(t *testing.T, s *sandbox.Server, dir string) {
	t.Helper()
	o := options(s.DSN("", "shop"), dir)
	o.Keep = true
	o.Finding = &kasoku.Finding{ID: "IDX-01", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{{Kind: kasoku.EditIndex,
		Do: "CREATE INDEX items_note ON items (note(20))", Undo: "DROP INDEX items_note ON items"}}}}}
	o.Queries = o.Queries[:1]
	o.Queries[0].Raw = "SELECT id FROM items WHERE price = 7"
	res, err := Try(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Kind == sandbox.KindMariaDB {
		if res.Refuted || !res.Kept {
			t.Errorf("%+v", res)
		}
		return
	}
	if !res.Refuted || res.Kept || res.Known || res.Hidden != "checked while hidden: none of 1 plan uses it" || !res.Changes[0].Restored {
		t.Errorf("%+v", res)
	}
}

func TestTryRefuses(t *testing.T) {
	for _, f := range []kasoku.Finding{
		{ID: "N"},
		{ID: "R", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{{Kind: kasoku.EditVariable, Conf: "skip-log-bin"}}}}},
		{ID: "X", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{{Kind: kasoku.EditNginx, Context: "http", Lines: "gzip on;"}}}}},
		{ID: "Q", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{{Kind: kasoku.EditVariable, Do: "SET GLOBAL query_cache_type = ON"}}}}},
	} {
		if _, err := Try(t.Context(), Options{Finding: &f, DSN: "u@tcp(127.0.0.1:1)/"}); !errors.Is(err, ErrNoEdit) {
			t.Errorf("%s: %v", f.ID, err)
		}
	}
	index := kasoku.Finding{ID: "I", Fixes: []kasoku.Fix{{Edits: []kasoku.Edit{{Kind: kasoku.EditIndex, Do: "CREATE INDEX by_a ON t (a)"}}}}}
	masked := []kasoku.Query{{ID: "1", Verb: "SELECT", Tables: []string{"t"}, Sample: "SELECT b FROM t WHERE a = ?"}}
	if _, err := Try(t.Context(), Options{Finding: &index, Queries: masked, DSN: "u@tcp(127.0.0.1:1)/"}); !errors.Is(err, ErrNoStatement) {
		t.Errorf("without a statement as it was sent: %v", err)
	}
}

// TestTryHostile: what a run file calls a SELECT is run only when it is one, and a change
// that no journal could hold is not made.
func TestTryHostile(t *testing.T) {
	o := options("", "")
	for _, raw := range []string{"SET GLOBAL max_connections = 9", "KILL 1", "SELECT 1 INTO\nOUTFILE '/tmp/x'", "BEGIN NOT ATOMIC DROP TABLE items; END",
		"SELECT 1 FROM items FOR  UPDATE"} {
		o.Queries = []kasoku.Query{{ID: "A", Verb: "SELECT", Tables: []string{"items"}, Raw: raw}}
		tr := &trier{o: o}
		tr.o.Top = 1
		if s := tr.samples(Edits(o.Finding, kasoku.EditIndex, kasoku.EditVariable)); len(s) != 1 || s[0].Note == "" {
			t.Errorf("%s: %+v", raw, s)
		}
	}
	vars := map[string]string{"general_log_file": "h.log", "init_connect": "", "max_connections": "77"}
	for _, e := range []kasoku.Edit{
		{Kind: kasoku.EditVariable, Do: "SET GLOBAL general_log_file = 'x.php'"},
		{Kind: kasoku.EditVariable, Do: "SET GLOBAL init_connect = 'x'"},
		{Kind: kasoku.EditIndex, Do: "ALTER TABLE users DROP COLUMN mail, ADD INDEX i (id)", Undo: "DROP INDEX i ON users"},
		{Kind: kasoku.EditIndex, Do: "CREATE INDEX i ON users (id)", Undo: "ALTER TABLE users DROP INDEX i, DROP COLUMN mail"},
	} {
		if c, err := plannedChange(e, "shop", vars); err == nil {
			t.Errorf("%+v: %+v", e, c)
		}
	}
	if _, err := plannedChange(kasoku.Edit{Kind: kasoku.EditVariable, Do: "SET GLOBAL max_connections = 78"}, "shop", vars); err != nil {
		t.Error(err)
	}
}

func TestVariable(t *testing.T) {
	for statement, want := range map[string]string{
		"SET GLOBAL innodb_flush_log_at_trx_commit = 2": "innodb_flush_log_at_trx_commit=2",
		"set global A='x y';":                           "a=x y",
		"SET GLOBAL a = 1; DROP TABLE t":                "=",
		"SET SESSION a = 1":                             "=",
	} {
		if name, value, _ := Variable(kasoku.Edit{Do: statement}); name+"="+value != want {
			t.Errorf("%s: %s = %s, want %s", statement, name, value, want)
		}
	}
}

// TestTry_IndexThere: an index of the same name that is there already is somebody's, and stays.
func TestTry_IndexThere(t *testing.T) {
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		db := fill(t, s)
		sandboxtest.Exec(t, db, "CREATE INDEX items_kind_price ON shop.items (kind, price)")
		before := state(t, db)
		_, err := Try(t.Context(), options(s.DSN("", "shop"), filepath.Join(t.TempDir(), "journals")))
		if !errors.Is(err, ErrInForce) {
			t.Errorf("error %v, want %v", err, ErrInForce)
		}
		if got := state(t, db); got != before {
			t.Errorf("index, variable: %s, were %s", got, before)
		}
	})
}
