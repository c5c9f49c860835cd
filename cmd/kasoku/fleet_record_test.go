package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A teamRig is a service on hosts that are network namespaces: web has the web server and its access log, db
// looks after the database, app is a host without a file of its own. This host loads them.
type teamRig struct {
	*fleetRig
	ns     map[string]string
	hub    *exec.Cmd
	db     *sql.DB
	was    map[string]string // the database's variables
	target string
	agents map[string]*exec.Cmd
	asked  []time.Time   // when each GET was answered
	lease  time.Duration // how long a host goes on that no one asks
	own    *cluster      // is the hub; nil: one of kasoku's
}

func newTeam(t *testing.T, lease time.Duration) *teamRig {
	t.Helper()
	r := newHosts(t, lease)
	r.startHub()
	for _, name := range []string{"web", "app", "db"} {
		line, errs, code := r.run("hub", "hub", "invite", name)
		if code != 0 {
			t.Fatalf("invite: exit %d, %s", code, errs)
		}
		r.agent(name, strings.TrimSpace(line))
	}
	return r
}

// newHosts makes the hosts, without a hub and agents.
func newHosts(t *testing.T, lease time.Duration) *teamRig {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("namespaces are made by root")
	}
	r := &teamRig{fleetRig: newFleetRig(t), ns: map[string]string{}, agents: map[string]*exec.Cmd{}, lease: lease}
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	r.db = sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, r.db, "CREATE DATABASE shop",
		"CREATE TABLE shop.item (id INT PRIMARY KEY AUTO_INCREMENT, code INT, note VARCHAR(200))",
		"INSERT INTO shop.item (code, note) SELECT seq % 5000, REPEAT('x', 150) FROM shop.seq_1_to_20000",
		"SET GLOBAL long_query_time = 7")
	r.db.SetMaxIdleConns(0)   // a session that was open before is not in the slow log
	r.db.SetMaxOpenConns(100) // the server takes 151: on a machine that stalls for 4 s more requests wait
	r.was = readSettings(t, r.db)
	for i, name := range []string{"web", "app", "db"} {
		r.ns[name], _ = r.namespace(i + 1)
	}
	r.serve()
	r.toml("web", "project = 'shop'\n[logs]\naccess = ['access.log']\n")
	r.toml("db", fmt.Sprintf("project = 'shop'\n[mysql]\ndsn = 'root@unix(%s)/shop'\n", s.Socket))
	r.toml("own", fmt.Sprintf("project = 'shop'\n[load]\ntargets = ['GET %s/item']\nsteps = [40]\neach = '4s'\n"+
		"[fleet]\nrecord = ['web', 'app', 'db']\n", r.target))
	return r
}

// serve is the web server, in its host's namespace. Each request is a query that reads all of a table.
func (r *teamRig) serve() {
	r.t.Helper()
	var l net.Listener
	at := r.address(1, 2) + ":8080"
	err := inNamespace(r.ns["web"], func() (err error) { l, err = net.Listen("tcp", at); return err })
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "web"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(r.dir, "web", "access.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	srv := &http.Server{Handler: logged(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/initialize" { // word of it comes when it is over
			_, _ = r.db.ExecContext(q.Context(), "DO SLEEP(1.5)")
			return
		}
		var n int
		if err := r.db.QueryRowContext(q.Context(),
			"SELECT COUNT(*) FROM shop.item WHERE code = 17").Scan(&n); err != nil || n != 4 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}), log)}
	go srv.Serve(l)
	r.t.Cleanup(func() { _ = srv.Close(); _ = log.Close() })
	r.target = "http://" + at
}

// inNamespace does something in a network namespace. The thread goes back, as it may be the process's first, which
// does not end with its goroutine.
func inNamespace(ns string, do func() error) error {
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			failed <- err
			return
		}
		f, err := os.Open("/run/netns/" + ns)
		if err == nil {
			err = errors.Join(unix.Setns(int(f.Fd()), unix.CLONE_NEWNET), f.Close())
		}
		if err == nil {
			err = do()
		}
		if backErr := errors.Join(unix.Setns(int(own.Fd()), unix.CLONE_NEWNET), own.Close()); backErr == nil {
			runtime.UnlockOSThread()
		} else {
			err = errors.Join(err, backErr)
		}
		failed <- err
	}()
	return <-failed
}

