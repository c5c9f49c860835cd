package nethttp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

// counted starts a server that counts its requests.
func counted(t testing.TB) (addr string, n *atomic.Int64) {
	t.Helper()
	n = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n.Add(1) }))
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String(), n
}

func TestConnectTo(t *testing.T) {
	one, first := counted(t)
	two, second := counted(t)
	o := Options{NoKeepAlive: true, Dial: Dial{ConnectTo: []string{"www.example.com:80:" + one, "www.example.com:80:" + two}}}
	_, hits := attack(t, t.Context(), o, 10, get("http://www.example.com/"))
	for _, h := range hits {
		if h.Code != 200 {
			t.Errorf("bad hit %+v", h)
		}
	}
	if first.Load() != 5 || second.Load() != 5 {
		t.Errorf("%d and %d requests, want 5 and 5", first.Load(), second.Load())
	}
}

func TestResolvers(t *testing.T) {
	addr, n := counted(t)
	_, port, _ := net.SplitHostPort(addr)
	dns := loadtest.StartDNS(t)
	dns.Set("app.test", "127.0.0.1")
	o := Options{NoKeepAlive: true, MaxInFlight: 1, Dial: Dial{Resolvers: []string{dns.Addr}}}
	for _, ttl := range []time.Duration{0, 1, -1} {
		o.Dial.DNSTTL = ttl
		before := dns.Asked("app.test")
		if _, hits := attack(t, t.Context(), o, 5, get("http://app.test:"+port+"/")); hits[4].Code != 200 {
			t.Fatalf("bad hit %+v", hits[4])
		}
		lookups := (dns.Asked("app.test") - before) / 2
		if ttl == 0 && lookups != 1 || ttl != 0 && lookups < 5 {
			t.Errorf("ttl %d: %d lookups for 5 connections", ttl, lookups)
		}
	}
	if n.Load() != 15 {
		t.Errorf("%d requests, want 15", n.Load())
	}
	if h := first(t, o, get("http://other.test/")); h.Err != `Get "http://other.test/": dial tcp: lookup other.test: no such host` {
		t.Errorf("error is %q", h.Err)
	}
}

