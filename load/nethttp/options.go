package nethttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/kasoku/kasoku/load"
)

// Special values of [Options.Redirects].
const (
	NoFollow        = -1 // an answer that redirects is the answer, and a success
	RefuseRedirects = -2 // an answer that redirects is an error
)

// Defaults, which are Vegeta's.
const (
	DefaultTimeout     = 30 * time.Second
	DefaultConnections = 10_000
	DefaultRedirects   = 10
)

// Options configure how requests are sent. The zero value is ready to use.
type Options struct {
	Timeout time.Duration // from the send to the end of the answer, and the longest wait for a free slot; 0 means DefaultTimeout, below 0 none

	MaxInFlight    int // cap on requests in flight; 0 means [load.MaxInFlight]
	Connections    int // idle connections kept per host; 0 means DefaultConnections
	MaxConnections int // connections per host; 0 means no limit

	NoKeepAlive bool // a connection for each request
	NoHTTP2     bool // HTTP/1.1 only, also where the server offers HTTP/2
	H2C         bool // HTTP/2 without TLS, with prior knowledge

	TLS TLS

	Redirects   int   // followed per request; 0 means DefaultRedirects, or NoFollow, RefuseRedirects
	KeepAnswers bool  // headers and bodies are kept in the hits; bodies as far as MaxBody lets them count
	MaxBody     int64 // bytes of a body that count in BytesIn, the rest is read and dropped; 0 means all, below 0 none
	Chunked     bool  // send bodies with chunked transfer encoding

	Header      http.Header // added to each request, where the target does not set the same name
	SeqHeader   string      // name of a header that carries the request's number; empty sends none
	ProxyHeader http.Header // sent to an HTTP proxy with CONNECT

	Dial   Dial
	Permit load.Permit // which addresses may be loaded, in addition to loopback and private ones

	// Hard, when not nil, aborts the requests in flight at once when cancelled.
	Hard context.Context
}

// Dial says between which addresses connections are made.
type Dial struct {
	UnixSocket string // connect here, whatever the URL's host
	LocalAddr  string // IP address to connect from

	// ConnectTo has elements SRC:PORT:DST:PORT: what a URL or a proxy names as
	// SRC:PORT is dialled at DST:PORT. The destinations of one source take turns.
	// An IPv6 address stands in brackets.
	ConnectTo []string
	Resolvers []string      // name servers, as IP or IP:PORT, which take turns; none: the system's
	DNSTTL    time.Duration // how long the addresses of a name are used before it is looked up again; 0: as long as the load, below 0: for one connection
}

// TLS defines how the generator and the server prove who they are.
type TLS struct {
	Insecure  bool     // accept any certificate
	CertFile  string   // PEM, of the client
	KeyFile   string   // PEM; empty means CertFile
	RootFiles []string // PEM, certificate authorities instead of the system's
	Tickets   bool     // resume sessions
}

// Validate reports options that contradict each other.
func (o Options) Validate() error {
	switch {
	case o.H2C && o.NoHTTP2:
		return errors.New("h2c needs HTTP/2, which is switched off")
	case o.H2C && o.NoKeepAlive:
		return errors.New("h2c needs connections that are kept alive")
	case o.MaxInFlight < 0:
		return fmt.Errorf("bad cap on requests in flight %d", o.MaxInFlight)
	case o.Connections < 0:
		return fmt.Errorf("bad number of idle connections %d", o.Connections)
	case o.MaxConnections < 0:
		return fmt.Errorf("bad number of connections %d", o.MaxConnections)
	case o.Redirects < RefuseRedirects:
		return fmt.Errorf("bad number of redirects %d", o.Redirects)
	case o.Dial.LocalAddr != "" && net.ParseIP(o.Dial.LocalAddr) == nil:
		return fmt.Errorf("bad local address %q: want an IP address", o.Dial.LocalAddr)
	case o.TLS.KeyFile != "" && o.TLS.CertFile == "":
		return errors.New("a TLS key needs a certificate")
	}
	_, err := load.NewResolver(o.resolver())
	return err
}

func (o Options) resolver() load.ResolverOptions {
	return load.ResolverOptions{ConnectTo: o.Dial.ConnectTo, Servers: o.Dial.Resolvers, TTL: o.Dial.DNSTTL, Permit: o.Permit}
}

func (o Options) idle() int {
	if o.Connections > 0 {
		return o.Connections
	}
	return DefaultConnections
}

func (o Options) timeout() time.Duration {
	switch {
	case o.Timeout == 0:
		return DefaultTimeout
	case o.Timeout < 0:
		return 0
	}
	return o.Timeout
}

func (o Options) maxInFlight() int {
	if o.MaxInFlight > 0 {
		return o.MaxInFlight
	}
	return load.MaxInFlight()
}

// config reads the files and returns the TLS configuration.
func (t TLS) config() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: t.Insecure}
	if t.CertFile != "" {
		key := t.KeyFile
		if key == "" {
			key = t.CertFile
		}
		pair, err := tls.LoadX509KeyPair(t.CertFile, key)
		if err != nil {
			return nil, fmt.Errorf("tls certificate %q: %w", t.CertFile, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if len(t.RootFiles) > 0 {
		c.RootCAs = x509.NewCertPool()
	}
	for _, name := range t.RootFiles {
		pem, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("tls root certificates: %w", err)
		}
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls root certificates %q: no certificate in PEM form", name)
		}
	}
	return c, nil
}
