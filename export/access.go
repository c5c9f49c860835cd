package export

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// An Access defines who may read a page. The zero value lets everybody read who reaches
// it; on a loopback address those are the users of this host.
type Access struct {
	Token string // that a reader has to send: "Authorization: Bearer TOKEN" (RFC 6750); empty: none
}

// guard puts the rules in front of a handler that listens at an address.
//
// On a loopback address the Host of a request must name one too: a page of another
// site, whose name its owner lets lead to 127.0.0.1, is a browser's same origin and
// could read the metrics otherwise (DNS rebinding).
func (a Access) guard(at net.Addr, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(a.Token))
	local := isLoopback(at.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !isLoopback(r.Host) {
			http.Error(w, "this page is for names of this machine alone", http.StatusForbidden)
			return
		}
		if a.Token != "" {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			got := sha256.Sum256([]byte(strings.TrimSpace(token))) // of one length, whatever was sent
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !strings.EqualFold(scheme, "bearer") {
				w.Header().Set("WWW-Authenticate", `Bearer realm="kasoku"`)
				http.Error(w, "a token is needed", http.StatusUnauthorized)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// IsLoopback reports whether an address, HOST:PORT, is reached from this machine alone.
func IsLoopback(address string) bool { return isLoopback(address) }

// isLoopback takes HOST:PORT or HOST.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// mostConnections is how many a page has at once. A Prometheus uses one.
const mostConnections = 64

// A boundedListener accepts a connection only when fewer than its capacity are open:
// more wait in the kernel's queue.
type boundedListener struct {
	net.Listener
	free chan struct{}
	gone chan struct{} // closed with the listener
	once sync.Once     // closes gone
}

func boundListener(l net.Listener, most int) net.Listener {
	return &boundedListener{Listener: l, free: make(chan struct{}, most), gone: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.gone:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &boundedConn{Conn: c, done: func() { <-l.free }}, nil
}

// Close implements net.Listener.
func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.gone) })
	return l.Listener.Close()
}

// A boundedConn gives its place back once.
type boundedConn struct {
	net.Conn
	once sync.Once
	done func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.done)
	return err
}
