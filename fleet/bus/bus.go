// Package bus connects hosts of a fleet, and who coordinates them, to their hub: NATS over
// TLS from the first byte, each with a key of its own that never leaves it.
//
// The hub is known by the SHA-256 of its public key, not by a name or an authority, so a
// certificate of somebody else is refused whoever signed it. A host proves its key by
// signing a number of the hub's (nkeys, Ed25519).
//
// A [Conn] is safe for concurrent use. It connects again by itself for as long as it is
// open.
package bus

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/keys"
	"github.com/kasoku/kasoku/internal/contain"
)

// Options are how to connect.
type Options struct {
	Address string // HOST:PORT
	CA      string // SHA-256 of the hub's public key, in hexadecimal digits
	Seed    []byte // of the own key; see [keys.New]
	Name    string // of the host, or [fleet.Operator]
	Token   string // to join with; empty once the hub knows the key
	Via     string // Unix socket that leads to the hub; empty: its address
	Cluster bool   // the hub is a NATS server of somebody's own, which speaks before TLS begins

	// Changed, when not nil, is called when the connection is lost, with the reason, and with
	// nil when it is there again.
	Changed func(error)
}

// A Conn is a connection to a hub.
type Conn struct {
	nc      *nats.Conn
	closing *atomic.Bool
	gone    chan struct{}
}

// ErrRefused is wrapped by the error of [Connect] when the hub does not take the key or the
// token.
var ErrRefused = errors.New("the hub refuses this key or token")

// ErrNone is wrapped by the error of [Connect] when nothing listens there.
var ErrNone = errors.New("no hub answers there")

// PinError reports that something else than the hub listens at its address.
type PinError struct{ Got string }

// Error names what is wrong.
func (e *PinError) Error() string {
	return "the certificate there is not the hub's: its key is " + e.Got
}

func pinned(ca string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Names and authorities say nothing here; VerifyConnection holds the key instead.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			got := keys.Fingerprint(s.PeerCertificates[0])
			if subtle.ConstantTimeCompare([]byte(got), []byte(ca)) != 1 {
				return &PinError{Got: got}
			}
			return nil
		},
	}
}

// connectTime bounds one attempt to connect.
const connectTime = 5 * time.Second

// Connect connects once; it returns when the hub has taken the key, or with why not.
func Connect(o Options) (*Conn, error) {
	pair, err := nkeys.FromSeed(o.Seed)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	closing, gone := new(atomic.Bool), make(chan struct{})
	end := sync.OnceFunc(func() { close(gone) })
	changed := func(err error) {
		if o.Changed != nil && !closing.Load() {
			o.Changed(err)
		}
	}
	opts := []nats.Option{
		nats.Name(o.Name), nats.Secure(pinned(o.CA)), nats.Nkey(public, pair.Sign),
		nats.Timeout(connectTime), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second / 2),
		nats.ReconnectBufSize(-1), // a question that cannot be sent now is asked again
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
		nats.CustomInboxPrefix("_INBOX." + o.Name),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { changed(orLost(err)) }),
		nats.ReconnectHandler(func(*nats.Conn) { changed(nil) }),
		nats.ClosedHandler(func(*nats.Conn) { end() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { changed(err) }),
	}
	if !o.Cluster {
		opts = append(opts, nats.TLSHandshakeFirst())
	}
	if o.Via != "" {
		opts = append(opts, nats.SetCustomDialer(via(o.Via)))
	}
	if o.Token != "" {
		opts = append(opts, nats.Token(o.Token))
	}
	nc, err := nats.Connect("nats://"+o.Address, opts...)
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrNkeysNotSupported): // as long as no user of a cluster has a key
		return nil, fmt.Errorf("connect to hub %s: %w", o.Address, ErrRefused)
	case errors.Is(err, nats.ErrNoServers):
		return nil, fmt.Errorf("connect to hub %s: %w", o.Address, ErrNone)
	case err != nil:
		return nil, fmt.Errorf("connect to hub %s: %w", o.Address, err)
	}
	if what := lacks(nc, o.Cluster); what != "" {
		nc.Close()
		return nil, fmt.Errorf("connect to %s: it lacks %s", o.Address, what)
	}
	return &Conn{nc, closing, gone}, nil
}

// lacks returns what a server of somebody's own does not have.
func lacks(nc *nats.Conn, cluster bool) string {
	if !cluster {
		return ""
	}
	g := fleet.Greeted{Version: nc.ConnectedServerVersion(), MaxPayload: nc.MaxPayload(), Headers: nc.HeadersSupported(),
		TLSRequired: nc.TLSRequired()}
	what, _ := g.Lacks()
	return what
}

// via dials a Unix socket, whatever the address.
type via string

// Dial implements [nats.CustomDialer].
func (v via) Dial(string, string) (net.Conn, error) {
	return net.DialTimeout("unix", string(v), connectTime)
}

func orLost(err error) error {
	if err == nil {
		return errors.New("the connection to the hub is lost")
	}
	return err
}

// Gone returns a channel that is closed when the connection is, for good: by Close, or as the hub said something
// after which none is made again, as that it took too long to show the key.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Close ends the connection, with what was to be sent.
func (c *Conn) Close() {
	c.closing.Store(true)
	_ = c.nc.FlushTimeout(time.Second) // what it could not send is lost either way
	c.nc.Close()
}

// ErrAbsent is wrapped by the error of [Conn.Ask] when no such host is connected.
var ErrAbsent = errors.New(fleet.Absent)

// Ask asks a host and waits for the answer.
func (c *Conn) Ask(ctx context.Context, host, verb string, question, answer any) error {
	b, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("ask %s: %w", host, err)
	}
	if int64(len(b)) > c.nc.MaxPayload() {
		return fmt.Errorf("ask %s: %d bytes are more than the %d that a message holds", host, len(b), c.nc.MaxPayload())
	}
	m, err := c.nc.RequestWithContext(ctx, fleet.Subject(host, verb), b)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("ask %s: %w", host, ErrAbsent)
	case err != nil:
		return fmt.Errorf("ask %s: %w", host, err)
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		return fmt.Errorf("ask %s: bad answer: %w", host, err)
	}
	return nil
}

// An Answerer answers a question, which is JSON, with what can be written as JSON. It is
// called for several
// questions at once, though not of one verb.
type Answerer func(verb string, question []byte) any

var answerPart = contain.Part{Kind: contain.Step, Name: "answer"}

// Serve answers the questions for a host. It returns at once.
func (c *Conn) Serve(host string, answer Answerer) error {
	for _, verb := range fleet.Verbs {
		if _, err := c.nc.Subscribe(fleet.Subject(host, verb), func(m *nats.Msg) {
			_ = contain.Run(answerPart, func() {
				b, err := json.Marshal(answer(verb, m.Data))
				if err == nil {
					_ = m.Respond(b) // who asked asks again
				}
			})
		}); err != nil {
			return fmt.Errorf("listen to questions: %w", err)
		}
	}
	if err := c.nc.FlushTimeout(connectTime); err != nil {
		return fmt.Errorf("listen to questions: %w", err)
	}
	return nil
}
