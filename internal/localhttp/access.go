// Package localhttp is what all HTTP servers of kasoku's own have in front of their pages: who may read them, and
// how many connections there are at once.
//
// The one idea: on a loopback address only the users of this host come through, but so does the browser of one of
// them, with pages of any site in it. So the Host of a request has to be a name of this machine (DNS rebinding),
// and where there is a token it stands in a header or a cookie that no other site's request carries.
package localhttp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// An Access defines who may read a page. The zero value lets everybody read who reaches
// it; on a loopback address those are the users of this host.
type Access struct {
	// Token that a reader has to send: "Authorization: Bearer TOKEN" (RFC 6750); empty: none.
	Token string
	// Cookie that may hold the token instead; empty: none may. Who opens an address that ends in ?token=TOKEN gets
	// it, for this browser, and is led to the address without.
	Cookie string
	Secure bool     // the pages are sent by TLS: the cookie stays there
	Hosts  []string // other names of this server than those of this machine: of a proxy in front of it
}

// Guard puts the rules in front of a handler that listens at an address.
//
// On a loopback address the Host of a request must name one too: a page of another
// site, whose name its owner lets lead to 127.0.0.1, is a browser's same origin and
// could read the pages otherwise (DNS rebinding). On other addresses a request without the token is refused.
func (a Access) Guard(at net.Addr, next http.Handler) http.Handler {
	local := IsLoopback(at.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !IsLoopback(r.Host) && !a.named(r.Host) {
			http.Error(w, "this page is for names of this machine alone", http.StatusForbidden)
			return
		}
		if a.Token != "" && a.welcome(w, r) {
			return
		}
		if a.Token != "" && !a.known(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="kasoku"`)
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// named reports whether a Host is one of the other names: names have no case, and may end in a dot (RFC 4343).
func (a Access) named(host string) bool {
	host = strings.TrimSuffix(hostOf(host), ".")
	return slices.ContainsFunc(a.Hosts, func(name string) bool {
		return strings.EqualFold(strings.TrimSuffix(name, "."), host)
	})
}

// known reports whether a request has the token.
func (a Access) known(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") && a.equals(strings.TrimSpace(token)) {
		return true
	}
	if a.Cookie == "" {
		return false
	}
	return slices.ContainsFunc(r.CookiesNamed(a.Cookie), func(c *http.Cookie) bool { return a.equals(c.Value) })
}

// equals takes one time for all that may be sent.
func (a Access) equals(token string) bool {
	want, got := sha256.Sum256([]byte(a.Token)), sha256.Sum256([]byte(token)) // of one length
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// welcome gives the cookie to who has opened the address with the token in it.
func (a Access) welcome(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if a.Cookie == "" || r.Method != http.MethodGet || !a.equals(query.Get("token")) {
		return false
	}
	query.Del("token")
	http.SetCookie(w, &http.Cookie{Name: a.Cookie, Value: a.Token, Path: "/", HttpOnly: true, Secure: a.Secure,
		SameSite: http.SameSiteStrictMode})
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	// Relative to this server whatever the path says: //host would be another one.
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/\\"), RawQuery: query.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return true
}

// IsLoopback reports whether an address, HOST:PORT, is reached from this machine alone.
// It takes HOST, too.
func IsLoopback(address string) bool {
	host := hostOf(address)
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// hostOf takes the port off an address.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]")
	}
	return host
}

// A boundedListener accepts a connection only when fewer than its capacity are open:
// more wait in the kernel's queue.
type boundedListener struct {
	net.Listener
	free chan struct{}
	gone chan struct{} // closed with the listener
	once sync.Once     // closes gone
}

// Bound returns a listener that has so many connections open at once at the most.
func Bound(l net.Listener, most int) net.Listener {
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
