package epollhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// Options configure how requests are sent. The zero value is ready to use.
type Options struct {
	Timeout time.Duration // from the send to the end of the answer, and the longest wait for a free slot; 0 means [nethttp.DefaultTimeout], below 0 none

	MaxInFlight    int // cap on requests in flight; 0 means [load.MaxInFlight]
	MaxConnections int // per host; 0 means no limit but MaxInFlight
	IdleConns      int // connections kept per host while they have nothing to do; 0 means [nethttp.DefaultConnections]
	Pipeline       int // requests in flight on one connection; 0 means 1

	NoKeepAlive bool // a connection for each request

	MaxBody   int64       // bytes of a body that count in BytesIn; 0 means all, below 0 none
	Chunked   bool        // send bodies with chunked transfer encoding
	Header    http.Header // added to each request, where the target does not set the same name
	LocalAddr string      // IP address to connect from
	SeqHeader string      // name of a header that carries the request's number; empty sends none

	Pacing load.Pacing // empty: load.Precise
	Shards int         // threads that send; 0: as many as the cores allow
	Permit load.Permit

	// Resolve returns the addresses of a URL's host and port, in the order in which
	// they are tried; connections go to them in turn. nil: the system's resolver.
	// It is called before the load begins, not in it.
	Resolve func(ctx context.Context, hostport string) ([]netip.AddrPort, error)

	// Follow, when not nil, takes an answer that redirects and returns when the
	// request has come to its end, with Code, BytesIn, BytesOut and Err of the hit
	// filled in. It is called on a goroutine of its own; the request stays in flight
	// meanwhile. location is the header's value. nil: such an answer is the answer.
	Follow func(ctx context.Context, h *load.Hit, code int, location string)

	// Hard, when not nil, aborts the requests in flight at once when cancelled.
	Hard context.Context
}

// Validate reports options that make no sense.
func (o Options) Validate() error {
	if _, err := load.ParsePacing(string(o.Pacing)); err != nil {
		return err
	}
	switch {
	case o.MaxInFlight < 0:
		return fmt.Errorf("bad cap on requests in flight %d", o.MaxInFlight)
	case o.MaxConnections < 0:
		return fmt.Errorf("bad number of connections %d", o.MaxConnections)
	case o.IdleConns < 0:
		return fmt.Errorf("bad number of idle connections %d", o.IdleConns)
	case o.Pipeline < 0:
		return fmt.Errorf("bad number of requests in flight on one connection %d", o.Pipeline)
	case o.Shards < 0:
		return fmt.Errorf("bad number of shards %d", o.Shards)
	}
	if o.LocalAddr != "" {
		if _, err := netip.ParseAddr(o.LocalAddr); err != nil {
			return fmt.Errorf("bad local address %q: want an IP address", o.LocalAddr)
		}
	}
	return nil
}

// filled returns the options with the defaults, which are those of the engine
// nethttp, in place of zeros. Timeout is then 0 when there is none.
func (o Options) filled() Options {
	switch {
	case o.Timeout == 0:
		o.Timeout = nethttp.DefaultTimeout
	case o.Timeout < 0:
		o.Timeout = 0
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = load.MaxInFlight()
	}
	if o.IdleConns == 0 {
		o.IdleConns = nethttp.DefaultConnections
	}
	if o.Pipeline == 0 || o.NoKeepAlive {
		o.Pipeline = 1
	}
	if o.Pacing == "" {
		o.Pacing = load.Precise
	}
	return o
}
