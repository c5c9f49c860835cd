package main

import (
	"bytes"
	"database/sql"
	"fmt"
	rand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A running is kasoku as a process of its own. Its directory, which also holds
// its temporary files, marks all that it starts.
type running struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	mu     sync.Mutex
	output bytes.Buffer
	ended  chan struct{}
	err    error
}

// Write keeps what the process says.
func (r *running) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.Write(b)
}

func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.output.String()
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	return startIn(t, t.TempDir(), args...)
}

// startIn starts kasoku in a directory, in a process group of its own.
func startIn(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	return startReading(t, dir, nil, nil, args...)
}

// startReading is startIn with a standard input, nil is none, and more of an environment.
func startReading(t *testing.T, dir string, stdin *os.File, env []string, args ...string) *running {
	t.Helper()
	r := prepare(t, dir, args...)
	r.cmd.Env = append(r.cmd.Env, env...)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Stdout, r.cmd.Stderr = r, r
	if stdin != nil { // a nil file is not a nil reader
		r.cmd.Stdin = stdin
	}
	r.begin(r.cmd.Wait)
	return r
}

// prepare returns kasoku as a process that has not begun.
func prepare(t *testing.T, dir string, args ...string) *running {
	r := &running{t: t, dir: dir, ended: make(chan struct{})}
	r.cmd = exec.Command("kasoku", args...)
	r.cmd.Dir, r.cmd.Env = r.dir, append(os.Environ(), "TMPDIR="+r.dir, "KASOKU_STATE="+filepath.Join(r.dir, "state"))
	r.cmd.WaitDelay = time.Second
	return r
}

