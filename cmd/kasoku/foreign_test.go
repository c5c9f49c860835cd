package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// needTool wants a benchmark that people have; `make setup` installs it.
func needTool(t *testing.T, program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a benchmark of somebody else's; not in short mode")
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%v; tools/setup test installs it", err)
	}
}

// kasokuIn runs kasoku in a directory and returns what it wrote to stdout.
func kasokuIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("kasoku", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "KASOKU_STATE="+filepath.Join(dir, "state"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kasoku %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

func openForeign(t *testing.T, path string) *kasoku.Recording {
	t.Helper()
	rec, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// foreignScore wants a score that is the one that the command printed.
func foreignScore(t *testing.T, rec *kasoku.Recording, source, pattern string) {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(rec.Run.Command.Output)
	if found == nil || rec.Run.Score == nil {
		t.Fatalf("score %+v of\n%s", rec.Run.Score, rec.Run.Command.Output)
	}
	printed, err := strconv.ParseFloat(found[1], 64)
	score := *rec.Run.Score
	if err != nil || printed <= 0 || score.Value != printed || score.Source != source || score.Outcome != "" {
		t.Errorf("score %+v, printed %v", score, found)
	}
	if score.Requests == 0 || score.Failures != 0 {
		t.Errorf("requests and failures that it printed: %+v", score)
	}
	if rec.Run.Command.ExitCode != 0 || rec.Run.State != kasoku.Finished {
		t.Errorf("exit code %d, %s", rec.Run.Command.ExitCode, rec.Run.State)
	}
}

// logServer is a server with an access log, as ab and wrk load it.
func logServer(t *testing.T) (url, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "access.log")
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(logged(http.HandlerFunc(answer), f))
	t.Cleanup(func() {
		s.Close()
		f.Close()
	})
	return s.URL + "/", log
}

func TestForeignAB(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	needTool(t, "ab")
	url, log := logServer(t)
	dir := t.TempDir()
	kasokuIn(t, dir, "record", "--out", "ab.kasoku", "--accesslog", log, "--", "ab", "-q", "-n", "5000", "-c", "8", url)
	rec := openForeign(t, filepath.Join(dir, "ab.kasoku"))
	foreignScore(t, rec, "ab, Requests per second", `Requests per second: +([\d.]+)`)
	if n := foreignRequests(rec); n != 5000 {
		t.Errorf("%d requests in the access log", n)
	}
	if len(rec.Phases) == 0 {
		t.Error("no phases")
	}
}

// foreignRequests counts what a tool asked for. Another test's kasoku may ask a server of this
// process for its profile, as it has them all for one program.
func foreignRequests(rec *kasoku.Recording) (n uint64) {
	for _, e := range rec.Endpoints {
		if !strings.HasPrefix(e.Route, "/debug/") {
			n += e.Count
		}
	}
	return n
}

func TestForeignWrk(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	needTool(t, "wrk")
	url, log := logServer(t)
	dir := t.TempDir()
	toml := fmt.Sprintf("project = 'wrk'\n[load]\ncommand = ['wrk', '-t1', '-c8', '-d4s', '%s']\n[logs]\naccess = '%s'\n", url, log)
	if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	out := kasokuIn(t, dir, "run", "-n", "2", "--label", "wrk")
	if !regexp.MustCompile(`(?m)^run 2 of 2  \S+-wrk  score [\d,.]+  [\d,.]+ req/s  p99 `).MatchString(out) {
		t.Errorf("printed\n%s", out)
	}
	runs, err := store.ResolveAll(filepath.Join(dir, "runs"), "wrk")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%v, %v", runs, err)
	}
	for i, path := range runs {
		rec := openForeign(t, path)
		foreignScore(t, rec, "wrk, Requests/sec", `Requests/sec: +([\d.]+)`)
		if rec.Run.Repeat != i+1 || foreignRequests(rec) < 100 {
			t.Errorf("repeat %d, %d requests", rec.Run.Repeat, foreignRequests(rec))
		}
		load := 0
		for _, p := range rec.Phases {
			if p.Kind == kasoku.PhaseLoad {
				load++
			}
		}
		if load != 1 {
			t.Errorf("phases %+v", rec.Phases)
		}
	}
}

func TestForeignSysbench(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	needTool(t, "sysbench")
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE sbtest")
	args := []string{"oltp_read_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-port=" + strconv.Itoa(s.Port), "--mysql-user=root",
		"--mysql-db=sbtest", "--tables=2", "--table-size=500", "--threads=2", "--time=3"}
	if out, err := exec.Command("sysbench", append(args, "prepare")...).CombinedOutput(); err != nil {
		t.Fatalf("prepare: %v\n%s", err, out)
	}
	dir := t.TempDir()
	kasokuIn(t, dir, append([]string{"record", "--out", "sb.kasoku", "--mysql", s.DSN("", "sbtest"), "--", "sysbench"}, append(args, "run")...)...)
	rec := openForeign(t, filepath.Join(dir, "sb.kasoku"))
	foreignScore(t, rec, "sysbench, transactions per second", `transactions: +\d+ +\(([\d.]+) per sec`)
	printed := regexp.MustCompile(`queries: +(\d+) `).FindStringSubmatch(rec.Run.Command.Output)
	if printed == nil {
		t.Fatalf("no queries in\n%s", rec.Run.Command.Output)
	}
	want, err := strconv.ParseUint(printed[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var calls uint64
	for _, q := range rec.Queries {
		calls += q.Calls
	}
	if calls < want { // the slow log has what prepares the statements, too
		t.Errorf("%d calls in the slow log, sysbench counted %d", calls, want)
	}
}
