package coordinate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/agent"
	"github.com/kasoku/kasoku/fleet/bus"
	"github.com/kasoku/kasoku/fleet/hub"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/keys"
	"github.com/kasoku/kasoku/load/vegeta"
)

// TestMain is also an agent and a hub, each a process of its own.
func TestMain(m *testing.M) {
	switch os.Getenv("FLEET_TEST") {
	case "agent":
		agentMain()
	case "hub":
		hubMain()
	}
	os.Exit(m.Run())
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// agentMain joins as $NAME with $TICKET, or as $SEED, prints "ready", and answers until it is killed.
func agentMain() {
	ticket, err := fleet.ParseTicket(os.Getenv("TICKET"))
	fatal(err)
	limit, err := fleet.ParseLimit([]string{os.Getenv("ALLOW")})
	fatal(err)
	lease, err := time.ParseDuration(os.Getenv("LEASE"))
	fatal(err)
	seed := []byte(os.Getenv("SEED"))
	if len(seed) == 0 {
		seed, _, err = keys.New()
		fatal(err)
	}
	c, err := bus.Connect(bus.Options{Address: ticket.Address, CA: ticket.CA, Token: ticket.Token, Cluster: ticket.Cluster,
		Seed: seed, Name: os.Getenv("NAME")})
	fatal(err)
	a := agent.New(agent.Options{Limit: limit, Lease: lease})
	fatal(c.Serve(os.Getenv("NAME"), a.Answer))
	fmt.Println("ready")
	select {}
}

// hubMain serves the directory $DIR at $LISTEN and prints its address.
func hubMain() {
	d, err := hubdir.Open(os.Getenv("DIR"), "")
	fatal(err)
	fatal(hub.Run(context.Background(), d, os.Getenv("LISTEN"), func(a string) { fmt.Println(a) }, fatal))
	os.Exit(0)
}

// child starts this binary as an agent or a hub, in a network namespace unless that is
// empty, and returns the first line that it prints.
func child(t testing.TB, netns string, env ...string) (line string, cmd *exec.Cmd) {
	t.Helper()
	args := []string{os.Args[0]}
	if netns != "" {
		args = append([]string{"ip", "netns", "exec", netns}, args...)
	}
	cmd = exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	b := make([]byte, 100)
	n, err := out.Read(b)
	if err != nil {
		t.Fatalf("%v: %v", env, err)
	}
	return strings.TrimSpace(string(b[:n])), cmd
}

// A target logs the number and the time of each request.
type target struct {
	mu   sync.Mutex
	came map[uint64]time.Time
	more int // that came twice
	url  string
}

func newTarget(t testing.TB, host string) *target {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	out := &target{came: map[uint64]time.Time{}, url: "http://" + l.Addr().String() + "/"}
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		now := time.Now()
		n, err := strconv.ParseUint(r.Header.Get("X-Vegeta-Seq"), 10, 64)
		out.mu.Lock()
		defer out.mu.Unlock()
		if _, twice := out.came[n]; twice || err != nil {
			out.more++
		}
		out.came[n] = now
	})}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return out
}

// A field is a hub with hosts, each a process.
type field struct {
	kill   func() // kills the hub with kill -9
	rehub  func() // starts it again
	agents map[string]*exec.Cmd
	conn   *bus.Conn
}

// ownServer has fields have the distribution's nats-server as their hub; see TestOwnServer.
var ownServer bool

// newField starts a hub at an address and n agents, gen1 and so on, in the namespaces given
// or in none.
func newField(t testing.TB, listen, allow, lease string, n int, netns []string) *field {
	t.Helper()
	f := &field{agents: map[string]*exec.Cmd{}}
	begin := f.newHub
	if ownServer {
		begin = f.newServer
	}
	dir, joins := begin(t, listen, n)
	for i := range n {
		name, ns := genName(i), ""
		if netns != nil {
			ns = netns[i]
		}
		line, cmd := child(t, ns, "FLEET_TEST=agent", "NAME="+name, "TICKET="+joins[i].ticket, "SEED="+joins[i].seed,
			"ALLOW=load="+allow, "LEASE="+lease)
		if line != "ready" {
			t.Fatalf("%s says %q", name, line)
		}
		f.agents[name] = cmd
	}
	access, err := dir.Operator()
	if err != nil {
		t.Fatal(err)
	}
	f.conn, err = bus.Connect(bus.Options{Address: access.Address, CA: access.CA, Cluster: access.Cluster,
		Seed: []byte(access.Seed), Name: fleet.Operator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.conn.Close)
	return f
}

func genName(i int) string { return fmt.Sprintf("gen%d", i+1) }
func (f *field) names() (out []string) {
	for i := range len(f.agents) {
		out = append(out, genName(i))
	}
	return out
}

// attack are options of a load of one target.
func attack(t testing.TB, url string, perSec float64, d time.Duration) vegeta.AttackOptions {
	t.Helper()
	o := vegeta.DefaultAttack()
	o.Encoding = vegeta.Gob
	o.Rate, o.Duration, o.Seed = perSec, d, 7
	b, err := json.Marshal(map[string]string{"method": "GET", "url": url})
	if err != nil {
		t.Fatal(err)
	}
	o.Stdin, o.Format = bytes.NewReader(b), vegeta.JSONTargets
	return o
}

// checkTarget wants each request of a load once, and none of another.
func checkTarget(t *testing.T, tg *target, want uint64) {
	t.Helper()
	tg.mu.Lock()
	defer tg.mu.Unlock()
	if uint64(len(tg.came)) != want || tg.more > 0 {
		t.Errorf("%d different requests came to the target, and %d twice; want %d", len(tg.came), tg.more, want)
	}
}