// begin starts the process; wait waits for its end and for all that it said.
func (r *running) begin(wait func() error) {
	r.t.Helper()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		r.err = wait()
	}()
	r.t.Cleanup(func() {
		r.signal(syscall.SIGKILL)
		<-r.ended
		for _, pid := range r.kin() { // none, unless the test failed
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

func (r *running) signal(s syscall.Signal) { _ = r.cmd.Process.Signal(s) }

// waitFor waits for a condition while the process runs.
func (r *running) waitFor(what string, holds func() bool) {
	r.t.Helper()
	if !eventually(func() bool {
		select {
		case <-r.ended:
			r.t.Fatalf("it ended before %s: %v\n%s", what, r.err, r.said())
		default:
		}
		return holds()
	}) {
		r.t.Fatalf("no %s\n%s", what, r.said())
	}
}

// exits waits for the end; the exit code and a line of what it said are given.
// Nothing that it started may be left.
func (r *running) exits(code int, line string) {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatalf("it does not end\n%s", r.said())
	}
	if got, err := exitStatus(r.err); err != nil || got != code || !strings.Contains(r.said(), line) {
		r.t.Errorf("exit %d (%v), want %d with %q\n%s", got, err, code, line, r.said())
	}
	if !eventually(func() bool { return len(r.kin()) == 0 }) {
		for _, pid := range r.kin() {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			r.t.Errorf("left over: %d %s", pid, bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
		}
	}
}

// kin are the processes that carry the directory in their command line or in
// their environment, except this one.
func (r *running) kin() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			b, err := os.ReadFile(filepath.Join("/proc", e.Name(), file))
			if err == nil && bytes.Contains(b, []byte(r.dir)) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// interrupt sends SIGINT, and again until the end when that is wanted.
func (r *running) interrupt(again bool) {
	r.signal(syscall.SIGINT)
	tick := time.NewTicker(50 * time.Millisecond) // so that two signals are not taken for one
	defer tick.Stop()
	for again {
		select {
		case <-tick.C:
			r.signal(syscall.SIGINT)
		case <-r.ended:
			return
		}
	}
}

// times runs a test with one interrupt and with several.
func times(t *testing.T, f func(t *testing.T, again bool)) {
	t.Parallel()
	t.Run("once", func(t *testing.T) { t.Parallel(); f(t, false) })
	t.Run("twice", func(t *testing.T) { t.Parallel(); f(t, true) })
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// kept opens a run that was cut short.
func kept(t *testing.T, path, reason string) *kasoku.Recording {
	t.Helper()
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Run.State != kasoku.Incomplete || !strings.HasPrefix(rec.Run.StopReason, reason) || len(rec.Damage) > 0 {
		t.Errorf("%s is %s, %q, damage %v", path, rec.Run.State, rec.Run.StopReason, rec.Damage)
	}
	return rec
}

func TestInterruptAttack(t *testing.T) {
	times(t, func(t *testing.T, again bool) {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if asked.Add(1)%2 == 0 {
				<-r.Context().Done() // half of the requests hang
			}
		}))
		defer server.Close()
		r := start(t, "attack", "-target", "GET "+server.URL, "-rate", "50", "-duration", "1h", "-output", "r.gob")
		r.waitFor("requests", func() bool { return asked.Load() >= 10 })
		r.interrupt(again)
		r.exits(cli.ExitCouldNot, "exit 3: stopped before the end: interrupt\n")
		report := exec.Command("kasoku", "report", filepath.Join(r.dir, "r.gob"))
		if out, err := report.CombinedOutput(); err != nil || !strings.Contains(string(out), "200:") {
			t.Errorf("report: %v\n%s", err, out)
		}
	})
}

// TestInterruptAttackAtOnce: the first interrupt lets what is in flight end, the
// second does not; the report of what was measured comes all the same, and the
// results are whole.
func TestInterruptAttackAtOnce(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"epollhttp", "nethttp"} {
		var hanging atomic.Bool
		var stuck atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hanging.Load() {
				stuck.Add(1)
				<-r.Context().Done()
			}
		}))
		t.Cleanup(server.Close)
		r := start(t, "attack", "-target", "GET "+server.URL, "-rate", "200", "-duration", "1h", "-timeout", "1h",
			"--engine", engine, "-output", "r.json", "-encoding", "json", "-o", "text")
		r.waitFor("results", func() bool {
			b, _ := os.ReadFile(filepath.Join(r.dir, "r.json"))
			return bytes.Count(b, []byte("\n")) > 20
		})
		hanging.Store(true)
		r.waitFor("requests that hang", func() bool { return stuck.Load() > 5 })
		r.signal(syscall.SIGINT)
		r.waitFor("word of the stop", func() bool { return strings.Contains(r.said(), "stopping: no new requests; ") })
		r.signal(syscall.SIGINT)
		r.exits(cli.ExitCouldNot, "exit 3: stopped before the end: interrupt")
		said := r.said()
		if !strings.Contains(said, "The load was stopped early, by interrupt") || !strings.Contains(said, "stopped at once") {
			t.Errorf("%s: no report of what was measured:\n%s", engine, said)
		}
		b, err := os.ReadFile(filepath.Join(r.dir, "r.json"))
		if err != nil || !bytes.HasSuffix(b, []byte("}\n")) || bytes.Count(b, []byte("stopped at once")) < 5 {
			t.Errorf("%s: results end %q, %v", engine, b[max(0, len(b)-300):], err)
		}
	}
}

func TestInterruptRecord(t *testing.T) {
	times(t, func(t *testing.T, again bool) {
		script := "echo begun; sleep 1000 & wait"
		if again {
			script = "trap '' TERM INT; echo begun; sleep 1000 & wait; sleep 1000" // only a kill ends it
		}
		r := start(t, "record", "--out", "run.kasoku", "--interval", "100ms", "--", "sh", "-c", script)
		r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
		r.interrupt(again)
		r.exits(cli.ExitCouldNot, "exit 3: stopped before the end: interrupt\n")
		rec := kept(t, filepath.Join(r.dir, "run.kasoku"), "interrupt")
		if c := rec.Run.Command; c == nil || c.Signal == "" || c.Output != "begun\n" {
			t.Errorf("command %+v", c)
		}
		if rec.Diagnosis == nil {
			t.Error("it is not diagnosed")
		}
	})
}

// TestInterruptOpenEnd: a recording without an end is stopped with Ctrl-C; that
// is how it is meant to end.
func TestInterruptOpenEnd(t *testing.T) {
	t.Parallel()
	r := start(t, "record", "--out", "run.kasoku", "--interval", "100ms")
	path := filepath.Join(r.dir, "run.kasoku")
	r.waitFor("run file", func() bool { return exists(path) && store.Describe(path).Err == nil })
	r.interrupt(false)
	r.exits(cli.ExitGood, "")
	if info := store.Describe(path); info.State != kasoku.Finished {
		t.Errorf("state %s, %q", info.State, info.StopReason)
	}
}

