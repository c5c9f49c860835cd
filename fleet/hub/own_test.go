package hub

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/bus"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/internal/test/natsserver"
)

// An ownServer is the distribution's nats-server as a hub, configured as `kasoku hub cluster` has it.
type ownServer struct{ natsserver.Server }

// onBoth attacks a hub of kasoku's, and a nats-server as the distribution has it.
func onBoth(t *testing.T, attack func(*testing.T, *rig)) {
	t.Run("hub", func(t *testing.T) { attack(t, newRig(t)) })
	t.Run("nats-server", func(t *testing.T) { attack(t, newOwnRig(t)) })
}

func newOwnRig(t *testing.T) *rig {
	t.Helper()
	s := &ownServer{natsserver.Server{At: natsserver.Free(t), Dir: filepath.Join(t.TempDir(), "nats")}}
	shown, err := hubdir.Open(s.Dir, s.At) // its key and certificate
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := shown.Operator()
	if err != nil {
		t.Fatal(err)
	}
	d, err := hubdir.OpenCluster(filepath.Join(t.TempDir(), "hub"), s.At, certificate.CA, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Serve(t, natsserver.TLS)
	return &rig{t: t, dir: d, addr: s.At, ca: certificate.CA, own: s}
}

// add makes a host a member.
func (s *ownServer) add(r *rig, host string, seed []byte) {
	r.t.Helper()
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		r.t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		r.t.Fatal(err)
	}
	if r.dir, err = hubdir.OpenCluster(r.dir.Path, r.addr, r.ca, map[string]string{host: public}); err != nil {
		r.t.Fatal(err)
	}
	members, err := r.dir.Members()
	if err != nil {
		r.t.Fatal(err)
	}
	access, err := r.dir.Operator()
	if err != nil {
		r.t.Fatal(err)
	}
	s.Serve(r.t, natsserver.TLS+fleet.ClusterUsers(access.Public, maps.Clone(members)))
}

// handshake is how somebody who speaks NATS by himself begins: a server as it comes speaks before TLS.
func (r *rig) handshake() nats.Option {
	if r.own != nil {
		return func(*nats.Options) error { return nil }
	}
	return nats.TLSHandshakeFirst()
}

// ownLogged waits for what a nats-server logs, when it is the hub.
func (r *rig) ownLogged(words ...string) {
	r.t.Helper()
	if r.own != nil {
		r.own.Logged(r.t, words...)
	}
}

// joined makes a host a member, and ends that connection.
func (r *rig) joined(host string, seed []byte) []byte {
	r.t.Helper()
	if r.own != nil {
		r.own.add(r, host, seed)
		return seed
	}
	c, err := bus.Connect(bus.Options{Address: r.addr, CA: r.ca, Seed: seed, Name: host,
		Token: r.token(host, time.Minute)})
	if err != nil {
		r.t.Fatal(err)
	}
	c.Close()
	return seed
}
