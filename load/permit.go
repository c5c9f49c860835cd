package load

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Permit says which addresses may be loaded: loopback and private ones
// always, others only when their host was named. The address that is dialled
// counts, whatever name led there. The zero value allows no others.
type Permit struct {
	Hosts []string // names or addresses, as they stand in URLs, without port
}

// Check returns a [*ForbiddenError] when a connection to addr, for host, must
// not be made.
func (p Permit) Check(host string, addr netip.Addr) error {
	addr = addr.Unmap()
	if addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() {
		return nil
	}
	for _, h := range p.Hosts {
		if strings.EqualFold(h, host) || h == addr.String() {
			return nil
		}
	}
	return &ForbiddenError{Host: host, Addr: addr}
}

// A ForbiddenError says that an address is neither loopback nor private, and
// that nobody has said that it may be loaded.
type ForbiddenError struct {
	Host string
	Addr netip.Addr
}

// Error names the address.
func (e *ForbiddenError) Error() string {
	if e.Host == e.Addr.String() {
		return fmt.Sprintf("not sent: %s is neither loopback nor private", e.Addr)
	}
	return fmt.Sprintf("not sent: %s of %s is neither loopback nor private", e.Addr, e.Host)
}

// Hint says what to do.
func (e *ForbiddenError) Hint() string {
	return fmt.Sprintf("if you may load it, say so: --allow %s, or load.allow = ['%s'] in kasoku.toml", e.Host, e.Host)
}