// TestKillRecord kills recorders at random moments: the file opens, and holds what
// another process had read of it before.
func TestKillRecord(t *testing.T) {
	t.Parallel()
	kills := 10
	if testing.Short() {
		kills = 2
	}
	for n := range kills {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			r := start(t, "record", "--out", "run.kasoku", "--interval", "200ms", "--for", "1h")
			path := filepath.Join(r.dir, "run.kasoku")
			r.waitFor("run file", func() bool { return exists(path) && store.Describe(path).Err == nil })
			moment := time.Duration(rand.Int64N(int64(1500 * time.Millisecond)))
			<-time.After(moment)
			var seen *kasoku.Recording
			r.waitFor("samples", func() bool {
				var err error
				seen, err = store.Open(path)
				return err == nil && len(seen.Series) > 0
			})
			r.signal(syscall.SIGKILL)
			<-r.ended
			rec := kept(t, path, "recorder killed; last second ")
			points := map[kasoku.Key]int{}
			for _, s := range rec.Series {
				points[s.Key] = len(s.Points)
			}
			for _, s := range seen.Series {
				if points[s.Key] < len(s.Points) {
					t.Errorf("killed after %s: %v had %d points and has %d",
						moment, s.Key, len(s.Points), points[s.Key])
				}
			}
			for _, s := range rec.Series {
				if len(s.Points) == 0 {
					t.Errorf("no points of %v", s.Key)
				}
			}
		})
	}
}

// TestInterruptSlowLog: whatever the signals, the server's settings are what
// they were.
func TestInterruptSlowLog(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := readSettings(t, db)
	for _, again := range []bool{false, true} {
		r := start(t, "record", "--mysql", s.DSN("", ""), "--out", "run.kasoku", "--interval", "100ms", "--", "sh", "-c", "echo begun; sleep 1000")
		r.waitFor("slow log", func() bool {
			return strings.Contains(r.said(), "begun\n") && readSettings(t, db)["slow_query_log"] == "ON"
		})
		r.interrupt(again)
		r.exits(cli.ExitCouldNot, "exit 3: stopped before the end: interrupt\n")
		for name, is := range readSettings(t, db) {
			if was := before[name]; is != was {
				t.Errorf("again %t: %s was %q and is %q", again, name, was, is)
			}
		}
		for _, c := range kept(t, filepath.Join(r.dir, "run.kasoku"), "interrupt").Changes {
			if !c.Restored {
				t.Errorf("again %t: %+v", again, c)
			}
		}
	}
}

// settings are the server's variables, without those that move by themselves.
func readSettings(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	return pairs(t, db, "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE 'gtid%' AND Variable_name <> 'timestamp'")
}

// pairs runs a query that gives names and values.
func pairs(t *testing.T, db *sql.DB, query string) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		out[name] = value
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestInterruptDemo: a story that is stopped leaves its files and no
// running process.
func TestInterruptDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server; not in short mode")
	}
	times(t, func(t *testing.T, again bool) {
		r := start(t, "demo", "--dir", "story", "--step", "1s", "--pause", "0s", "--ladder", "10,20,30,40,50,60,70,80,90")
		path := filepath.Join(r.dir, "story", "before.kasoku")
		r.waitFor("load", func() bool {
			if !exists(path) || store.Describe(path).Err != nil {
				return false
			}
			rec, err := store.Open(path)
			return err == nil && len(rec.Steps) > 0
		})
		r.interrupt(again)
		r.exits(cli.ExitCouldNot, "exit 3: stopped by interrupt; what was measured is kept in story\n")
		if rec := kept(t, path, "interrupt"); len(rec.Seconds) == 0 {
			t.Error("no second of the load is kept")
		}
		left, err := filepath.Glob(filepath.Join(r.dir, "kasoku-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("temporary files left: %v, %v", left, err)
		}
	})
}

// TestNoHangup: what ignores a hang-up, as nohup(1) makes it, records on when the terminal
// goes.
func TestNoHangup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "trap '' HUP; exec kasoku record --for 1s --out run.kasoku")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "KASOKU_STATE="+filepath.Join(dir, "state"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := eventually(func() bool { _, err := os.Stat(filepath.Join(dir, "run.kasoku")); return err == nil })
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil || !begun {
		t.Errorf("begun: %v, %v", begun, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.String())
	}
}
