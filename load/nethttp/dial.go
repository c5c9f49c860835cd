package nethttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
)

// fallbackDelay is how long the addresses of the first family are tried alone, as
// in net.Dialer (RFC 6555, which says 150 to 250 ms; RFC 8305, 250 ms).
const fallbackDelay = 300 * time.Millisecond

// A dialer makes the connections of one load. It dials only addresses that the
// resolver gave it, so what is forbidden there is not dialled: targets, redirects
// and proxies alike. A Unix socket is always allowed.
type dialer struct {
	d        net.Dialer
	resolver *load.Resolver
	socket   string
	ctx      context.Context // of the load: dials that are still under way end with it
	made     atomic.Uint64
}

func (e *Engine) dialer(ctx context.Context) *dialer {
	d := &dialer{d: net.Dialer{Timeout: e.opts.timeout()}, resolver: e.resolver, socket: e.opts.Dial.UnixSocket, ctx: ctx}
	if ip := net.ParseIP(e.opts.Dial.LocalAddr); ip != nil && !ip.IsUnspecified() {
		d.d.LocalAddr = &net.TCPAddr{IP: ip}
	}
	return d
}

// dial makes a connection. It outlives the request that asked for it, so that the
// next one can use it, but not the load.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	conn, err := d.connect(ctx, network, addr)
	if err == nil {
		d.made.Add(1)
	}
	return conn, err
}

func (d *dialer) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.socket != "" {
		return d.d.DialContext(ctx, "unix", d.socket)
	}
	if d.d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.d.Timeout)
		defer cancel()
	}
	addrs, err := d.resolver.Next(ctx, addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	addrs = d.fitting(addrs)
	is4 := addrs[0].Addr().Is4()
	other := slices.IndexFunc(addrs, func(a netip.AddrPort) bool { return a.Addr().Is4() != is4 })
	if other < 0 {
		return load.DialInOrder(ctx, &d.d, network, addrs)
	}
	return d.race(ctx, network, addrs[:other], addrs[other:])
}

// fitting leaves the addresses that can be dialled from the local one.
func (d *dialer) fitting(addrs []netip.AddrPort) []netip.AddrPort {
	local, ok := d.d.LocalAddr.(*net.TCPAddr)
	if !ok {
		return addrs
	}
	is4 := local.IP.To4() != nil
	fit := slices.DeleteFunc(slices.Clone(addrs), func(a netip.AddrPort) bool { return a.Addr().Is4() != is4 })
	if len(fit) == 0 {
		return addrs // dialling says what is wrong
	}
	return fit
}

// dialPart names a connection's beginning where it fails.
var dialPart = contain.Part{Kind: contain.Engine, Name: "dial"}

// race tries the addresses of one family, and beside them those of the other when
// the first have failed or are slow. The error is that of the first to fail.
func (d *dialer) race(ctx context.Context, network string, first, second []netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	try := func(addrs []netip.AddrPort) {
		var r result
		r.err = contain.Do(dialPart, func() (err error) {
			r.conn, err = load.DialInOrder(ctx, &d.d, network, addrs)
			return err
		})
		results <- r
	}
	go try(first)
	slow := time.NewTimer(fallbackDelay)
	defer slow.Stop()
	var failed error
	for running := 1; running > 0; {
		select {
		case r := <-results:
			running--
			if r.err == nil {
				cancel()
				for ; running > 0; running-- {
					if late := <-results; late.conn != nil {
						late.conn.Close()
					}
				}
				return r.conn, nil
			}
			if failed == nil {
				failed = r.err
			}
		case <-slow.C:
		}
		if second != nil {
			go try(second)
			second = nil
			running++
		}
	}
	return nil, failed
}

// A route describes which proxy a request goes through, if any, and whether the proxy
// may be asked for its host.
func (e *Engine) route(req *http.Request) (*url.URL, error) {
	proxy, err := e.proxy(req)
	if proxy == nil || err != nil {
		return proxy, err
	}
	return proxy, e.resolver.CheckViaProxy(req.Context(), req.URL.Hostname())
}

// Permitted returns a [*load.ForbiddenError] when the host of a target, or the
// proxy before it, has an address that may not be loaded. What cannot be looked up
// is left for the load to find out. Nothing is dialled.
func (e *Engine) Permitted(ctx context.Context, targets []load.Target) error {
	return e.eachHost(targets, func(_, addr string, req *http.Request) error {
		if e.opts.Dial.UnixSocket != "" {
			return nil
		}
		_, err := e.resolver.Addrs(ctx, addr)
		if err == nil {
			_, err = e.route(req.WithContext(ctx))
		}
		var forbidden *load.ForbiddenError
		if errors.As(err, &forbidden) {
			return forbidden
		}
		return nil
	})
}

// Reach connects once to the host of each target, or to the proxy before it,
// without sending a request. It returns the first error, with a hint: a
// [*load.ForbiddenError] before anything is dialled, or an [*UnreachableError].
func (e *Engine) Reach(ctx context.Context, targets []load.Target) error {
	if err := e.Permitted(ctx, targets); err != nil {
		return err
	}
	d := e.dialer(ctx)
	return e.eachHost(targets, func(target, addr string, _ *http.Request) error {
		conn, err := d.dial(ctx, "tcp", addr)
		if err != nil {
			return &UnreachableError{URL: target, Err: err}
		}
		conn.Close()
		return nil
	})
}

// eachHost calls f once for each host and port that requests to the targets
// connect to, with the URL of the first such target, until there is an error.
func (e *Engine) eachHost(targets []load.Target, f func(target, addr string, req *http.Request) error) error {
	seen := map[[2]string]bool{}
	for _, t := range targets {
		u, err := url.Parse(firstURL(&t))
		if err != nil {
			return fmt.Errorf("target %q: %w", t.URL, err)
		}
		req := &http.Request{URL: u}
		addr := addressOf(u)
		if proxy, err := e.proxy(req); err == nil && proxy != nil {
			addr = addressOf(proxy)
		}
		if key := [2]string{addr, u.Host}; !seen[key] {
			seen[key] = true
			if err := f(t.URL, addr, req); err != nil {
				return err
			}
		}
	}
	return nil
}

func addressOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case strings.EqualFold(u.Scheme, "https"):
		port = "443"
	case strings.HasPrefix(u.Scheme, "socks5"):
		port = "1080"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