// TestSecondFamily proves that an address that does not answer is left for one of
// the other family.
func TestSecondFamily(t *testing.T) {
	addr, _ := counted(t)
	ap := netip.MustParseAddrPort(addr)
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := e.dialer(t.Context())
	refused := netip.AddrPortFrom(netip.IPv6Loopback(), ap.Port()) // httptest listens on IPv4
	for _, second := range [][]netip.AddrPort{{ap}, {refused, ap}} {
		conn, err := d.race(t.Context(), "tcp", []netip.AddrPort{refused, refused}, second)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if conn, err := d.race(t.Context(), "tcp", []netip.AddrPort{refused}, []netip.AddrPort{refused}); err == nil {
		conn.Close()
		t.Error("a connection to no one")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if conn, err := d.race(ctx, "tcp", []netip.AddrPort{ap}, []netip.AddrPort{ap}); err == nil {
		conn.Close()
		t.Error("a connection after the end")
	}
}

// tunnel is an HTTP proxy for CONNECT and plain requests that knows what it was
// asked for.
type tunnel struct {
	srv *httptest.Server
	mu  sync.Mutex
	saw []*http.Request
}

func startTunnel(t testing.TB) *tunnel {
	t.Helper()
	p := &tunnel{}
	p.srv = httptest.NewServer(p)
	t.Cleanup(p.srv.Close)
	return p
}

func (p *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.saw = append(p.saw, r)
	p.mu.Unlock()
	if r.Method != http.MethodConnect {
		fmt.Fprint(w, "from the proxy")
		return
	}
	there, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
	go io.Copy(there, rw)
	io.Copy(here, bufio.NewReader(there))
}

// proxied makes the engine use the proxy for all requests, as the environment
// does for those that do not go to loopback.
func proxied(t testing.TB, o Options, p *tunnel) *Engine {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(p.srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	e.proxy = http.ProxyURL(u)
	return e
}

// one sends one request through an engine.
func one(t testing.TB, e *Engine, target load.Target) (load.Hit, error) {
	t.Helper()
	s, err := load.Constant(1, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var c loadtest.Collector
	if _, err := e.Run(t.Context(), load.Plan{Schedule: s, Targets: []load.Target{target}}, time.Now(), &c); err != nil {
		return load.Hit{}, err
	}
	return c.All()[0], nil
}

func TestProxyHeader(t *testing.T) {
	secure := httptest.NewTLSServer(echo())
	defer secure.Close()
	p := startTunnel(t)
	e := proxied(t, Options{TLS: TLS{Insecure: true}, ProxyHeader: http.Header{"X-Tunnel": {"me"}}}, p)
	if h, err := one(t, e, get(secure.URL)); err != nil || h.Code != 200 {
		t.Fatalf("bad hit %+v, %v", h, err)
	}
	if len(p.saw) != 1 || p.saw[0].Method != "CONNECT" || p.saw[0].Header.Get("X-Tunnel") != "me" {
		t.Errorf("the proxy saw %+v", p.saw)
	}
	if err := e.Reach(t.Context(), []load.Target{get("http://127.0.0.1:1/")}); err != nil {
		t.Errorf("what is reached through a proxy is dialled: %v", err)
	}
}

func TestProxyMayNotBeAskedForAll(t *testing.T) {
	p := startTunnel(t)
	dns := loadtest.StartDNS(t)
	dns.Set("public.test", "192.0.2.1")
	dns.Set("own.test", "10.0.0.1")
	f := func(host string, ok bool) {
		t.Helper()
		before := len(p.saw)
		h, err := one(t, proxied(t, Options{Dial: Dial{Resolvers: []string{dns.Addr}}, Permit: load.Permit{Hosts: []string{"named.test"}}}, p), get("http://"+host+"/"))
		var forbidden *load.ForbiddenError
		if ok && (err != nil || h.Code != 200) || !ok && (!errors.As(err, &forbidden) || forbidden.Host != host || len(p.saw) != before) {
			t.Errorf("%s: %+v, %v", host, h, err)
		}
	}
	f("192.0.2.1", false)
	f("public.test", false)
	f("unknown.test", false)
	f("own.test", true)
	f("named.test", true)
	f("10.0.0.1", true)
}

// TestSessionTickets counts the TLS sessions that are resumed.
func TestSessionTickets(t *testing.T) {
	var resumed atomic.Int64
	srv := httptest.NewUnstartedServer(echo())
	srv.TLS = &tls.Config{VerifyConnection: func(s tls.ConnectionState) error {
		if s.DidResume {
			resumed.Add(1)
		}
		return nil
	}}
	srv.StartTLS()
	defer srv.Close()
	f := func(tickets bool, want int64) {
		t.Helper()
		resumed.Store(0)
		attack(t, t.Context(), Options{TLS: TLS{Insecure: true, Tickets: tickets}, NoHTTP2: true, NoKeepAlive: true, MaxInFlight: 1}, 5, get(srv.URL))
		if n := resumed.Load(); n != want {
			t.Errorf("tickets %v: %d of 5 sessions were resumed, want %d", tickets, n, want)
		}
	}
	f(false, 0)
	f(true, 4)
}

func TestForbidden(t *testing.T) {
	var forbidden *load.ForbiddenError
	f := func(o Options, url, host string) {
		t.Helper()
		e, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one(t, e, get(url)); !errors.As(err, &forbidden) || forbidden.Host != host {
			t.Errorf("%s: error of the load is %v", url, err)
		}
		if err := e.Reach(t.Context(), []load.Target{get(url)}); !errors.As(err, &forbidden) {
			t.Errorf("%s: error is %v", url, err)
		}
	}
	f(Options{}, "http://192.0.2.1/", "192.0.2.1")
	f(Options{}, "https://[2001:db8::1]:8443/", "2001:db8::1")
	f(Options{}, "http://169.254.169.254/latest", "169.254.169.254")
	f(Options{Dial: Dial{ConnectTo: []string{"localhost:80:192.0.2.1:80"}}}, "http://localhost/", "localhost")
	addr, n := counted(t)
	e, err := New(Options{Dial: Dial{ConnectTo: []string{"192.0.2.1:80:" + addr}}})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := one(t, e, get("http://192.0.2.1/")); err != nil || h.Code != 200 || n.Load() != 1 {
		t.Errorf("what is led to loopback gives %+v, %v", h, err)
	}
}

// TestRedirectIsForbidden: what a server says does not widen what may be loaded.
func TestRedirectIsForbidden(t *testing.T) {
	srv := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/x", http.StatusFound))
	defer srv.Close()
	h := first(t, Options{}, get(srv.URL))
	if want := `Get "http://192.0.2.1/x": dial tcp: not sent: 192.0.2.1 is neither loopback nor private`; h.Err != want || h.Code != 0 {
		t.Errorf("code %d, error %q, want %q", h.Code, h.Err, want)
	}
}
