package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// ask sends a request to the service.
func (r *teamRig) ask(method, path string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.target+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = res.Body.Close()
	if method == http.MethodGet {
		r.asked = append(r.asked, time.Now())
	}
}

// askedSince is how many requests had their answer after a moment.
func (r *teamRig) askedSince(at time.Time) (n int) {
	for _, t := range r.asked {
		if t.After(at) {
			n++
		}
	}
	return n
}

// rate asks so often, evenly, over a time.
func (r *teamRig) rate(n int, over time.Duration) {
	tick := time.NewTicker(over / time.Duration(n))
	defer tick.Stop()
	for range n {
		<-tick.C
		r.ask(http.MethodGet, "/item")
	}
}

// TestFleetRequest: a run of several hosts begins with a request that is seen at one of them, which does not
// coordinate; all have the seconds since before that request, and their logs from there, although
// word of it came when it was over. It ends when requests end there.
func TestFleetRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	r := newTeam(t, 4*time.Second)
	r.toml("own", "project = 'shop'\n[load]\non = 'POST /initialize'\nuntil_idle = '3s'\n[fleet]\n"+
		"record = ['web', 'app', 'db']\n")
	cmd := r.command(context.Background(), "hub", "run", "--label", "request")
	cmd.Dir = filepath.Join(r.dir, "own")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	}()
	r.await("the slow log", func() bool { return readSettings(t, r.db)["slow_query_log"] == "ON" })
	r.rate(70, 7*time.Second) // of these the last 3 to 4 seconds are in the run
	began := time.Now()
	r.ask(http.MethodPost, "/initialize")
	r.rate(40, 2*time.Second)
	_ = cmd.Wait()
	all, _ := filepath.Glob(filepath.Join(cmd.Dir, "runs", "*-request.kasoku"))
	if code := cmd.ProcessState.ExitCode(); code != 0 || len(all) != 1 {
		t.Fatalf("exit %d, runs %v: %s", code, all, said.String())
	}
	rec, err := store.Open(all[0])
	if err != nil {
		t.Fatal(err)
	}
	r.requestRun(rec, began)
	r.restored(0)
	r.left("web", "app", "db")
	r.stopWaiting()
}

// requestRun holds what the run has: each host's part from one moment on.
func (r *teamRig) requestRun(rec *kasoku.Recording, began time.Time) {
	t := r.t
	t.Helper()
	var trigger *kasoku.Event
	for i, e := range rec.Events {
		if e.Kind == "trigger" {
			if trigger != nil {
				t.Errorf("two beginnings: %+v", e)
			}
			trigger = &rec.Events[i]
		}
	}
	if trigger == nil || trigger.Host != "web" || !strings.HasPrefix(trigger.Text, "POST /initialize in ") {
		t.Fatalf("the request: %+v", trigger)
	}
	if off := (rec.Run.Started.Add(trigger.At).Sub(began)).Abs(); off > 50*time.Millisecond ||
		trigger.At < 3*time.Second || trigger.At > 5*time.Second { // by the nearest tick, which is late on a busy host
		t.Errorf("the request is at %s, %s off", trigger.At, off)
	}
	gets, posts, queries := 0, 0, 0
	for _, e := range rec.Endpoints {
		if e.Method == http.MethodPost {
			posts += int(e.Count)
		} else {
			gets += int(e.Count)
		}
		if e.Host != "web" {
			t.Errorf("requests of host %q", e.Host)
		}
	}
	for _, q := range rec.Queries {
		if strings.Contains(q.Fingerprint, "shop.item") {
			queries += int(q.Calls)
		}
	}
	// Marks are taken once a second, so the logs begin up to a second earlier, and more where a tick is late.
	starts := began.Add(-trigger.At)
	least, most := r.askedSince(starts.Add(200*time.Millisecond)), r.askedSince(starts.Add(-2*time.Second))
	if posts != 1 || gets < least || gets > most || queries < least || queries > most {
		t.Errorf("%d POST, %d GET, %d statements; want 1, and %d to %d of the others",
			posts, gets, queries, least, most)
	}
	for _, h := range rec.Run.Hosts {
		s := rec.Find(kasoku.Key{Host: h.Name, Source: "host", Name: "cpu.user"})
		if s == nil || len(s.Points) < 7 || s.Points[0].At > 1100*time.Millisecond {
			t.Errorf("%s: no CPU since the beginning: %+v", h.Name, s)
		}
	}
	for _, h := range rec.Run.Hosts[1:] {
		if h.ClockError <= 0 || h.ClockError > 50*time.Millisecond {
			t.Errorf("%s: clock ± %s", h.Name, h.ClockError)
		}
	}
	if len(rec.Run.Hosts) != 4 || rec.Run.Length < 8*time.Second || rec.Run.Length > 14*time.Second {
		t.Errorf("hosts %v, %s", hostsOf(rec), rec.Run.Length)
	}
}

