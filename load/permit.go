package load

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// A Permit defines which addresses may be loaded: those of this host and private
// ones always, others only when their host was named. The address that is dialled
// counts, whatever name, redirect or proxy led there. The zero value allows no
// others.
type Permit struct {
	Hosts []string // names or addresses, as they stand in URLs, without port
}

// Check returns a [*ForbiddenError] when a connection to addr, for host, must
// not be made.
func (p Permit) Check(host string, addr netip.Addr) error {
	addr = addr.Unmap()
	if ownGround(addr) || p.Names(host) || p.Names(addr.String()) {
		return nil
	}
	return &ForbiddenError{Host: host, Addr: addr}
}

// Names reports whether the host was named.
func (p Permit) Names(host string) bool {
	return slices.ContainsFunc(p.Hosts, func(h string) bool { return plainHost(h) == plainHost(host) })
}

// ownGround reports whether a connection to an address ends on this host or in a
// network of the user's own: loopback; 0.0.0.0 and ::, which lead to loopback
// (ip(7)); RFC 1918; the unique local addresses of RFC 4193; and IPv6 link-local,
// which no router forwards.
//
// Not so IPv4 link-local, where clouds put a service of theirs, 169.254.169.254;
// nor 100.64.0.0/10, which belongs to the carrier (RFC 6598).
func ownGround(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.IsPrivate() || a.Is6() && a.IsLinkLocalUnicast()
}

// plainHost returns one spelling for what names the same host: lower case, in
// ASCII, no brackets, no dot at the end; of an address its shortest form, without
// zone.
func plainHost(h string) string {
	h = strings.TrimSuffix(strings.TrimPrefix(h, "["), "]")
	if a, err := netip.ParseAddr(h); err == nil {
		return a.Unmap().WithZone("").String()
	}
	return strings.ToLower(strings.TrimSuffix(ASCIIHost(h), "."))
}

// ASCIIHost returns the name by which name servers know a host, which net/http
// asks for: xn--bcher-kva.example for bücher.example. What is none is returned as
// it is.
func ASCIIHost(host string) string {
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

// A ForbiddenError reports that an address is neither loopback nor private, and
// that it was not permitted explicitly.
type ForbiddenError struct {
	Host string
	Addr netip.Addr // not valid: only the proxy before the host knows it
}

// Error names the address.
func (e *ForbiddenError) Error() string {
	switch {
	case !e.Addr.IsValid():
		return fmt.Sprintf("not sent: %s is reached through a proxy and has no address that is known here", e.Host)
	case plainHost(e.Host) == plainHost(e.Addr.String()):
		return fmt.Sprintf("not sent: %s is neither loopback nor private", e.Addr)
	}
	return fmt.Sprintf("not sent: %s of %s is neither loopback nor private", e.Addr, e.Host)
}

// Hint returns what to do.
func (e *ForbiddenError) Hint() string {
	return fmt.Sprintf("if you may load it, say so: --allow %s, or load.allow = ['%s'] in kasoku.toml", e.Host, e.Host)
}
