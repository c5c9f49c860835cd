package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/store"
)

// A fleetRig runs kasoku and kasoku-hub as a user does, each host with a state of its own.
type fleetRig struct {
	t   *testing.T
	bin string
	dir string
	net int // see [fleetRig.address]
}

func newFleetRig(t *testing.T) *fleetRig {
	t.Helper()
	r := &fleetRig{t: t, dir: t.TempDir()}
	r.bin = filepath.Join(r.dir, "bin")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", r.bin+"/", ".", "../kasoku-hub")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return r
}

func (r *fleetRig) command(ctx context.Context, host string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "kasoku"), args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(r.dir, host), "KASOKU_STATE=")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// start starts a command that goes on, and returns the first line that it prints with a word.
func (r *fleetRig) start(word, host string, args ...string) (line string, cmd *exec.Cmd) {
	r.t.Helper()
	cmd = r.command(context.Background(), host, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error, 1)
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			r.t.Errorf("%v ended with %v", args, err)
		}
	})
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.Contains(lines.Text(), word) {
				select {
				case found <- lines.Text():
				default:
				}
			}
		}
		ended <- cmd.Wait()
	}()
	select {
	case line = <-found:
	case <-time.After(20 * time.Second):
		r.t.Fatalf("%v says nothing with %q", args, word)
	}
	return strings.TrimSpace(line), cmd
}

