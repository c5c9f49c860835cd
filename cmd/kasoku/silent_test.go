package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// TestSilentServer: a database that takes questions and answers none does not keep a
// recording from its end; a second signal ends it at once. The settings are left to
// the guard process, which puts them back when the server answers again.
func TestSilentServer(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := readSettings(t, db)
	for _, again := range []bool{false, true} {
		r := start(t, "record", "--mysql", s.DSN("", ""), "--out", "run.kasoku", "--interval", "100ms", "--", "sh", "-c", "echo begun; exec sleep 1000")
		r.waitFor("slow log", func() bool {
			return strings.Contains(r.said(), "begun\n") && readSettings(t, db)["slow_query_log"] == "ON"
		})
		if err := syscall.Kill(s.Pid(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r.interrupt(again)
		select {
		case <-r.ended:
		case <-time.After(patience): // it took 44 s
			t.Error("it does not end")
		}
		t.Logf("again %t: ended after %s", again, time.Since(began).Round(10*time.Millisecond))
		if err := syscall.Kill(s.Pid(), syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		r.exits(cli.ExitCouldNot, "left to the guard process")
		rec := kept(t, filepath.Join(r.dir, "run.kasoku"), "interrupt")
		if len(rec.Changes) == 0 {
			t.Error("no changes are kept")
		}
		for name, is := range readSettings(t, db) {
			if was := before[name]; is != was {
				t.Errorf("again %t: %s was %q and is %q", again, name, was, is)
			}
		}
		rec, err := store.Open(filepath.Join(r.dir, "run.kasoku"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rec.Changes {
			if !c.Restored {
				t.Errorf("again %t: %+v", again, c)
			}
		}
	}
}

// TestGuardKilledFirst: a guard process that is killed is started again, knows what
// the first one knew, and the run says so.
func TestGuardKilledFirst(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := readSettings(t, db)
	unchanged := func(when string) {
		t.Helper()
		now := readSettings(t, db)
		for name, was := range before {
			if now[name] != was {
				t.Errorf("%s: %s was %q and is %q", when, name, was, now[name])
			}
		}
	}
	begin := func() *running {
		r := start(t, "record", "--mysql", s.DSN("", ""), "--out", "run.kasoku", "--interval", "100ms", "--", "sh", "-c", "echo begun; exec sleep 1000")
		r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
		first := r.guards()[0]
		if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r.waitFor("another guard", func() bool {
			for _, pid := range r.kin() {
				comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
				if err == nil && pid != first && string(comm) == "kasoku-guard\n" {
					return true
				}
			}
			return false
		})
		return r
	}
	r := begin()
	r.interrupt(false)
	r.exits(cli.ExitCouldNot, "started again")
	unchanged("interrupted")
	r = begin()
	r.kill(false)
	r.gone() // the command too
	unchanged("killed")
}