func (r *teamRig) toml(host, text string) {
	r.t.Helper()
	dir := filepath.Join(r.dir, host)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte(text),
		0o644)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *teamRig) startHub() {
	r.t.Helper()
	if r.own != nil {
		r.own.Start(r.t)
		return
	}
	_, r.hub = r.background("hub at", r.command(context.Background(), "hub", "hub", "--listen",
		r.hubAddress()+":7432", "--invites", "0"))
}

// background starts a command that may be killed, and returns the first line with a word.
func (r *teamRig) background(word string, cmd *exec.Cmd) (string, *exec.Cmd) {
	r.t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = os.Stderr
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	found, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), word) {
				select {
				case found <- lines.Text():
				default:
				}
			}
		}
	}()
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = cmd.Wait()
	})
	select {
	case line := <-found:
		return line, cmd
	case <-time.After(20 * time.Second):
		r.t.Fatalf("%v says nothing with %q", cmd.Args, word)
	}
	return "", nil
}

// agent starts the agent of a host, in its namespace.
func (r *teamRig) agent(name string, more ...string) {
	r.t.Helper()
	r.agentThat("answers at hub", name, more...)
}

// agentThat starts it, and returns the line that it prints with a word.
func (r *teamRig) agentThat(word, name string, more ...string) (line string) {
	r.t.Helper()
	allow := "record"
	if name != "app" {
		allow += "=" + filepath.Join(r.dir, name, "kasoku.toml")
	}
	cmd := r.command(context.Background(), name, append([]string{"agent", "--name", name, "--allow", allow,
		"--lease", r.lease.String()}, more...)...)
	cmd.Args = append([]string{"ip", "netns", "exec", r.ns[name], cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Err = exec.LookPath("ip")
	line, r.agents[name] = r.background(word, cmd)
	return line
}

// kill kills an agent with kill -9, and with it, where that is wanted, its recorder.
func (r *teamRig) kill(name string, recorder bool) {
	r.t.Helper()
	if recorder {
		for _, pid := range r.recorders(name) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = r.agents[name].Process.Kill()
	_, _ = r.agents[name].Process.Wait()
}

// recorders are the recorders of a host that live.
func (r *teamRig) recorders(name string) (out []int) {
	for pid := range processes("host-recorder") {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if strings.Contains(string(env), "XDG_STATE_HOME="+filepath.Join(r.dir, name)+"\x00") {
			out = append(out, pid)
		}
	}
	return out
}

func (r *teamRig) await(what string, good func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !good(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("waited 30 s for %s", what)
		}
	}
}

// loaded waits until the load of a run is under way.
func (r *teamRig) loaded() {
	r.t.Helper()
	log := filepath.Join(r.dir, "web", "access.log")
	before, _ := os.Stat(log)
	r.await("a load", func() bool { st, err := os.Stat(log); return err == nil && st.Size() > before.Size()+6000 })
}

// killHub kills the hub with kill -9.
func (r *teamRig) killHub() {
	if r.own != nil {
		r.own.Kill()
		return
	}
	_ = r.hub.Process.Kill()
	_, _ = r.hub.Process.Wait()
}

// record makes a run, does something while it goes on, and returns the run with its exit code.
func (r *teamRig) record(label string, meanwhile func(),
	args ...string) (rec *kasoku.Recording, said string, code int) {
	r.t.Helper()
	cmd := r.command(r.t.Context(), "hub", append([]string{"run", "--label", label}, args...)...)
	cmd.Dir = filepath.Join(r.dir, "own")
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	if meanwhile != nil {
		r.loaded()
		meanwhile()
	}
	_ = cmd.Wait()
	code = cmd.ProcessState.ExitCode()
	all, _ := filepath.Glob(filepath.Join(cmd.Dir, "runs", "*-"+label+".kasoku"))
	if len(all) != 1 {
		r.t.Fatalf("%s: runs %v, exit %d, %s", label, all, code, text.String())
	}
	rec, err := store.Open(all[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return rec, text.String(), code
}

// restored waits until the server's variables are what they were.
func (r *teamRig) restored(within time.Duration) {
	r.t.Helper()
	var now map[string]string
	for deadline := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		if now = readSettings(r.t, r.db); maps.Equal(now, r.was) {
			return
		}
		if time.Now().After(deadline) {
			break
		}
	}
	for name, v := range now {
		if v != r.was[name] {
			r.t.Errorf("%s is %q, and was %q", name, v, r.was[name])
		}
	}
}

// left fails the test when something of a recording is left on a host.
func (r *teamRig) left(names ...string) {
	r.t.Helper()
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(r.dir, name, "kasoku", "agent", "recordings"), func(path string,
			d fs.DirEntry, _ error) error {
			if d != nil && !d.IsDir() && d.Name() != "lock" {
				r.t.Errorf("left on %s: %s", name, d.Name())
			}
			return nil
		})
		if pids := r.recorders(name); len(pids) > 0 {
			r.t.Errorf("recorders are left on %s: %v", name, pids)
		}
	}
}

func hostsOf(rec *kasoku.Recording) (out []string) {
	for _, h := range rec.Run.Hosts {
		out = append(out, h.Name)
	}
	return out
}

func warningOf(rec *kasoku.Recording, code string) string {
	for _, w := range rec.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// TestFleetRun: one run of hosts that record themselves, each what its own file says, and what becomes of
// the run when agents, recorders and the hub are killed.
func TestFleetRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	newTeam(t, 4*time.Second).runs()
}

// runs makes runs of all hosts, while agents, recorders and the hub are killed.
func (r *teamRig) runs() {
	t := r.t
	t.Helper()
	rec, said, code := r.record("whole", nil)
	if hosts := hostsOf(rec); code != 0 || len(hosts) != 4 || !slices.Equal(hosts[1:], []string{"web", "app", "db"}) {
		t.Fatalf("exit %d, hosts %v; %s", code, hosts, said)
	}
	r.wholeRun(rec)
	r.restored(0)
	r.left("web", "app", "db")
	group, _, code := r.record("group", nil, "-n", "1")
	if code != 0 || group.Run.ID == rec.Run.ID {
		t.Errorf("a second run: exit %d", code)
	}

	// A recorder and its agent are killed with kill -9, and the agent comes back: what was recorded until then is
	// in the run, which says so; the guard has put back what the recorder had changed.
	rec, said, code = r.record("killed", func() {
		r.kill("db", true)
		r.restored(10 * time.Second)
		r.agent("db")
	})
	if w := warningOf(rec, "short-host"); code != 3 || len(rec.Run.Hosts) != 4 || !strings.Contains(w, "host db") ||
		len(rec.Seconds) == 0 {
		t.Errorf("killed with its recorder: exit %d, hosts %v, %q; %s", code, hostsOf(rec), w, said)
	}
	// The agent alone: its recorder ends in order.
	rec, said, code = r.record("alone", func() { r.kill("web", false); r.agent("web") })
	if w := warningOf(rec, "short-host"); code != 3 || len(rec.Run.Hosts) != 4 || !strings.Contains(w, "host web") ||
		len(rec.Endpoints) == 0 {
		t.Errorf("its agent killed: exit %d, hosts %v, %q; %s", code, hostsOf(rec), w, said)
	}
	// The hub is gone for less than the lease: nothing is lost.
	rec, said, code = r.record("hub", func() {
		r.killHub()
		r.startHub()
	})
	if code != 0 || len(rec.Run.Hosts) != 4 {
		t.Errorf("the hub came back: exit %d, hosts %v; %s", code, hostsOf(rec), said)
	}
	r.wholeRun(rec)
	r.left("web", "app", "db")

	// Refused, and absent: nothing begins, anywhere.
	r.refused()
	// The hub, and who coordinates, are gone for good: each host ends by itself, and puts back.
	r.gone()
}

// wholeRun holds what a run of all hosts has of each.
func (r *teamRig) wholeRun(rec *kasoku.Recording) {
	t := r.t
	t.Helper()
	if len(rec.Endpoints) != 1 || rec.Endpoints[0].Host != "web" || rec.Endpoints[0].Count != 160 {
		t.Errorf("endpoints %+v", rec.Endpoints)
	}
	queries := 0
	for _, q := range rec.Queries {
		if strings.Contains(q.Fingerprint, "shop.item") {
			queries += int(q.Calls)
		}
		if q.Host != "db" {
			t.Errorf("a statement of host %q: %s", q.Host, q.Fingerprint)
		}
	}
	if queries != 160 {
		t.Errorf("%d statements of 160 requests", queries)
	}
	for _, name := range []string{"web", "app", "db"} {
		s := rec.Find(kasoku.Key{Host: name, Source: "host", Name: "cpu.user"})
		if s == nil || len(s.Points) < 4 {
			t.Errorf("%s: no CPU", name)
			continue
		}
		// The ticks of all hosts coincide.
		own := rec.Find(kasoku.Key{Host: rec.Run.Hosts[0].Name, Source: "host", Name: "cpu.user"})
		off := (s.Points[1].At - own.Points[1].At).Abs() % time.Second
		if off = min(off, time.Second-off); off > 100*time.Millisecond {
			t.Errorf("%s: its ticks are %s off", name, off)
		}
	}
	for _, h := range rec.Run.Hosts[1:] {
		if h.ClockError <= 0 || h.ClockError > 50*time.Millisecond || !strings.Contains(h.ClockNote,
			"compared by the fleet") {
			t.Errorf("%s: clock ± %s, %s", h.Name, h.ClockError, h.ClockNote)
		}
	}
	if rec.Diagnosis == nil || !slices.ContainsFunc(rec.Diagnosis.Findings, func(f kasoku.Finding) bool {
		return strings.HasPrefix(f.ID, "IDX") && strings.Contains(f.Title, "(db)") && strings.HasPrefix(f.Cause,
			"This is of host db.")
	}) {
		t.Errorf("no finding names the host of the missing index: %s", rec.Diagnosis.Verdict)
	}
}

func (r *teamRig) refused() {
	t := r.t
	t.Helper()
	f := func(code int, want, hosts string) {
		t.Helper()
		out := filepath.Join(r.dir, "refused.kasoku")
		_, errs, got := r.run("hub", "record", "--with", hosts, "--for", "2s", "--out", out)
		if got != code || !strings.Contains(errs, want) {
			t.Errorf("--with %s: exit %d, want %d with %q; %s", hosts, got, code, want, errs)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("--with %s: a run is left", hosts)
			_ = os.Remove(out)
		}
	}
	f(3, "not connected", "web,nobody")
	f(2, "stands twice", "web,web")
	f(2, "bad host name", "../web")
	r.kill("app", false)
	cmd := r.command(context.Background(), "app", "agent", "--allow", "load="+r.target+"/")
	_, quiet := r.background("answers at hub", cmd)
	f(3, "kasoku agent --allow record=", "db,app")
	_ = quiet.Process.Signal(syscall.SIGTERM)
	r.await("the end of what was prepared", func() bool { return len(r.recorders("db")) == 0 })
	r.restored(0)
	r.left("web", "db")
	r.toml("web", "project = 'shop'\nunknown = 1\n") // its own file is wrong: that is the host's word
	f(3, "web: ", "web")
	r.toml("web", "project = 'shop'\n[logs]\naccess = ['access.log']\n")
}

func (r *teamRig) gone() {
	t := r.t
	t.Helper()
	out := filepath.Join(r.dir, "gone.kasoku")
	cmd := r.command(t.Context(), "hub", "record", "--with", "web,db", "--for", "60s", "--out", out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.await("the slow log", func() bool { return readSettings(t, r.db)["slow_query_log"] == "ON" })
	r.killHub()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	r.restored(r.lease + 10*time.Second)
	r.await("the end of the recorders", func() bool { return len(r.recorders("db"))+len(r.recorders("web")) == 0 })
}
