package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/smalldisk"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// errorLines are the lines with which a program ends badly.
func errorLines(said string) (lines []string) {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "kasoku: error:") || strings.HasPrefix(line, "exit ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestFullDisk: the disk of the run file, or of the journals, fills while a
// recording goes on. The server is as it was, the run opens, nothing untrue is said,
// and what is left over goes once there is room.
func TestFullDisk(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := readSettings(t, db)
	same := func(t *testing.T, when string) {
		t.Helper()
		for name, is := range readSettings(t, db) {
			if was := before[name]; is != was {
				t.Errorf("%s: %s was %q and is %q", when, name, was, is)
			}
		}
	}
	begin := func(t *testing.T, dir, run string) *running {
		t.Helper()
		r := startIn(t, dir, "record", "--mysql", s.DSN("", ""), "--out", run, "--interval", "100ms", "--", "sh", "-c", "echo begun; exec sleep 1000")
		r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
		return r
	}
	t.Run("run", func(t *testing.T) {
		disk := smalldisk.Mount(t, "4m")
		run := filepath.Join(disk, "run.kasoku")
		r := begin(t, t.TempDir(), run)
		if readSettings(t, db)["slow_query_log"] != "ON" {
			t.Error("the slow log is off")
		}
		ballast := smalldisk.Fill(t, disk, 0)
		r.exits(cli.ExitCouldNot, "no space left on device")
		said := r.said()
		if lines := errorLines(said); len(lines) != 1 || strings.Contains(said, "left at") ||
			strings.Contains(said, "Not restored") || !strings.Contains(said, "make room there") {
			t.Errorf("%d lines of errors\n%s", len(lines), said)
		}
		same(t, "the run's disk is full")
		rec := kept(t, run, "the disk is full")
		for _, c := range rec.Changes {
			if !c.Restored {
				t.Errorf("%+v", c)
			}
		}
		show := exec.Command("kasoku", "show", run)
		if out, err := show.CombinedOutput(); err != nil || strings.Contains(string(out), "left at") {
			t.Errorf("show: %v\n%s", err, out)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(run); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(disk + "/*"); err != nil || len(left) != 1 {
			t.Errorf("left with room again: %v, %v", left, err)
		}
		if left := r.journals(); len(left) > 0 {
			t.Errorf("journals: %v", left)
		}
	})
	t.Run("journal", func(t *testing.T) {
		disk, run := smalldisk.Mount(t, "1m"), filepath.Join(t.TempDir(), "run.kasoku")
		r := begin(t, disk, run)
		ballast := smalldisk.Fill(t, disk, 0)
		r.interrupt(false)
		r.exits(cli.ExitCouldNot, "interrupt\n")
		same(t, "the journals' disk is full")
		for _, c := range kept(t, run, "interrupt").Changes {
			if !c.Restored {
				t.Errorf("%+v", c)
			}
		}
		more := smalldisk.Fill(t, disk, 0)
		// Who begins there now changes nothing, since that could not be undone.
		late := filepath.Join(t.TempDir(), "late.kasoku")
		r = startIn(t, disk, "record", "--mysql", s.DSN("", ""), "-o", late, "--interval", "100ms", "--", "true")
		r.exits(cli.ExitGood, "no slow log: journal: ")
		same(t, "begun with a full disk")
		if err := errors.Join(os.Remove(ballast), os.Remove(more)); err != nil {
			t.Fatal(err)
		}
		if out := r.restoring(cli.ExitGood); out != "nothing is to be put back\n" {
			t.Errorf("restore: %s", out)
		}
	})
	t.Run("both", func(t *testing.T) {
		disk := smalldisk.Mount(t, "4m")
		run := filepath.Join(disk, "run.kasoku")
		r := begin(t, disk, run)
		ballast := smalldisk.Fill(t, disk, 0)
		r.exits(cli.ExitCouldNot, "no space left on device")
		same(t, "the only disk is full")
		if said := r.said(); len(errorLines(said)) != 1 || strings.Contains(said, "left at") {
			t.Errorf("it said\n%s", said)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		r.restoring(cli.ExitGood)
		if left := r.journals(); len(left) > 0 {
			t.Errorf("journals: %v", left)
		}
		for _, c := range kept(t, run, "the disk is full").Changes {
			if !c.Restored {
				t.Errorf("%+v", c)
			}
		}
	})
}

// TestBrake: the slow log is on a disk that it fills. It is put back in mid-run, the
// recording goes on and says so; the server is as it was, and so is one whose disk
// has no room to begin with.
func TestBrake(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	disk := smalldisk.Mount(t, "4m")
	if err := os.Chmod(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	s := sandboxtest.MariaDB(t, sandbox.Options{Vars: map[string]string{"slow_query_log_file": filepath.Join(disk, "slow.log")}})
	db := sandboxtest.DB(t, s, "")
	before := readSettings(t, db)
	record := func(args ...string) *running {
		return start(t, append([]string{"record", "--mysql", s.DSN("", ""), "--out", "run.kasoku", "--interval", "100ms"}, args...)...)
	}
	r := record("--min-free", "1.5MB", "--for", "1h")
	r.waitFor("slow log", func() bool { return readSettings(t, db)["slow_query_log"] == "ON" })
	app := sandboxtest.DB(t, s, "") // a session that begins now is logged
	long := "SELECT '" + strings.Repeat("x", 8<<10) + "'"
	r.waitFor("brake", func() bool {
		sandboxtest.Exec(t, app, "DO 1", strings.Replace(long, "SELECT", "DO LENGTH(", 1)+")")
		return readSettings(t, db)["slow_query_log"] == "OFF"
	})
	for name, is := range readSettings(t, db) {
		if was := before[name]; is != was {
			t.Errorf("braked: %s was %q and is %q", name, was, is)
		}
	}
	r.interrupt(false)
	r.exits(cli.ExitCouldNot, "the slow log was put back")
	path := filepath.Join(r.dir, "run.kasoku")
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, e := range rec.Events {
		if e.Kind == "brake" && strings.Contains(e.Text, disk+" has ") && strings.Contains(e.Text, "a second") {
			events++
		}
	}
	free, growth := rec.FindAll("space", "free"), rec.FindAll("space", "growth")
	if events != 1 || len(free) != 2 || len(growth) != 1 || len(rec.Changes) < 2 {
		t.Errorf("events %+v, %d and %d series, changes %+v", rec.Events, len(free), len(growth), rec.Changes)
	}
	for _, c := range rec.Changes {
		if !c.Restored {
			t.Errorf("%+v", c)
		}
	}
	if left := r.journals(); len(left) > 0 {
		t.Errorf("journals %v", left)
	}

	r = record("--min-free", "100MB", "--", "true")
	r.exits(cli.ExitGood, "no slow log: the disk of "+disk+" has ")
	for name, is := range readSettings(t, db) {
		if was := before[name]; is != was {
			t.Errorf("not begun: %s was %q and is %q", name, was, is)
		}
	}
}
