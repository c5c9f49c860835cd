package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestExplain explains the statements of a real slow log, and those of a run, which
// keeps the plans without the values.
func TestExplain(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		dir, db := t.TempDir(), sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, price INT, name VARCHAR(40), KEY by_price (price))",
			"INSERT INTO shop.items VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')", "SET GLOBAL slow_query_log = 1", "SET GLOBAL long_query_time = 0")
		shop := sandboxtest.DB(t, srv, "shop")
		sandboxtest.Exec(t, shop, "SELECT * FROM items WHERE name = 'hunterTwo'", "UPDATE items SET name = 'x' WHERE name = 'hunterTwo'", "SELECT name FROM items WHERE price = 20")
		logged := eventually(func() bool {
			b, _ := os.ReadFile(srv.SlowLog)
			return strings.Contains(string(b), "WHERE price = 20")
		})
		if !logged {
			t.Fatal("the slow log does not hold the statements")
		}
		var got encode.Plans
		if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("[mysql]\ndsn = '"+srv.DSN("", "")+"'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out := kasokuIn(t, dir, "explain", srv.SlowLog, "-o", "json")
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		access := map[string]string{}
		for _, p := range got.Plans {
			if len(p.Steps) > 0 {
				access[p.Fingerprint] = p.Steps[0].Access + " " + p.Steps[0].Key
			}
		}
		if access["select * from items where name = ?"] != "ALL " || access["update items set name = ? where name = ?"] != "ALL " ||
			access["select name from items where price = ?"] != "ref by_price" || len(got.Tables) == 0 || strings.Contains(out, "hunterTwo") {
			t.Errorf("plans %v of\n%s", access, out)
		}
		sandboxtest.Exec(t, db, "SET GLOBAL slow_query_log = 0")
		explainRun(t, dir, srv)
	})
}

// explainRun records statements and explains them afterwards.
func explainRun(t *testing.T, dir string, srv *sandbox.Server) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		kasokuIn(t, dir, "record", "--out", "run.kasoku", "--mysql", srv.DSN("", "shop"), "--keep-statements", "--no-plans",
			"--", "sh", "-c", "touch begun; while [ ! -e asked ]; do sleep 0.05; done")
	}()
	begun := eventually(func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	})
	if begun { // a session that began before would not be logged
		sandboxtest.Exec(t, sandboxtest.DB(t, srv, "shop"), "SELECT * FROM items WHERE name = 'hunterTwo'")
	}
	if err := os.WriteFile(filepath.Join(dir, "asked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-done
	path := filepath.Join(dir, "run.kasoku")
	if rec := openForeign(t, path); len(rec.Plans) != 0 || len(rec.Queries) == 0 || rec.Queries[0].Raw == "" {
		t.Fatalf("plans %+v of queries %+v", rec.Plans, rec.Queries)
	}
	if out := kasokuIn(t, dir, "explain", "run.kasoku", "--dsn", srv.DSN("", "")); !strings.Contains(out, "whole table") || strings.Contains(out, "hunterTwo") {
		t.Errorf("explain says\n%s", out)
	}
	if rec := openForeign(t, path); len(rec.Plans) == 0 || len(rec.Tables) != 1 || rec.Damage != nil {
		t.Errorf("plans %+v, tables %+v, damage %v", rec.Plans, rec.Tables, rec.Damage)
	}
	if out := kasokuIn(t, dir, "show", "run.kasoku"); !strings.Contains(out, "by_price") {
		t.Errorf("show does not report the table's index:\n%s", out)
	}
}
