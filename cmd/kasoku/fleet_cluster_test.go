package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/internal/test/natsserver"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// A cluster is a fleet whose hub is a nats-server of the distribution's.
type cluster struct {
	*teamRig
	natsserver.Server
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return clusterOf(&teamRig{fleetRig: newFleetRig(t), agents: map[string]*exec.Cmd{}}, natsserver.Free(t))
}

// clusterOf is a server at an address, with a certificate.
func clusterOf(r *teamRig, at string) *cluster {
	r.t.Helper()
	c := &cluster{r, natsserver.Server{At: at, Dir: filepath.Join(r.dir, "nats")}}
	if _, err := hubdir.Open(c.Dir, "here"); err != nil { // for its key and certificate
		r.t.Fatal(err)
	}
	return c
}

// line is the one for the agents.
func (c *cluster) line() string {
	c.t.Helper()
	_, line, _ := strings.Cut(c.uses(0, "kasoku-cluster:"+c.At), "kasoku agent ")
	line, _, _ = strings.Cut(line, " ")
	return line
}

// uses runs `kasoku hub cluster`.
func (c *cluster) uses(code int, want string, more ...string) string {
	c.t.Helper()
	out, errs, got := c.run("hub", append([]string{"hub", "cluster", c.At}, more...)...)
	if got != code || !strings.Contains(out+errs, want) {
		c.t.Errorf("hub cluster %v: exit %d, want %d with %q; %s%s", more, got, code, want, out, errs)
	}
	return out
}

// TestFleetCluster: a nats-server of the user's own, as the distribution has it, is the hub: what it lacks is refused
// with a word, its configuration comes from kasoku, and load and runs of several hosts go through it, also when it
// is killed meanwhile.
func TestFleetCluster(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	c := newCluster(t)
	c.Serve(t, "")
	c.uses(3, "lacks TLS")
	c.Kill()
	c.Serve(t, natsserver.TLS+"no_header_support: true\n")
	c.uses(3, "lacks headers")
	c.Kill()
	c.Serve(t, natsserver.TLS+"max_payload: 64KB\n")
	c.uses(3, "lacks messages of 1048576 bytes: it takes 65536")
	c.Kill()
	c.Serve(t, natsserver.TLS)
	line := c.line()
	var came atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	defer srv.Close()
	var known []string
	for _, name := range []string{"gen1", "gen2"} {
		waits, _ := c.background("waiting until", c.command(context.Background(), name, "agent", line, "--name", name,
			"--allow", "load="+srv.URL+"/", "--allow", "record"))
		fields := strings.Fields(waits)
		known = append(known, fields[len(fields)-1])
	}
	c.Serve(t, natsserver.TLS+c.uses(0, "kasoku.ask.gen2.clock", known...))
	c.await("the hosts", func() bool { _, _, code := c.run("hub", "hub", "status"); return code == 0 })

	attack := func(what string, meanwhile func()) {
		t.Helper()
		before := came.Load()
		cmd := c.command(t.Context(), "hub", "attack", "--from", "gen1,gen2", "-rate", "100", "-duration", "5s", "-o",
			"text", srv.URL+"/")
		var text strings.Builder
		cmd.Stdout, cmd.Stderr = &text, &text
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.await("the load", func() bool { return came.Load() > before+50 })
		meanwhile()
		_ = cmd.Wait()
		if n := came.Load() - before; cmd.ProcessState.ExitCode() != 0 || n != 500 ||
			!strings.Contains(text.String(), "500 requests") {
			t.Errorf("%s: exit %d, %d came; %s", what, cmd.ProcessState.ExitCode(), n, text.String())
		}
	}
	attack("a load", func() {})
	attack("killed", func() { c.Kill(); c.Start(t) })
	out := filepath.Join(c.dir, "cluster.kasoku")
	if said, errs, code := c.run("hub", "record", "--with", "gen1,gen2", "--for", "3s", "--out", out); code != 0 {
		t.Errorf("record: exit %d, %s%s", code, said, errs)
	} else if rec, err := store.Open(out); err != nil || len(rec.Run.Hosts) != 3 {
		t.Errorf("record: %v", err)
	}
	c.refusedThere()
}

// TestFleetRunCluster is TestFleetRun with a nats-server of the user's own as the hub.
func TestFleetRunCluster(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	r := newHosts(t, 4*time.Second)
	r.own = clusterOf(r, r.hubAddress()+":7432")
	r.own.Serve(t, natsserver.TLS)
	line := r.own.line()
	var known []string
	for _, name := range []string{"web", "app", "db"} {
		fields := strings.Fields(r.agentThat("waiting until", name, line))
		known = append(known, fields[len(fields)-1])
	}
	r.own.Serve(t, natsserver.TLS+r.own.uses(0, "kasoku.ask.db.clock", known...))
	r.await("the hosts", func() bool { _, _, code := r.run("hub", "hub", "status"); return code == 0 })
	r.runs()
}

// refusedThere: what a hub does and a cluster does not is refused, and so is a member that asks.
func (c *cluster) refusedThere() {
	t := c.t
	t.Helper()
	f := func(want string, args ...string) {
		t.Helper()
		if _, errs, code := c.run("hub", args...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	f("no join lines", "hub", "invite")
	f("a NATS server of your own", "hub", "--listen", "127.0.0.1:0")
	f("want NAME=KEY", "hub", "cluster", c.At, "gen1")
	f("that is no key", "hub", "cluster", c.At, "gen1=SUAX")
	var seed struct{ Seed string }
	b, err := os.ReadFile(filepath.Join(c.dir, "gen2", "kasoku", "agent", "member.json"))
	if err == nil {
		err = json.Unmarshal(b, &seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(c.dir, "hub", "kasoku", "hub")
	access := map[string]any{}
	if b, err = os.ReadFile(filepath.Join(own, "operator.json")); err == nil {
		err = json.Unmarshal(b, &access)
	}
	if err != nil {
		t.Fatal(err)
	}
	access["Seed"] = seed.Seed
	if b, err = json.Marshal(access); err == nil {
		err = os.WriteFile(filepath.Join(own, "operator.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if out, _, code := c.run("hub", "hub", "status"); code == 0 || strings.Contains(out, "load=") {
		t.Errorf("a member asks: exit %d after %s, %s", code, time.Since(began), out)
	}
}
