package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// startWith runs kasoku in a directory with a file of its own there.
func startWith(t *testing.T, name, text string, args ...string) *running {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return startIn(t, dir, append(args, name)...)
}

// TestInterruptRun: the first Ctrl-C ends the present run in order; no other one
// begins.
func TestInterruptRun(t *testing.T) {
	times(t, func(t *testing.T, again bool) {
		r := startWith(t, "kasoku.toml", "load.command = 'echo begun; sleep 1000 & wait'\ninterval = '100ms'\n", "run", "-n", "5", "--label", "x", "--config")
		r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
		r.interrupt(again)
		r.exits(cli.ExitCouldNot, "exit 3: stopped before the end: interrupt\n")
		if !strings.Contains(r.said(), "run 1 of 5") || strings.Contains(r.said(), "run 2 of 5") {
			t.Errorf("it said\n%s", r.said())
		}
	})
}

// TestInterruptWaiting: Ctrl-C while a recording waits for its request leaves no
// run and a server as it was.
func TestInterruptWaiting(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := readSettings(t, db)
	r := startWith(t, "access.log", "", "record", "--mysql", s.DSN("", ""), "--interval", "100ms", "--on", "POST /initialize", "--accesslog")
	r.waitFor("slow log", func() bool { return readSettings(t, db)["slow_query_log"] == "ON" })
	r.interrupt(false)
	r.exits(cli.ExitCouldNot, "exit 3: stopped before the recording began: interrupt\n")
	for name, is := range readSettings(t, db) {
		if was := before[name]; is != was {
			t.Errorf("%s was %q and is %q", name, was, is)
		}
	}
	if left, err := filepath.Glob(filepath.Join(r.dir, "runs", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
