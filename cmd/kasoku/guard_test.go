package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	rand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A target is a server whose settings are none of the defaults, with a user who
// has a password.
type target struct {
	*testing.T
	s        *sandbox.Server
	db       *sql.DB
	dsn      string
	password string
	was      map[string]string
}

// onTargets runs a test on both kinds of servers at once; in turns, on one.
func onTargets(t *testing.T, test func(f target)) {
	t.Parallel()
	o := sandbox.Options{Args: []string{"--skip-log-bin", "--performance-schema=ON"}}
	first, both := turn.First(t.Name())
	for kind, start := range map[string]func(testing.TB, sandbox.Options) *sandbox.Server{
		sandbox.KindMariaDB: sandboxtest.MariaDB, sandbox.KindMySQL97: sandboxtest.MySQL97,
	} {
		if !both && first != (kind == sandbox.KindMariaDB) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, o)
			f := target{T: t, s: s, db: sandboxtest.DB(t, s, ""), password: "geheim-" + strconv.FormatUint(rand.Uint64(), 36)}
			for _, host := range []string{"'%'", "localhost"} {
				sandboxtest.Exec(t, f.db, "CREATE USER kasoku@"+host+" IDENTIFIED BY '"+f.password+"'", "GRANT ALL ON *.* TO kasoku@"+host)
			}
			f.dsn = fmt.Sprintf("kasoku:%s@tcp(%s)/", f.password, s.Addr())
			f.unusual()
			test(f)
		})
	}
}

// unusual gives the server settings that no one would guess.
func (f *target) unusual() {
	f.Helper()
	sandboxtest.Exec(f, f.db, "SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL long_query_time = 3.25",
		"UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'",
		"UPDATE performance_schema.setup_instruments SET TIMED = 'NO' WHERE NAME = 'statement/com/Init DB'")
	f.was = f.values()
}

// values are all settings of the server that somebody can change.
func (f *target) values() map[string]string {
	f.Helper()
	out := readSettings(f.T, f.db)
	for _, table := range []string{"SELECT NAME, ENABLED FROM performance_schema.setup_consumers",
		"SELECT NAME, CONCAT(ENABLED, COALESCE(TIMED, '')) FROM performance_schema.setup_instruments"} {
		maps.Copy(out, pairs(f.T, f.db, table))
	}
	return out
}

// unchanged fails when a setting is not what it was.
func (f *target) unchanged(when string) {
	f.Helper()
	for name, is := range f.values() {
		if was := f.was[name]; is != was {
			f.Errorf("%s: %s was %q and is %q", when, name, was, is)
		}
	}
}

// record starts a recorder that changes all that there is to change.
func (f *target) record(dir string, command ...string) *running {
	f.Helper()
	args := []string{"record", "--mysql", f.dsn, "--digests", "--out", "run.kasoku", "--interval", "100ms"}
	return startIn(f.T, dir, append(append(args, "--"), command...)...)
}

// on waits until a recorder has changed all.
func (r *running) on(f *target) {
	f.Helper()
	r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
	if now := f.values(); now["slow_query_log"] != "ON" || now["statements_digest"] != "YES" {
		f.Errorf("slow_query_log is %q, statements_digest %q", now["slow_query_log"], now["statements_digest"])
	}
}

