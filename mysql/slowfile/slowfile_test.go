package slowfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku/mysql/slowfile"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestAsk(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		dir := t.TempDir()
		own, other := filepath.Join(dir, "slow.log"), filepath.Join(dir, "other.log")
		if err := os.WriteFile(other, []byte("# Time: \nSELECT 1;\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "SET GLOBAL slow_query_log = OFF", "SET GLOBAL slow_query_log_file = '"+own+"'",
			"SET GLOBAL log_output = 'FILE'", "SET GLOBAL long_query_time = 10", "SET GLOBAL min_examined_row_limit = 1000",
			"SET GLOBAL slow_query_log = ON")
		if s.Kind == sandbox.KindMariaDB {
			sandboxtest.Exec(t, db, "SET GLOBAL log_slow_filter = 'full_join'", "SET GLOBAL log_slow_rate_limit = 100")
		}
		f := func(path string, want slowfile.Answer) {
			t.Helper()
			if got := slowfile.Ask(t.Context(), db, path); got != want {
				t.Errorf("%s: %d, want %d", path, got, want)
			}
		}
		f(own, slowfile.Own)
		sandboxtest.Exec(t, db, "CREATE DATABASE shop")
		shop := sandboxtest.DB(t, s, "shop")
		ask := func() {
			t.Helper()
			if got := slowfile.Ask(t.Context(), shop, own); got != slowfile.Own {
				t.Errorf("of shop: %d", got)
			}
		}
		ask()
		before, err := os.ReadFile(own)
		if err != nil {
			t.Fatal(err)
		}
		sandboxtest.Exec(t, shop, "SET min_examined_row_limit = 0", "SET long_query_time = 0")
		if s.Kind == sandbox.KindMariaDB {
			sandboxtest.Exec(t, shop, "SET log_slow_filter = ''", "SET log_slow_rate_limit = 1")
		}
		sandboxtest.Exec(t, shop, "SELECT 1", "SELECT 2")
		after, err := os.ReadFile(own)
		gained := after[min(len(before), len(after)):] // MariaDB names it in each entry
		if err != nil || !bytes.Contains(gained, []byte("use shop;")) && !bytes.Contains(gained, []byte("Schema: shop")) {
			t.Errorf("no schema in %s, %v", gained, err)
		}
		f(other, slowfile.Foreign)
		f(filepath.Join(dir, "none.log"), slowfile.Unknown)
		// As a neighbour's file that lies where the server's own path leads on its host.
		if err := os.Rename(own, own+".1"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, own); err != nil {
			t.Fatal(err)
		}
		f(own, slowfile.Foreign)
	})
}
