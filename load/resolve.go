package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ResolverOptions configure where names lead.
type ResolverOptions struct {
	// ConnectTo has elements SRC:PORT:DST:PORT: connections for SRC:PORT go to
	// DST:PORT. The destinations of one source take turns. An IPv6 address stands
	// in brackets. Who may load SRC may load its destinations.
	ConnectTo []string
	Servers   []string      // name servers, as IP or IP:PORT, which take turns; none: the system's
	TTL       time.Duration // how long the addresses of a name are used; 0: for ever, below 0: once
	Permit    Permit
}

// A Resolver finds the addresses that connections for a host and port go to, and
// refuses those that may not be loaded: a client that dials only what a Resolver
// returns cannot load a forbidden address. It is safe for concurrent use.
type Resolver struct {
	dns       *net.Resolver
	connectTo map[string][]string // by source
	ttl       time.Duration
	permit    Permit

	mu    sync.Mutex
	known map[string]found // by host
	turns map[string]int   // connections so far, by host and port
}

type found struct {
	addrs []netip.Addr
	until time.Time // zero: for ever
}

// NewResolver returns a resolver. It fails when an option is written wrongly.
func NewResolver(o ResolverOptions) (*Resolver, error) {
	r := &Resolver{dns: net.DefaultResolver, connectTo: map[string][]string{}, ttl: o.TTL, permit: o.Permit,
		known: map[string]found{}, turns: map[string]int{}}
	for _, s := range o.ConnectTo {
		src, dst, err := parseConnectTo(s)
		if err != nil {
			return nil, err
		}
		r.connectTo[src] = append(r.connectTo[src], dst)
	}
	if len(o.Servers) == 0 {
		return r, nil
	}
	servers := make([]string, len(o.Servers))
	for i, s := range o.Servers {
		var err error
		if servers[i], err = parseServer(s); err != nil {
			return nil, err
		}
	}
	var n atomic.Uint64
	r.dns = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, servers[n.Add(1)%uint64(len(servers))])
	}}
	return r, nil
}

// parseConnectTo splits SRC:PORT:DST:PORT.
func parseConnectTo(s string) (src, dst string, err error) {
	bad := fmt.Errorf("bad connect-to %q: want SRC:PORT:DST:PORT", s)
	src, rest, ok := cutHostPort(s)
	if !ok || rest == "" || rest[0] != ':' {
		return "", "", bad
	}
	dst, rest, ok = cutHostPort(rest[1:])
	if !ok || rest != "" {
		return "", "", bad
	}
	return src, dst, nil
}

// cutHostPort takes HOST:PORT off the front of s, as [Resolver] spells it.
func cutHostPort(s string) (hostport, rest string, ok bool) {
	var host string
	if strings.HasPrefix(s, "[") {
		host, rest, ok = strings.Cut(s[1:], "]:")
	} else {
		host, rest, ok = strings.Cut(s, ":")
	}
	end := strings.IndexByte(rest, ':')
	if end < 0 {
		end = len(rest)
	}
	port, err := strconv.ParseUint(rest[:end], 10, 16)
	if !ok || host == "" || err != nil || port == 0 {
		return "", "", false
	}
	return net.JoinHostPort(plainHost(host), rest[:end]), rest[end:], true
}

// parseServer reads IP or IP:PORT, with or without brackets.
func parseServer(s string) (string, error) {
	if ap, err := netip.ParseAddrPort(s); err == nil && ap.Port() > 0 {
		return ap.String(), nil
	}
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil {
		return netip.AddrPortFrom(a, 53).String(), nil
	}
	return "", fmt.Errorf("bad resolver %q: want IP or IP:PORT", s)
}

