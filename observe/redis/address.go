package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
)

// A Server defines where a Redis is and how to get in.
type Server struct {
	// Address is host:port, the path of a Unix socket, redis://host:port, or
	// rediss://host:port for TLS. A URL without a port means 6379.
	Address  string
	User     string // of Redis 6 and later; empty: the default one
	Password string // empty: none is sent

	// For TLS, files as redis-cli takes them.
	CACert string // certificates of the authorities that are trusted; empty: those of the system
	Cert   string // certificate of this client, where the server wants one; with Key
	Key    string
	SNI    string // name that the server's certificate has to be for; empty: the host of Address
}

const defaultPort = "6379"

// A place is an address, read.
type place struct {
	network, address string
	host             string
	tls              bool
}

func placeOf(address string) (p place, err error) {
	if strings.HasPrefix(address, "/") {
		return place{network: "unix", address: address}, nil
	}
	if strings.Contains(address, "://") {
		return placeOfURL(address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return p, fmt.Errorf("%q: want host:port, the path of a socket, or rediss://host:port for TLS", address)
	}
	return place{network: "tcp", address: address, host: host}, nil
}

// placeOfURL reads redis://host:port and rediss://host:port. The number of a database
// may follow; the figures are of all databases anyway. The address is not repeated in
// errors when it may hold a password.
func placeOfURL(address string) (p place, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return p, errors.New("no URL: want rediss://host:port")
	case u.User != nil:
		return p, errors.New("a user or a password does not belong into the URL: user and password_env take them")
	case u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/0123456789") != "":
		return p, fmt.Errorf("%q: want redis://host:port, or rediss://host:port for TLS", address)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	return place{network: "tcp", address: net.JoinHostPort(u.Hostname(), port), host: u.Hostname(),
		tls: u.Scheme == "rediss"}, nil
}

// check reports what is wrong with a server, nil when nothing is.
func (s Server) check() error {
	p, err := placeOf(s.Address)
	switch {
	case err != nil:
		return fmt.Errorf("redis: address: %w", err)
	case !p.tls && s.CACert+s.Cert+s.Key+s.SNI != "":
		return errors.New("redis: cacert, cert, key and sni are for TLS: the address begins with rediss://")
	case (s.Cert == "") != (s.Key == ""):
		return errors.New("redis: a certificate and its key go together")
	}
	return nil
}

// connect dials, and shakes hands where it is TLS.
func (s Server) connect(ctx context.Context) (net.Conn, error) {
	p, err := placeOf(s.Address)
	if err != nil {
		return nil, fmt.Errorf("redis: address: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, p.network, p.address)
	if err != nil {
		return nil, fmt.Errorf("redis does not answer: %w", err)
	}
	if !p.tls {
		return conn, nil
	}
	c, err := s.config(p.host)
	if err == nil {
		over := tls.Client(conn, c)
		limited, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		if err = over.HandshakeContext(limited); err == nil {
			return over, nil
		}
	}
	_ = conn.Close() // it was not used
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &hintedError{fmt.Errorf("redis: TLS: no answer to the handshake within %s", answerLimit),
			"does it speak TLS there? address = 'redis://…'"}
	}
	return nil, hinted(fmt.Errorf("redis: TLS: %w", err))
}

// config says whom to trust. The files are read each time, for they are renewed.
func (s Server) config(host string) (*tls.Config, error) {
	name := s.SNI
	if name == "" {
		name = host
	}
	out := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}
	if s.Cert != "" {
		own, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("cert and key: %w", err)
		}
		out.Certificates = []tls.Certificate{own}
	}
	if s.CACert == "" {
		return out, nil
	}
	text, err := os.ReadFile(s.CACert)
	if err != nil {
		return nil, fmt.Errorf("cacert: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("cacert: %s: holds no certificate", s.CACert)
	}
	out.InsecureSkipVerify = true // what follows verifies
	out.VerifyConnection = func(c tls.ConnectionState) error { return verify(c.PeerCertificates, roots, name) }
	return out, nil
}

// verify holds a server's certificate to an authority that was named for it. One that
// is for no name at all, as Redis's own gen-test-certs.sh makes them, need not be for
// this one: redis-cli never looks.
func verify(chain []*x509.Certificate, roots *x509.CertPool, name string) error {
	if len(chain) == 0 {
		return errors.New("the server has no certificate")
	}
	leaf, between := chain[0], x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if len(leaf.DNSNames)+len(leaf.IPAddresses)+len(leaf.URIs)+len(leaf.EmailAddresses) == 0 {
		name = ""
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: name,
		CurrentTime: time.Now()})
	return err
}