func (r *running) kill(group bool) {
	pid := r.cmd.Process.Pid
	if group {
		pid = -pid
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	<-r.ended
}

// gone waits until nothing runs any more that the recorder started.
func (r *running) gone() {
	r.t.Helper()
	if eventually(func() bool { return len(r.kin()) == 0 }) {
		return
	}
	for _, pid := range r.kin() {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty when it has gone
		r.t.Errorf("left over: %d %q\n%s", pid, b, r.said())
	}
}

// journals are the files in the directory of the journals.
func (r *running) journals() []string {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "state", "servers", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

// TestGuardKill kills recorders with -9 at random moments of their life, by
// turns alone and with their process group: every setting of the server is what
// it was, nothing is left, every run file opens.
func TestGuardKill(t *testing.T) {
	kills := 10
	if os.Getenv("KASOKU_LONG") == "1" {
		kills = 100
	}
	onTargets(t, func(f target) {
		begin := time.Now()
		whole := f.record(f.TempDir(), "sh", "-c", "sleep 0.2 & sleep 0.3")
		whole.exits(cli.ExitGood, "")
		life := time.Since(begin)
		f.unchanged("whole")
		stages := map[string]int{}
		for n := range kills {
			begin := time.Now()
			r := f.record(f.TempDir(), "sh", "-c", "sleep 1000 & sleep 0.3; kill $!")
			moment := time.Duration(rand.Int64N(int64(life)))
			select {
			case <-time.After(moment - time.Since(begin)):
			case <-r.ended:
			}
			r.kill(n%2 == 1)
			r.gone()
			f.unchanged(fmt.Sprintf("kill %d after %s", n, moment))
			if left := r.journals(); len(left) > 0 {
				f.Errorf("kill %d after %s: left in the journal: %v", n, moment, left)
			}
			stages[f.opens(filepath.Join(r.dir, "run.kasoku"))]++
			if f.Failed() {
				return
			}
		}
		f.Logf("%d kills within %s, %s in all: %v", kills, life, time.Since(begin).Round(time.Second), stages)
	})
}

// opens opens a run file, if there is one, and says how far the run got.
func (f *target) opens(path string) string {
	f.Helper()
	if !exists(path) {
		return "no file"
	}
	rec, err := store.Open(path)
	if info := store.Describe(path); err != nil && info.SizeBytes == 0 {
		return "no file" // it was killed while it made the file
	}
	if err != nil {
		f.Errorf("%v", err)
		return "broken"
	}
	for _, c := range rec.Changes {
		if !c.Restored {
			f.Errorf("change %+v", c)
		}
	}
	return fmt.Sprintf("%s, %d changes", rec.Run.State, len(rec.Changes))
}

// TestGuardCommand: a command ends with its recorder, all that it started too,
// and may clean up.
func TestGuardCommand(t *testing.T) {
	for _, script := range []string{
		"trap 'echo over > over; exit' TERM; echo begun; sleep 1000 & wait",
		"trap '' TERM; echo over > over; echo begun; (sleep 1000; sleep 1000) & wait; sleep 1000", // only a kill ends it
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := start(t, "record", "--out", "run.kasoku", "--interval", "100ms", "--", "sh", "-c", script)
			r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
			r.kill(false)
			r.gone()
			if !exists(filepath.Join(r.dir, "over")) {
				t.Error("it could not clean up")
			}
			kept(t, filepath.Join(r.dir, "run.kasoku"), "recorder killed")
		})
	}
}

// TestGuardSignals: what ends the recorder's session does not end its guard.
func TestGuardSignals(t *testing.T) {
	onTargets(t, func(f target) {
		r := f.record(f.TempDir(), "sh", "-c", "echo begun; exec sleep 1000")
		r.on(&f)
		for _, pid := range r.guards() {
			r.waitFor("guard", func() bool { // it has its name when it has begun to ignore them
				comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
				return err == nil && string(comm) == "kasoku-guard\n"
			})
			for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
				if err := syscall.Kill(pid, s); err != nil {
					t.Error(err)
				}
			}
		}
		f.secret(r)
		r.kill(true)
		r.gone()
		f.unchanged("killed")
		rec := kept(f.T, filepath.Join(r.dir, "run.kasoku"), "recorder killed")
		if len(rec.Changes) != 6 {
			f.Errorf("changes %+v", rec.Changes)
		}
		f.opens(filepath.Join(r.dir, "run.kasoku"))
	})
}

// guards are the guard processes of a recorder.
func (r *running) guards() (pids []int) {
	r.t.Helper()
	for _, pid := range r.kin() {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && string(b) == "kasoku\x00guard\x00" {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 1 {
		r.t.Fatalf("guard processes %v", pids)
	}
	return pids
}

// secret fails when the password is somewhere to be read: in what any process
// says of itself, in a file, on the terminal.
func (f *target) secret(r *running) {
	f.Helper()
	for _, pid := range r.kin() {
		for _, file := range []string{"cmdline", "environ"} {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
			if err == nil && bytes.Contains(b, []byte(f.password)) {
				f.Errorf("%s of process %d: %q", file, pid, bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
			}
		}
	}
	files := 0
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it may have gone
		}
		files++
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(f.password)) {
			f.Errorf("the password is in %s", path)
		}
		return nil
	})
	if err != nil || files < 2 || strings.Contains(r.said(), f.password) {
		f.Errorf("%d files, %v, said: %s", files, err, r.said())
	}
}

// restoring runs kasoku restore beside a recorder's journals.
func (r *running) restoring(code int, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("kasoku", append([]string{"restore"}, args...)...)
	cmd.Env, cmd.Dir = r.cmd.Env, r.dir
	out, err := cmd.CombinedOutput()
	if got, err := exitStatus(err); err != nil || got != code {
		r.t.Errorf("restore %v exits with %d (%v), want %d\n%s", args, got, err, code, out)
	}
	return string(out)
}