// run runs a command to its end.
func (r *fleetRig) run(host string, args ...string) (stdout, stderr string, code int) {
	r.t.Helper()
	var out, errs strings.Builder
	cmd := r.command(r.t.Context(), host, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		r.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// usedLine: who gives the same command again, with the line that he used, is still a member; a line
// of a hub that refuses it leaves the key of before where it is.
func (r *fleetRig) usedLine(url string) {
	r.t.Helper()
	line, _, _ := r.run("hub", "hub", "invite", "gen3")
	args := []string{"agent", strings.TrimSpace(line), "--name", "gen3", "--allow", "load=" + url + "/"}
	for range 2 {
		_, cmd := r.start("answers at hub", "gen3", args...)
		r.end("gen3", cmd)
	}
	args[3] = "gen5" // another name joins anew, and the token is used
	if _, errs, code := r.run("gen3", args...); code != 3 || !strings.Contains(errs, "refuses this key or token") {
		r.t.Errorf("a used line for another name: exit %d, %s", code, errs)
	}
	_, cmd := r.start("gen3 answers at hub", "gen3", "agent", "--allow", "load="+url+"/")
	r.end("gen3", cmd)
	if _, errs, code := r.run("hub", "hub", "remove", "gen3"); code != 0 {
		r.t.Errorf("remove: exit %d, %s", code, errs)
	}
}

// end ends an agent, and waits until another may take its place.
func (r *fleetRig) end(host string, cmd *exec.Cmd) {
	r.t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	f, err := os.Open(filepath.Join(r.dir, host, "kasoku", "agent", "serving"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		r.t.Fatal(err)
	}
}

// configured: load.from of kasoku.toml has the hosts send the load of a run; what a host lacks is found.
func (r *fleetRig) configured(url string, came *atomic.Int64) {
	t := r.t
	t.Helper()
	dir := filepath.Join(r.dir, "configured")
	toml := "project = 'shop'\n[load]\ntargets = ['GET " + url + "/a', 'GET " + url + "/b']\n" +
		"steps = [100, 200]\neach = '1s'\nfrom = ['gen1', 'gen2']\n"
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte(toml),
		0o644)); err != nil {
		t.Fatal(err)
	}
	before := came.Load()
	cmd := r.command(t.Context(), "hub", "run", "--label", "from")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	all, _ := filepath.Glob(filepath.Join(dir, "runs", "*-from.kasoku"))
	if err != nil || len(all) != 1 {
		t.Fatalf("run with load.from: %v, %v, %s", err, all, out)
	}
	rec, err := store.Open(all[0])
	if err != nil {
		t.Fatal(err)
	}
	var asked uint64
	for _, s := range rec.Seconds {
		asked += s.Asked
	}
	if n := came.Load() - before; n != 300 || asked != 300 || len(rec.Steps) != 2 ||
		!strings.HasSuffix(rec.Run.Load, ", from gen1, gen2") {
		t.Errorf("%d came, %d in the run, steps %v, load %q", n, asked, rec.Steps, rec.Run.Load)
	}
	if out, errs, code := r.run("hub", "hub", "status"); code != 0 || !strings.Contains(out, "All 2 hosts answer.") {
		t.Errorf("status: exit %d, %s%s", code, out, errs)
	}
	if out, errs, code := r.run("hub", "fleet", "doctor"); code != 0 || !strings.Contains(out,
		"Each host can do what it may be asked.") ||
		strings.Count(out, "compared to ±") != 2 || !strings.Contains(out, url) {
		t.Errorf("doctor: exit %d, %s%s", code, out, errs)
	}
	if _, errs, code := r.run("hub", "fleet", "doctor", "gen9"); code != 2 || !strings.Contains(errs,
		`no host "gen9" is a member`) {
		t.Errorf("doctor of a stranger: exit %d, %s", code, errs)
	}
}

// TestFleet: a hub, two agents and a load from both, by the commands of the page; what is
// refused has its exit code and the line that helps.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	r := newFleetRig(t)
	var came atomic.Int64
	var mu sync.Mutex
	seen := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		came.Add(1)
		mu.Lock()
		defer mu.Unlock()
		seen[q.Header.Get("X-Vegeta-Seq")]++
	}))
	defer srv.Close()

	if _, errs, code := r.run("hub", "hub", "status"); code != 3 || !strings.Contains(errs, "kasoku: hint: `kasoku hub` makes one") {
		t.Errorf("without a hub: exit %d, %s", code, errs)
	}
	r.start("hub at", "hub", "hub", "--listen", "127.0.0.1:0", "--invites", "0")
	for _, name := range []string{"gen1", "gen2"} {
		line, errs, code := r.run("hub", "hub", "invite", name)
		if code != 0 {
			t.Fatalf("invite: exit %d, %s", code, errs)
		}
		r.start("answers at hub", name, "agent", strings.TrimSpace(line), "--name", name, "--allow", "load="+srv.URL+"/")
		if _, errs, code := r.run(name, "agent", "--allow", "load="+srv.URL+"/"); code != 3 || !strings.Contains(errs, "another agent answers") {
			t.Errorf("a second agent with one key: exit %d, %s", code, errs)
		}
		if _, errs, code := r.run("stranger", "agent", strings.TrimSpace(line), "--name", name, "--allow", "load="+srv.URL+"/"); code != 3 ||
			!strings.Contains(errs, "refuses this key or token") || !strings.Contains(errs, "kasoku hub invite") {
			t.Errorf("a used line: exit %d, %s", code, errs)
		}
	}
	r.usedLine(srv.URL)
	if out, errs, code := r.run("hub", "hub", "status", "-o", "json"); code != 0 || strings.Count(out, `"connected": true`) != 2 {
		t.Errorf("status: exit %d, %s%s", code, out, errs)
	}

	out, errs, code := r.run("hub", "attack", "--from", "gen1,gen2", "-rate", "300", "-duration", "1s", "-o", "json", srv.URL+"/x")
	var got struct {
		Total struct {
			Asked, Success uint64
		}
		Generators []struct {
			Generator     string
			Due, Reported uint64
			Bound         float64 `json:"clock_bound_s"`
			Drift         *float64
		}
		Skew float64 `json:"skew_s"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s%s", code, err, out, errs)
	}
	if n := came.Load(); n != 300 || len(seen) != 300 || len(got.Generators) != 2 || got.Generators[1].Reported != 150 ||
		got.Skew <= 0 || got.Skew < got.Generators[0].Bound {
		t.Errorf("%d came, %d different, %+v", n, len(seen), got)
	}
	if strings.Contains(errs, "the hub is gone") {
		t.Errorf("its end is no loss: %s", errs)
	}

	f := func(code int, want string, args ...string) {
		t.Helper()
		_, errs, got := r.run("hub", append([]string{"attack", "-rate", "10", "-duration", "1s", "-o", "text"}, args...)...)
		if got != code || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, want %d; %s", args, got, code, errs)
		}
	}
	f(2, "on that host: kasoku agent --allow load=http://127.0.0.1:1/", "--from", "gen1,gen2", "http://127.0.0.1:1/")
	f(3, "`kasoku hub status` lists the hosts", "--from", "gen1,gen9", srv.URL)
	f(2, "-output", "--from", "gen1", "-output", "x.gob", srv.URL)
	f(2, "stands twice", "--from", "gen1,gen1", srv.URL)
	f(2, "goes with --from", "--hub", r.dir, srv.URL)
	if n := came.Load(); n != 300 {
		t.Errorf("%d requests came of what was refused", n-300)
	}

	// Two loads at once: the second is not begun, which is no mistake of usage, and the first goes on.
	first := r.command(t.Context(), "hub", "attack", "--from", "gen1", "-rate", "10", "-duration", "3s", "-o", "text", srv.URL)
	var said strings.Builder
	first.Stdout, first.Stderr = &said, &said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for before := came.Load(); came.Load() < before+3; {
		time.Sleep(10 * time.Millisecond)
	}
	f(3, "wait until it is over", "--from", "gen1", srv.URL)
	if err := first.Wait(); err != nil || !strings.Contains(said.String(), "30 requests") {
		t.Errorf("the first of two loads: %v, %s", err, said.String())
	}

	// Ctrl-C ends it within moments, with what was sent.
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	cmd := r.command(ctx, "hub", "attack", "--from", "gen1,gen2", "-rate", "100", "-duration", "1h", "-o", "text", srv.URL)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(text), "stopped before the end") || strings.Contains(string(text), "not sent") {
		t.Errorf("%v: %s", err, text)
	}
	r.configured(srv.URL, &came)
	if _, _, code := r.run("hub", "hub", "remove", "gen2"); code != 0 {
		t.Errorf("remove: exit %d", code)
	}
	if out, _, _ := r.run("hub", "hub", "status"); strings.Contains(out, "gen2") {
		t.Errorf("it is still there: %s", out)
	}
}
