package hub

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/bus"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/keys"
	"github.com/kasoku/kasoku/internal/test/smalldisk"
)

// A rig is a hub under attack.
type rig struct {
	t    *testing.T
	dir  *hubdir.Dir
	addr string
	ca   string
	own  *ownServer // is the hub; nil: one of kasoku's

	noted atomic.Int32 // what the hub could not log
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return rigIn(t, t.TempDir())
}

func rigIn(t *testing.T, parent string) *rig {
	t.Helper()
	d, err := hubdir.Open(filepath.Join(parent, "hub"), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	r := &rig{t: t, dir: d}
	go func() {
		ended <- Run(ctx, d, "127.0.0.1:0", func(a string) { ready <- a },
			func(err error) { r.noted.Add(1); t.Log(err) })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case r.addr = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	if r.dir, err = hubdir.Open(d.Path, r.addr); err != nil {
		t.Fatal(err)
	}
	access, err := r.dir.Operator()
	if err != nil {
		t.Fatal(err)
	}
	r.ca = access.CA
	return r
}

func (r *rig) key() []byte {
	r.t.Helper()
	seed, _, err := keys.New()
	if err != nil {
		r.t.Fatal(err)
	}
	return seed
}

func (r *rig) token(host string, life time.Duration) string {
	r.t.Helper()
	ticket, err := r.dir.Invite(host, time.Now().Add(life))
	if err != nil {
		r.t.Fatal(err)
	}
	return ticket.Token
}

// connect connects as a host, and ends the connection with the test.
func (r *rig) connect(name, token string, seed []byte) error {
	c, err := bus.Connect(bus.Options{Address: r.addr, CA: r.ca, Seed: seed, Name: name, Token: token,
		Cluster: r.own != nil})
	if err == nil {
		r.t.Cleanup(c.Close)
	}
	return err
}

// raw connects as somebody who speaks NATS by himself.
func (r *rig) raw(seed []byte, inbox string, errs chan error) *nats.Conn {
	r.t.Helper()
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		r.t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		r.t.Fatal(err)
	}
	nc, err := nats.Connect("nats://"+r.addr, nats.Secure(&tls.Config{InsecureSkipVerify: true}), r.handshake(),
		nats.Nkey(public, pair.Sign), nats.CustomInboxPrefix(inbox), nats.NoReconnect(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }),
		nats.ClosedHandler(func(nc *nats.Conn) { errs <- fmt.Errorf("closed: %w", nc.LastError()) }))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(nc.Close)
	return nc
}

