package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestTry records statements that read a whole table, and tries the index that the
// run proposes: refused until kasoku.toml allows it, measured, and taken back unless
// it is to be kept.
func TestTry(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		dir, db := t.TempDir(), sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, owner INT NOT NULL, name VARCHAR(40) NOT NULL)")
		var rows []string
		for i := range 20000 {
			rows = append(rows, fmt.Sprintf("(%d, 'item %d')", i%2000, i))
		}
		sandboxtest.Exec(t, db, "INSERT INTO shop.items (owner, name) VALUES "+strings.Join(rows, ","))
		recordItems(t, dir, srv)
		run := filepath.Join(dir, "run.kasoku")
		t.Chdir(t.TempDir()) // where no kasoku.toml is above
		typed(t, cli.ExitUsage, "try", run, "IDX-01", "--dsn", srv.DSN("", "shop"))
		conf := "[mysql]\ndsn = \"" + srv.DSN("", "shop") + "\"\n"
		write := func(text string) {
			if err := os.WriteFile("kasoku.toml", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(conf)
		typed(t, cli.ExitUsage, "try", run, "IDX-01")
		write(conf + "[safe]\nchange = true\n")
		var got struct {
			Changes    []any
			Statements []struct {
				Fingerprint string
				About       bool
			}
			Gain *float64 `json:"gain_ratio"`
			Kept bool
		}
		if err := json.Unmarshal([]byte(kasokuIn(t, ".", "try", run, "IDX-01", "-o", "json")), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Changes) != 1 || len(got.Statements) == 0 || got.Gain == nil || got.Kept {
			t.Errorf("%+v", got)
		}
		for _, s := range got.Statements {
			if s.About != strings.Contains(s.Fingerprint, "where owner") {
				t.Errorf("about: %+v", s)
			}
		}
		if n := indexesOf(t, srv); n != 0 {
			t.Errorf("%d indexes are left over", n)
		}
		if shown := kasokuIn(t, ".", "try", run, "1", "--keep", "--repeat", "2"); !strings.Contains(shown, "select name") ||
			strings.Contains(shown, "select owner") ||
			!strings.Contains(shown, "1 other statement that the change does not concern") {
			t.Errorf("it says\n%s", shown)
		}
		if n := indexesOf(t, srv); n != 1 {
			t.Errorf("%d indexes are there, one was to be kept", n)
		}
	})
}

// recordItems records statements that look for an owner's items.
func recordItems(t *testing.T, dir string, srv *sandbox.Server) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		kasokuIn(t, dir, "record", "--out", "run.kasoku", "--mysql", srv.DSN("", "shop"), "--keep-statements",
			"--", "sh", "-c", "touch begun; while [ ! -e asked ]; do sleep 0.05; done")
	}()
	begun := eventually(func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	})
	if begun { // a session that began before would not be logged
		db := sandboxtest.DB(t, srv, "shop")
		for i := range 200 {
			sandboxtest.Exec(t, db, fmt.Sprintf("SELECT name FROM items WHERE owner = %d", i))
			sandboxtest.Exec(t, db, fmt.Sprintf("SELECT owner FROM items WHERE id = %d", i))
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "asked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-done
}

// indexesOf counts the indexes of items beside its key.
func indexesOf(t *testing.T, srv *sandbox.Server) (n int) {
	t.Helper()
	err := sandboxtest.DB(t, srv, "").QueryRow("SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'shop' AND table_name = 'items' AND index_name <> 'PRIMARY'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
