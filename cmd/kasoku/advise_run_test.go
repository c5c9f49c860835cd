package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestAdviseRun: a run of a real server, whose commits wait for the disk, is advised as
// the server itself is over the same kind of load; and no password is printed.
func TestAdviseRun(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		dir, db := t.TempDir(), sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT)",
			"CREATE USER 'app'@'%' IDENTIFIED BY 'geheim'", "GRANT ALL ON shop.* TO 'app'@'%'", "GRANT PROCESS ON *.* TO 'app'@'%'")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		var commits atomic.Int64
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				if _, err := db.ExecContext(ctx, "INSERT INTO shop.t (a) VALUES (1)"); err == nil {
					commits.Add(1)
				}
			}
		}()
		// over returns what a command prints that saw enough commits: a busy machine takes longer.
		// The file that it writes is removed before it is tried again.
		over := func(file string, args ...string) string {
			for window := 2 * time.Second; ; window *= 2 {
				if err := os.Remove(filepath.Join(dir, file)); file != "" && err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				first := commits.Load()
				text := kasokuIn(t, dir, append(args, "--for", window.String())...)
				if seen := commits.Load() - first; seen >= 400 || window > time.Minute {
					return text
				}
			}
		}
		over("run.kasoku", "record", "--out", "run.kasoku", "--mysql", srv.DSN("", "shop"), "--no-plans")
		dsn := strings.Replace(srv.DSN("app", ""), "app@", "app:geheim@", 1)
		live := over("", "advise", "--dsn", dsn, "-o", "json")
		cancel()
		<-done
		for from, text := range map[string]string{"run": kasokuIn(t, dir, "advise", "run", "-o", "json"), "server": live} {
			var got struct {
				Advice []struct{ Variable, Proposed string }
				RAM    *float64 `json:"ram_bytes"`
				Window *float64 `json:"window_s"`
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			proposed := map[string]string{}
			for _, a := range got.Advice {
				proposed[a.Variable] = a.Proposed
			}
			if proposed["innodb_flush_log_at_trx_commit"] != "2" || got.RAM == nil || got.Window == nil || *got.Window < 1 {
				t.Errorf("%s: %v, %s", from, proposed, text)
			}
			if strings.Contains(text, "geheim") {
				t.Errorf("%s: the password is printed", from)
			}
		}
		sql := kasokuIn(t, dir, "advise", "run", "--sql", "--risk", "durability")
		if !strings.Contains(sql, "SET GLOBAL innodb_flush_log_at_trx_commit = 2;\n") || strings.Contains(kasokuIn(t, dir, "advise", "run", "--sql"), "flush_log") {
			t.Errorf("statements:\n%s", sql)
		}
		sandboxtest.Exec(t, db, strings.Split(strings.TrimSpace(sql), "\n")...)
	})
}
