package mysql_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRunOnce: rows of a table are counted; a view, whose functions would have the rights of this account, is not run,
// neither what the server reads otherwise; and what EXPLAIN has looked at is no view before the transaction ends.
func TestRunOnce(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts servers")
	}
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, code INT)",
			"INSERT INTO shop.t VALUES (1, 5), (2, 5), (3, 7)",
			"CREATE FUNCTION shop.f() RETURNS INT NOT DETERMINISTIC SQL SECURITY INVOKER BEGIN SET GLOBAL max_connect_errors = 4242; RETURN 1; END",
			"CREATE SQL SECURITY INVOKER VIEW shop.Items AS SELECT id, shop.f() AS a FROM shop.t")
		changed := func() bool {
			var n int
			if err := db.QueryRowContext(t.Context(), "SELECT @@GLOBAL.max_connect_errors").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n == 4242
		}
		r, err := mysql.New(t.Context(), sandboxtest.DB(t, s, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		got, err := mysql.RunOnce(t.Context(), r, "shop", "SELECT id FROM t WHERE code = 5", time.Second)
		if err != nil || got.Sent != 2 || got.Examined < 3 {
			t.Errorf("%+v, %v", got, err)
		}
		for _, view := range []string{"SELECT a FROM Items", "SELECT id FROM t WHERE id IN (SELECT a FROM `Items`)",
			"SELECT a FROM shop.Items AS t", "SELECT t.id FROM t, Items"} {
			if _, err := mysql.RunOnce(t.Context(), r, "shop", view, time.Second); !errors.Is(err, mysql.ErrUnexpected) || !strings.Contains(err.Error(), "view") {
				t.Errorf("%s: %v", view, err)
			}
		}
		sandboxtest.Exec(t, db, "SET GLOBAL sql_mode = 'ANSI_QUOTES'")
		if _, err := mysql.RunOnce(t.Context(), r, "shop", "SELECT id FROM t", time.Second); !errors.Is(err, mysql.ErrUnexpected) {
			t.Errorf("ANSI_QUOTES: %v", err)
		}
		if changed() {
			t.Error("a function of a view has set a variable")
		}
		// The definition of what is explained stays until the transaction ends.
		holds, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer holds.Close()
		for _, statement := range []string{"START TRANSACTION READ ONLY", "EXPLAIN SELECT id FROM shop.t WHERE id IN (SELECT code FROM shop.t AS u)"} {
			if _, err := holds.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		other, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if _, err := other.ExecContext(t.Context(), "SET SESSION lock_wait_timeout = 1"); err != nil {
			t.Fatal(err)
		}
		if _, err := other.ExecContext(t.Context(), "DROP TABLE shop.t"); err == nil || !strings.Contains(err.Error(), "1205") {
			t.Errorf("a table was dropped that is explained: %v", err)
		}
	})
}