// TestGuardKilledToo: recorder and guard are both killed, which is what a power
// cut is. kasoku restore puts all back.
func TestGuardKilledToo(t *testing.T) {
	onTargets(t, func(f target) {
		r := f.record(f.TempDir(), "sh", "-c", "echo begun; exec sleep 1000")
		r.on(&f)
		if out := r.restoring(cli.ExitGood); !strings.Contains(out, "in use by a recording that goes on: pid "+strconv.Itoa(r.cmd.Process.Pid)) {
			f.Errorf("while it runs: %s", out)
		}
		if out := r.restoring(cli.ExitGood, "--list"); !strings.Contains(out, "slow_query_log is ON, was OFF") || !strings.Contains(out, "which goes on") {
			f.Errorf("the list: %s", out)
		}
		syscall.Kill(r.guards()[0], syscall.SIGKILL)
		r.kill(false)
		if now := f.values(); now["slow_query_log"] != "ON" {
			f.Errorf("slow_query_log is %q", now["slow_query_log"])
		}
		out := r.restoring(cli.ExitCouldNot)
		if !strings.Contains(out, "not put back: the server wants a password, and none is kept") || !strings.Contains(out, "hint: give an option file") {
			f.Errorf("without the password: %s", out)
		}
		out = r.restoring(cli.ExitGood, "--defaults-file", f.optionFile())
		if !strings.Contains(out, "put back slow_query_log: OFF") || !strings.Contains(out, "put back setup_consumers.statements_digest: NO") {
			f.Errorf("with the password: %s", out)
		}
		f.unchanged("restored")
		if out := r.restoring(cli.ExitGood); out != "nothing is to be put back\n" {
			f.Errorf("a second time: %s", out)
		}
		if got := f.opens(filepath.Join(r.dir, "run.kasoku")); got != "incomplete, 6 changes" {
			f.Error(got)
		}
		r.gone()
	})
}

// TestGuardRestarted: a guard process that was started again by a recorder that has
// given its rights up, and that may write nothing long, puts all back.
func TestGuardRestarted(t *testing.T) {
	onTargets(t, func(f target) {
		r := f.record(f.TempDir(), "sh", "-c", "echo begun; exec sleep 1000")
		r.on(&f)
		first := r.guards()[0]
		limit := unix.Rlimit{Cur: 400_000, Max: 400_000}
		if err := unix.Prlimit(r.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			f.Fatal(err)
		}
		syscall.Kill(first, syscall.SIGKILL)
		r.waitFor("another guard process", func() bool {
			for _, pid := range r.kin() {
				comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
				if err == nil && string(comm) == "kasoku-guard\n" && pid != first {
					return true
				}
			}
			return false
		})
		r.kill(false)
		r.gone()
		f.unchanged("killed")
		if left := r.journals(); len(left) > 0 {
			f.Errorf("left in the journal: %v", left)
		}
	})
}

func (f *target) optionFile() string {
	f.Helper()
	path := filepath.Join(f.TempDir(), "my.cnf")
	text := fmt.Sprintf("[client]\nuser=kasoku\npassword=%s\nhost=127.0.0.1\nport=%d\n", f.password, f.s.Port)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
	return path
}

// TestGuardDefaultsFile: with an option file the journal knows the way by itself.
func TestGuardDefaultsFile(t *testing.T) {
	onTargets(t, func(f target) {
		r := start(f.T, "record", "--defaults-file", f.optionFile(), "--out", "run.kasoku", "--", "sh", "-c", "echo begun; exec sleep 1000")
		r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
		syscall.Kill(r.guards()[0], syscall.SIGKILL)
		r.kill(true)
		if out := r.restoring(cli.ExitGood); !strings.Contains(out, "put back slow_query_log: OFF") {
			f.Error(out)
		}
		f.unchanged("restored")
		r.gone()
	})
}

// TestGuardTwo: of two recordings at once one is killed and the other ends by
// itself, in both orders.
func TestGuardTwo(t *testing.T) {
	onTargets(t, func(f target) {
		for _, firstKilled := range []bool{true, false} {
			dir := f.TempDir()
			a := f.record(dir, "sh", "-c", "echo begun; exec sleep 1000")
			a.on(&f)
			b := startIn(f.T, dir, "record", "--mysql", f.dsn, "--out", "b.kasoku", "--interval", "100ms", "--", "sh", "-c", "echo begun; exec sleep 1000")
			b.on(&f)
			first, second, firstFile := a, b, "run.kasoku"
			if !firstKilled {
				first, second, firstFile = b, a, "b.kasoku"
			}
			first.kill(false)
			path := filepath.Join(dir, firstFile)
			var rec *kasoku.Recording
			second.waitFor("word of the first's changes", func() bool {
				var err error
				rec, err = store.Open(path)
				return err == nil && slices.ContainsFunc(rec.Changes, func(c kasoku.Change) bool { return c.Note != "" })
			})
			for _, c := range rec.Changes {
				if alone := strings.HasPrefix(c.Name, "setup_"); c.Restored != alone || !alone && !strings.HasPrefix(c.Note, "kept on for another run (pid ") {
					f.Errorf("%+v", c)
				}
			}
			if now := f.values(); now["slow_query_log"] != "ON" || firstKilled != (now["statements_digest"] == "NO") {
				f.Errorf("slow_query_log %q, statements_digest %q", now["slow_query_log"], now["statements_digest"])
			}
			second.interrupt(false)
			second.exits(cli.ExitCouldNot, "interrupt\n")
			f.unchanged(fmt.Sprintf("first killed: %t", firstKilled))
		}
	})
}