// Addrs returns all addresses that connections for hostport go to, in the order
// of the name server; of several destinations, one destination after the other.
// It returns a [*ForbiddenError] when one of them may not be loaded.
func (r *Resolver) Addrs(ctx context.Context, hostport string) ([]netip.AddrPort, error) {
	var out []netip.AddrPort
	for _, dst := range r.destinations(hostport) {
		addrs, err := r.lookUp(ctx, hostport, dst)
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// Next returns the addresses of the next connection for hostport, in the order in
// which they are to be tried. Destinations take turns, and so do the addresses of
// one destination; those of the family that the name server puts first come
// before the others. It fails as Addrs does.
func (r *Resolver) Next(ctx context.Context, hostport string) ([]netip.AddrPort, error) {
	r.mu.Lock()
	turn := r.turns[hostport]
	r.turns[hostport]++
	r.mu.Unlock()
	dst := r.destinations(hostport)
	addrs, err := r.lookUp(ctx, hostport, dst[turn%len(dst)])
	if err != nil || len(addrs) < 2 {
		return addrs, err
	}
	turn /= len(dst)
	first := addrs[0].Addr().Is4()
	isFirst := func(a netip.AddrPort) bool { return a.Addr().Is4() == first }
	out := make([]netip.AddrPort, 0, len(addrs))
	for _, want := range []bool{true, false} {
		n := len(out)
		for _, a := range addrs {
			if isFirst(a) == want {
				out = append(out, a)
			}
		}
		rotateAddresses(out[n:], turn)
	}
	return out, nil
}

// rotateAddresses puts element n, counted round and round, to the front.
func rotateAddresses(s []netip.AddrPort, n int) {
	if len(s) < 2 {
		return
	}
	n %= len(s)
	slices.Reverse(s[:n])
	slices.Reverse(s[n:])
	slices.Reverse(s)
}

func (r *Resolver) destinations(hostport string) []string {
	if len(r.connectTo) > 0 {
		if src, _, ok := cutHostPort(hostport); ok && len(r.connectTo[src]) > 0 {
			return r.connectTo[src]
		}
	}
	return []string{hostport}
}

// lookUp returns the addresses of the destination dst of src, after a look whether
// each may be loaded for the host of src. It returns at least one address or an
// error.
func (r *Resolver) lookUp(ctx context.Context, src, dst string) ([]netip.AddrPort, error) {
	named, _, err := net.SplitHostPort(src)
	if err != nil {
		return nil, err
	}
	host, text, err := net.SplitHostPort(dst)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, &net.AddrError{Err: "invalid port", Addr: text}
	}
	addrs, err := r.host(ctx, host)
	if err != nil {
		return nil, err
	}
	out := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		if err := r.permit.Check(named, a); err != nil {
			return nil, err
		}
		out[i] = netip.AddrPortFrom(a, uint16(port))
	}
	return out, nil
}

// CheckViaProxy reports whether a proxy may be asked for host: it must be named, or
// have only addresses that may be loaded, as far as they are known here.
func (r *Resolver) CheckViaProxy(ctx context.Context, host string) error {
	if r.permit.Names(host) {
		return nil
	}
	addrs, err := r.host(ctx, host)
	if err != nil {
		return &ForbiddenError{Host: host}
	}
	for _, a := range addrs {
		if err := r.permit.Check(host, a); err != nil {
			return err
		}
	}
	return nil
}

// host returns the addresses of a host, which may be one itself.
func (r *Resolver) host(ctx context.Context, host string) ([]netip.Addr, error) {
	host = ASCIIHost(host)
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	now := time.Now()
	r.mu.Lock()
	f, ok := r.known[host]
	r.mu.Unlock()
	if ok && (f.until.IsZero() || now.Before(f.until)) {
		return f.addrs, nil
	}
	// Lookups of one name at the same time are one: net.Resolver sees to that.
	addrs, err := r.dns.LookupNetIP(ctx, "ip", host)
	if err != nil {
		var dns *net.DNSError
		if r.dns != net.DefaultResolver && errors.As(err, &dns) {
			dns.Server = "" // it names the system's, which was not asked
		}
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	if r.ttl >= 0 {
		f := found{addrs: addrs}
		if r.ttl > 0 {
			f.until = now.Add(r.ttl)
		}
		r.mu.Lock()
		r.known[host] = f
		r.mu.Unlock()
	}
	return addrs, nil
}