// logged waits for a line of the log with all these words.
func (r *rig) logged(words ...string) {
	r.t.Helper()
	if r.own != nil { // it has a log of its own
		return
	}
	path := filepath.Join(r.dir.Path, "audit.log")
	if slices.Contains(words, hubdir.Refused) {
		path = filepath.Join(r.dir.Path, "refused.log")
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		b, err := os.ReadFile(path)
		for line := range bytes.Lines(b) {
			all := true
			for _, w := range words {
				all = all && bytes.Contains(line, []byte(w))
			}
			if all {
				var e hubdir.Event
				if err := json.Unmarshal(line, &e); err != nil || e.Time.IsZero() {
					r.t.Errorf("bad line of the log: %q, %v", line, err)
				}
				return
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the log has no line with %q: %v\n%s", words, err, b)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestJoin: a token lets one host join, once, in time, under its name; afterwards its key
// is what it comes in with.
func TestJoin(t *testing.T) {
	r := newRig(t)
	seed, token := r.key(), r.token("gen1", time.Minute)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, bus.ErrRefused) {
			t.Errorf("%s: error is %v", what, err)
		}
	}
	refused("no token", r.connect("gen1", "", seed))
	r.logged("refused", "no member", "gen1")
	refused("another name", r.connect("gen2", token, seed))
	r.logged("refused", "the token is for gen1")
	if err := r.connect("gen1", token, seed); err != nil {
		t.Fatal(err)
	}
	r.logged("joined", "gen1")
	if err := r.connect("gen1", "", seed); err != nil {
		t.Errorf("its key alone: %v", err)
	}
	refused("replayed token", r.connect("gen9", token, r.key()))
	r.logged("refused", "was used", "gen9")
	refused("old token", r.connect("gen3", r.token("", -time.Second), r.key()))
	r.logged("refused", "too old")
	refused("taken name", r.connect("gen1", r.token("", time.Minute), r.key()))
	r.logged("refused", "another key has this name")
	refused("bad name", r.connect("Gen1", r.token("", time.Minute), r.key()))
	refused("operator's name", r.connect(fleet.Operator, r.token("", time.Minute), r.key()))
	if err := r.dir.Remove("gen1"); err != nil {
		t.Fatal(err)
	}
	refused("removed", r.connect("gen1", "", seed))
	b, err := os.ReadFile(filepath.Join(r.dir.Path, "audit.log"))
	if err != nil || strings.Contains(string(b), token) || strings.Contains(string(b), string(seed)) {
		t.Errorf("the log holds a secret, or nothing: %v", err)
	}
}

// TestTokenRace: of many at once with one token one joins.
func TestTokenRace(t *testing.T) {
	r := newRig(t)
	token := r.token("", time.Minute)
	errs := make(chan error)
	for i := range 8 {
		_, public, err := keys.New()
		if err != nil {
			t.Fatal(err)
		}
		d, err := hubdir.Open(r.dir.Path, r.addr) // as another process, with a lock of its own
		if err != nil {
			t.Fatal(err)
		}
		go func() { errs <- d.Join(fmt.Sprintf("gen%d", i), public, token, time.Now()) }()
	}
	joined := 0
	for range 8 {
		if <-errs == nil {
			joined++
		}
	}
	if joined != 1 {
		t.Errorf("%d joined with one token", joined)
	}
}

// TestPin: somebody else's certificate is refused, and so is who speaks before TLS.
func TestPin(t *testing.T) {
	r := newRig(t)
	other := newRig(t)
	_, err := bus.Connect(bus.Options{Address: other.addr, CA: r.ca, Seed: r.key(), Name: "gen1"})
	var pin *bus.PinError
	if !errors.As(err, &pin) {
		t.Errorf("error is %v", err)
	}
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _ := c.Read(b); n > 0 {
		t.Errorf("it said before TLS: %q", b[:n])
	}
}

// TestStolenKey: who names a member's key without holding it is refused.
func TestStolenKey(t *testing.T) { onBoth(t, stolenKey) }

func stolenKey(t *testing.T, r *rig) {
	seed := r.joined("gen1", r.key())
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	mine, err := nkeys.FromSeed(r.key())
	if err != nil {
		t.Fatal(err)
	}
	_, err = nats.Connect("nats://"+r.addr, nats.Secure(&tls.Config{InsecureSkipVerify: true}), r.handshake(),
		nats.Nkey(public, mine.Sign))
	if !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("error is %v", err)
	}
	r.logged("refused", "does not hold the key")
	r.ownLogged("authentication error")
}

// TestSubjects: a host hears no questions but its own, asks none, and answers only what it
// was asked, once.
func TestSubjects(t *testing.T) { onBoth(t, subjects) }

func subjects(t *testing.T, r *rig) {
	access, err := r.dir.Operator()
	if err != nil {
		t.Fatal(err)
	}
	seed := r.joined("gen1", r.key())
	errs := make(chan error, 100)
	nc := r.raw(seed, "_INBOX.gen1", errs)
	refused := func(what string) {
		t.Helper()
		select {
		case err := <-errs:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: error is %v", what, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: it is not refused", what)
		}
	}
	for _, subject := range []string{">", "kasoku.ask.*.load", "kasoku.ask.gen2.hello", "_INBOX.operator.>", "$SYS.>", "kasoku.ask.gen1.>", "kasoku.ask.gen1.*"} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		refused("subscribe " + subject)
	}
	r.logged("violation", "kasoku.ask.gen2.hello")
	r.ownLogged("Subscription Violation", "kasoku.ask.gen2.hello")
	for _, subject := range []string{"kasoku.ask.gen2.load", "kasoku.ask.gen1.load", "_INBOX.operator.x", "other"} {
		if err := nc.Publish(subject, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		refused("publish " + subject)
	}
	r.logged("violation", "kasoku.ask.gen2.load")
	r.ownLogged("Publish Violation", "kasoku.ask.gen2.load")

	// It answers twice; the second answer is refused.
	if _, err := nc.Subscribe(fleet.Subject("gen1", fleet.Hello), func(m *nats.Msg) {
		_ = m.Respond([]byte("{}"))
		_ = m.Respond([]byte("{}"))
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	op := r.raw([]byte(access.Seed), "_INBOX."+fleet.Operator, make(chan error, 100))
	if m, err := op.Request(fleet.Subject("gen1", fleet.Hello), []byte("{}"), 5*time.Second); err != nil || string(m.Data) != "{}" {
		t.Fatalf("%v", err)
	}
	refused("second answer")
}

// TestOversize: a message beyond the limit ends the connection, and nothing else.
func TestOversize(t *testing.T) {
	r := newRig(t)
	seed := r.key()
	if err := r.connect("gen1", r.token("gen1", time.Minute), seed); err != nil {
		t.Fatal(err)
	}
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.Dial("tcp", r.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64<<10)
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Nonce string }
	if err := json.Unmarshal(bytes.TrimPrefix(b[:n], []byte("INFO ")), &info); err != nil {
		t.Fatalf("%v: %q", err, b[:n])
	}
	sig, err := pair.Sign([]byte(info.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	hello, err := json.Marshal(map[string]any{"nkey": public, "sig": rawURL(sig), "name": "gen1", "verbose": false})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "CONNECT %s\r\nPING\r\nPUB kasoku.none %d\r\n", hello, maxMessage+1)
	var got []byte
	for {
		n, err := c.Read(b)
		got = append(got, b[:n]...)
		if err != nil {
			break
		}
	}
	if !strings.Contains(string(got), "Maximum Payload Violation") {
		t.Errorf("it says %q", got)
	}
	r.logged("violation", "payload")
	if err := r.connect("gen1", "", seed); err != nil {
		t.Error(err)
	}
}

// TestSilent: who says nothing is cut off.
func TestSilent(t *testing.T) {
	r := newRig(t)
	c, err := tls.Dial("tcp", r.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(3 * joinTime)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64<<10)
	for err == nil {
		_, err = c.Read(b)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it is still there")
	}
}

func rawURL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// TestRemoved: a host that is taken out is cut off, whose key is refused from then on; the
// others stay.
func TestRemoved(t *testing.T) {
	r := newRig(t)
	seed := r.key()
	stays := r.raw(r.joined("gen2", r.key()), "_INBOX.gen2", make(chan error, 10))
	errs := make(chan error, 10)
	gone := r.raw(r.joined("gen1", seed), "_INBOX.gen1", errs)
	if err := r.dir.Remove("gen1"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-errs:
	case <-time.After(10 * time.Second):
		t.Fatal("it is still connected")
	}
	if !gone.IsClosed() || stays.IsClosed() {
		t.Errorf("gen1 closed: %v, gen2 closed: %v", gone.IsClosed(), stays.IsClosed())
	}
	r.logged(hubdir.Cut, "no member any more")
	if err := r.connect("gen1", "", seed); !errors.Is(err, bus.ErrRefused) {
		t.Errorf("error is %v", err)
	}
	r.logged(hubdir.Refused, `"Claims":"gen1"`)
}

// TestTwice: of two connections of one host the newer one stays, so that one of them answers.
func TestTwice(t *testing.T) {
	r := newRig(t)
	seed := r.joined("gen1", r.key())
	errs := make(chan error, 10)
	older := r.raw(seed, "_INBOX.gen1", errs)
	newer := r.raw(seed, "_INBOX.gen1", make(chan error, 10))
	select {
	case <-errs:
	case <-time.After(10 * time.Second):
		t.Fatal("both are connected")
	}
	if !older.IsClosed() || newer.IsClosed() {
		t.Errorf("older closed: %v, newer closed: %v", older.IsClosed(), newer.IsClosed())
	}
	r.logged(hubdir.Cut, "gen1", "connected again")
}

// TestFullDisk: what cannot be logged is not let in, and who runs the hub reads why.
func TestFullDisk(t *testing.T) {
	dir := smalldisk.Mount(t, "1m")
	r := rigIn(t, dir)
	seed := r.key()
	if err := r.connect("gen1", r.token("gen1", time.Minute), seed); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	// The log's last page has room for some lines.
	for deadline := time.Now().Add(20 * time.Second); r.noted.Load() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing is said of a log that cannot be kept")
		}
		_ = r.connect("gen1", "", seed)
	}
	if err := r.connect("gen1", "", seed); err == nil {
		t.Error("a host comes in that no log names")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := r.connect("gen1", "", seed); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