// stopWaiting: a wait that is ended leaves nothing, here or at the hosts; nor does one whose host is lost.
func (r *teamRig) stopWaiting() {
	t := r.t
	t.Helper()
	for _, lose := range []bool{false, true} {
		out := filepath.Join(r.dir, "waited.kasoku")
		cmd := r.command(context.Background(), "hub", "record", "--with", "web,db", "--on", "POST /initialize",
			"--out", out)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.await("the slow log", func() bool { return readSettings(t, r.db)["slow_query_log"] == "ON" })
		if lose {
			for _, pid := range r.recorders("web") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		} else {
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 3 || lose && !strings.Contains(said.String(), "web: ") {
			t.Errorf("lose %t: exit %d, %s", lose, code, said.String())
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("lose %t: a run is left", lose)
		}
		r.await("the end of the recorders", func() bool { return len(r.recorders("db"))+len(r.recorders("web")) == 0 })
		r.restored(0)
		r.left("web", "db")
	}
}

// A waitingRun is `kasoku record --on` of several hosts that goes on.
type waitingRun struct {
	*teamRig
	cmd  *exec.Cmd
	said strings.Builder
	out  string
}

// waitFor begins one, and returns when all watch.
func (r *teamRig) waitFor(name string, more ...string) *waitingRun {
	r.t.Helper()
	w := &waitingRun{teamRig: r, out: filepath.Join(r.dir, name+".kasoku")}
	w.cmd = r.command(context.Background(), "hub", append([]string{"record", "--with", "web,db", "--on",
		"POST /initialize", "--until-idle", "2s", "--out", w.out}, more...)...)
	w.cmd.Stderr = &w.said
	if err := w.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { // of a test that failed
		if _ = w.cmd.Process.Kill(); r.t.Failed() {
			r.t.Logf("%s: %s", name, w.said.String())
		}
	})
	r.await("the slow log", func() bool { return readSettings(r.t, r.db)["slow_query_log"] == "ON" })
	return w
}

// end waits for its end, and returns the run with the trigger's events.
func (w *waitingRun) end(code int) (*kasoku.Recording, []kasoku.Event) {
	t := w.t
	t.Helper()
	late := time.AfterFunc(time.Minute, func() {
		t.Errorf("%s: it does not end", w.out)
		_ = w.cmd.Process.Signal(syscall.SIGINT)
	})
	_ = w.cmd.Wait()
	late.Stop()
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit %d, want %d; %s", filepath.Base(w.out), got, code, w.said.String())
	}
	rec, err := store.Open(w.out)
	if err != nil {
		t.Fatalf("%v; %s", err, w.said.String())
	}
	var triggers []kasoku.Event
	for _, e := range rec.Events {
		if e.Kind == "trigger" {
			triggers = append(triggers, e)
		}
	}
	w.await("the end of the recorders", func() bool { return len(w.recorders("db"))+len(w.recorders("web")) == 0 })
	w.restored(0)
	w.left("db")
	return rec, triggers
}

// TestFleetRequestLost: what can go wrong while hosts wait for a request, and where several see it.
func TestFleetRequestLost(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	r := newTeam(t, 20*time.Second)

	// It comes before all watch, and again and again: the run begins with one of them, once.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				r.ask(http.MethodPost, "/initialize")
			}
		}
	}()
	w := r.waitFor("early", "--accesslog", filepath.Join(r.dir, "web", "access.log")) // two hosts see it at once
	r.await("the beginning", func() bool { _, err := os.Stat(w.out); return err == nil })
	close(stop)
	<-stopped
	rec, triggers := w.end(0)
	if len(triggers) != 1 || len(rec.Run.Hosts) != 3 {
		t.Errorf("early: beginnings %+v, hosts %v", triggers, hostsOf(rec))
	}

	// The hub is gone when it comes, and is there again: the seconds before are in the run.
	w = r.waitFor("hub")
	r.rate(40, 4*time.Second)
	r.killHub()
	began := time.Now()
	r.ask(http.MethodPost, "/initialize")
	r.startHub()
	r.await("the beginning", func() bool { _, err := os.Stat(w.out); return err == nil })
	r.rate(20, 2*time.Second)
	rec, triggers = w.end(0)
	if len(triggers) != 1 || triggers[0].Host != "web" || len(rec.Run.Hosts) != 3 {
		t.Fatalf("the hub was gone: beginnings %+v, hosts %v; %s", triggers, hostsOf(rec), w.said.String())
	}
	if off := rec.Run.Started.Add(triggers[0].At).Sub(began).Abs(); off > 50*time.Millisecond ||
		triggers[0].At < 2500*time.Millisecond { // 3 s before, at the nearest tick
		t.Errorf("the hub was gone: the request is at %s, %s off", triggers[0].At, off)
	}

	// The host that saw it dies, agent and recorder: it is named, and the others' run ends in order.
	w = r.waitFor("died")
	r.ask(http.MethodPost, "/initialize")
	r.await("the beginning", func() bool { _, err := os.Stat(w.out); return err == nil })
	r.kill("web", true)
	r.agent("web")
	rec, triggers = w.end(3)
	if len(triggers) != 1 || triggers[0].Host != "web" || len(rec.Run.Hosts) < 2 ||
		warningOf(rec, "lost-host")+warningOf(rec, "short-host") == "" {
		t.Errorf("who saw it died: beginnings %+v, hosts %v, %+v", triggers, hostsOf(rec), rec.Warnings)
	}

	// No host has an access log: that is said at once, and nothing waits for ever.
	_, errs, code := r.run("hub", "record", "--with", "db", "--on", "POST /initialize", "--out", filepath.Join(r.dir,
		"blind.kasoku"))
	if code != 3 || !strings.Contains(errs, "no host names one") {
		t.Errorf("without an access log: exit %d, %s", code, errs)
	}
}
