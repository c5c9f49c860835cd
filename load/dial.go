package load

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// DialInOrder connects to the first address that answers. Each has its share of the
// time that is left of the context. The error is that of the first.
func DialInOrder(ctx context.Context, d *net.Dialer, network string, addrs []netip.AddrPort) (net.Conn, error) {
	var first error
	for i, a := range addrs {
		conn, err := dialOne(ctx, d, network, a, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

func dialOne(ctx context.Context, d *net.Dialer, network string, a netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	return d.DialContext(ctx, network, a.String())
}
