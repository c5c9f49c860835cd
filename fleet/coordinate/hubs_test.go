package coordinate

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/keys"
	"github.com/kasoku/kasoku/internal/test/natsserver"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// A joining is how an agent comes to a hub: by a ticket, or by the key that is known there.
type joining struct{ ticket, seed string }

// newHub starts one of kasoku's.
func (f *field) newHub(t testing.TB, listen string, n int) (*hubdir.Dir, []joining) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hub")
	if _, err := hubdir.Open(path, ""); err != nil {
		t.Fatal(err)
	}
	at, cmd := child(t, "", "FLEET_TEST=hub", "DIR="+path, "LISTEN="+listen)
	d, err := hubdir.Open(path, at)
	if err != nil {
		t.Fatal(err)
	}
	f.kill = func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() }
	f.rehub = func() { child(t, "", "FLEET_TEST=hub", "DIR="+path, "LISTEN="+at) }
	var out []joining
	for i := range n {
		ticket, err := d.Invite(genName(i), time.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, joining{ticket: ticket.String()})
	}
	return d, out
}

// newServer starts a nats-server that knows the hosts, as `kasoku hub cluster` has it.
func (f *field) newServer(t testing.TB, listen string, n int) (*hubdir.Dir, []joining) {
	t.Helper()
	if listen != "127.0.0.1:0" {
		t.Fatalf("listens on the loopback, not at %s", listen)
	}
	s := natsserver.Server{At: natsserver.Free(t), Dir: filepath.Join(t.TempDir(), "nats")}
	shown, err := hubdir.Open(s.Dir, s.At) // its key and certificate
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := shown.Operator()
	if err != nil {
		t.Fatal(err)
	}
	ticket := fleet.Ticket{Address: s.At, CA: certificate.CA, Cluster: true}
	known := map[string]string{}
	var out []joining
	for i := range n {
		seed, public, err := keys.New()
		if err != nil {
			t.Fatal(err)
		}
		known[genName(i)] = public
		out = append(out, joining{ticket.String(), string(seed)})
	}
	d, err := hubdir.OpenCluster(filepath.Join(t.TempDir(), "hub"), s.At, certificate.CA, known)
	if err != nil {
		t.Fatal(err)
	}
	access, err := d.Operator()
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(t, natsserver.TLS+fleet.ClusterUsers(access.Public, known))
	f.kill, f.rehub = s.Kill, func() { s.Start(t) }
	return d, out
}

// TestOwnServer: what holds by a hub of kasoku's holds by the distribution's nats-server.
func TestOwnServer(t *testing.T) {
	turn.Wait(t)
	ownServer = true
	defer func() { ownServer = false }()
	t.Run("Load", TestLoad)
	t.Run("Kinds", TestKinds)
	t.Run("KilledAgent", TestKilledAgent)
	t.Run("HubKilled", TestHubKilled)
	t.Run("Interrupted", TestInterrupted)
	t.Run("Lease", TestLease)
	t.Run("Refused", TestRefused)
}
