//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/kasoku/kasoku/load"
)

// A site is where connections for one host and port go.
type site struct {
	addrs []address // in the order of the resolver; none when err is not nil
	err   error     // of the resolver
}

type address struct {
	netip.AddrPort
	raw sockaddr
}

// sites are those of all targets.
type sites struct {
	list []site
	of   []int // index into list, by target
	from *address
}

// sites finds the addresses of all targets before the load, so that no request
// waits for a name server. A name without address fails the requests to it, as
// with net/http; an address that may not be loaded is an error.
func (o *Options) sites(ctx context.Context, templates []template) (sites, error) {
	resolve := o.Resolve
	if resolve == nil {
		r, err := load.NewResolver(load.ResolverOptions{Permit: o.Permit})
		if err != nil {
			return sites{}, err
		}
		resolve = r.Addrs
	}
	p := sites{of: make([]int, len(templates))}
	if o.LocalAddr != "" {
		ip, err := netip.ParseAddr(o.LocalAddr)
		if err != nil {
			return sites{}, err
		}
		a := newAddress(netip.AddrPortFrom(ip, 0))
		p.from = &a
	}
	known := map[string]int{}
	for i := range templates {
		name := templates[i].host
		at, ok := known[name]
		if !ok {
			at = len(p.list)
			known[name] = at
			out, err := o.site(ctx, resolve, name)
			if err != nil {
				return sites{}, err
			}
			p.list = append(p.list, out)
		}
		p.of[i] = at
	}
	return p, nil
}

func (o *Options) site(ctx context.Context, resolve func(context.Context, string) ([]netip.AddrPort, error),
	name string) (site, error) {
	addrs, err := resolve(ctx, name)
	var forbidden *load.ForbiddenError
	switch {
	case errors.As(err, &forbidden) || err != nil && ctx.Err() != nil:
		return site{}, err
	case err != nil:
		return site{err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}, nil
	case len(addrs) == 0:
		return site{err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("missing address")}}, nil
	}
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		return site{}, err
	}
	var out site
	for _, a := range addrs {
		if err := o.Permit.Check(host, a.Addr()); err != nil {
			return site{}, err
		}
		out.addrs = append(out.addrs, newAddress(a))
	}
	return out, nil
}

func newAddress(a netip.AddrPort) address {
	a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	var zone uint32
	if name := a.Addr().Zone(); name != "" {
		if i, err := net.InterfaceByName(name); err == nil {
			zone = uint32(i.Index)
		}
	}
	return address{a, newSockaddr(a, zone)}
}
