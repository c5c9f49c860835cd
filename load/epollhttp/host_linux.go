//go:build amd64 || arm64

package epollhttp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// maxDialing is how many handshakes with one host a shard has under way at once.
// A server that stalls is so not flooded with SYNs; with a round trip of 1 ms it
// still is 256,000 connections a second.
const maxDialing = 256

// A host is where requests of one shard go, with the connections to it.
type host struct {
	*site
	turn    int // the address of the next connection
	maxOpen int // 0: no limit
	maxIdle int

	open    int      // connections, those under way included
	dialing int      // handshakes under way
	idle    int      // open connections without a flight
	free    connList // open ones with room for a flight, the one used last first

	waiting queue // flights that take the first connection that there is
	fresh   queue // flights that need a new one, after an old one had been closed
}

// submit sends a request on a connection that has room, or lets it wait for the
// first that has.
func (x *exchanges) submit(f *flight) {
	h := f.host
	switch {
	case h.err != nil:
		x.fail(f, h.err, true)
	case f.resent:
		x.queueUp(&h.fresh, f)
	case h.free.head != nil:
		x.attach(h.free.head, f)
	default:
		x.queueUp(&h.waiting, f)
	}
}

func (x *exchanges) queueUp(q *queue, f *flight) {
	q.push(f)
	x.waiting++
	x.dial(f.host)
}

// call returns the flight that has waited longest, nil when none waits. Those
// that need a new connection come first, and only when it is one.
func (x *exchanges) call(h *host, isNew bool) *flight {
	var f *flight
	if isNew {
		f = h.fresh.pop()
	}
	if f == nil {
		f = h.waiting.pop()
	}
	if f != nil {
		x.waiting--
	}
	return f
}

// offer gives the flights that wait to an open connection, and keeps it for later
// when there are not enough.
func (x *exchanges) offer(c *conn) {
	h, gen := c.host, c.gen
	for c.q.n < x.run.opts.Pipeline {
		f := x.call(h, c.used == 0 && c.q.n == 0)
		if f == nil {
			break
		}
		if x.attach(c, f); c.gen != gen {
			return
		}
	}
	if c.q.n == 0 && !c.idle {
		if h.idle >= h.maxIdle {
			x.conns.closeConn(c)
			return
		}
		c.idle, c.since = true, x.clock.at
		h.idle++
	}
	if c.q.n < x.run.opts.Pipeline && !c.free {
		c.free = true
		h.free.pushFront(c)
	}
	if h.fresh.n > 0 {
		x.dial(h)
	}
}

// dial opens as many connections as flights wait for, within the limits.
func (x *exchanges) dial(h *host) {
	per := x.run.opts.Pipeline
	for x.aborted == nil {
		if (h.fresh.n+h.waiting.n+per-1)/per <= h.dialing || h.dialing >= maxDialing {
			return
		}
		if h.maxOpen > 0 && h.open >= h.maxOpen {
			old := h.free.tail
			if h.fresh.n == 0 || old == nil || !old.idle {
				return
			}
			x.conns.closeConn(old) // it makes room for the new one
		}
		x.open(h)
	}
}

// open begins a handshake. Addresses of the host take turns.
func (x *exchanges) open(h *host) {
	c := x.conns.newConn()
	c.host, c.state, c.began = h, connDialing, x.clock.at
	c.addr = h.turn % len(h.addrs)
	h.turn++
	h.open++
	h.dialing++
	x.conns.dialing.pushBack(c)
	x.dialNext(c, x.dialer.connect(c))
}

// dialNext goes on to the next address as long as one fails at once.
func (x *exchanges) dialNext(c *conn, err error) {
	for err != nil {
		if c.first == nil {
			c.first = err
		}
		x.conns.dropSocket(c)
		if c.tries++; c.tries >= len(c.host.addrs) {
			x.dialFailed(c, c.first)
			return
		}
		c.addr = (c.addr + 1) % len(c.host.addrs)
		err = x.dialer.connect(c)
	}
}

// connected ends a handshake and reports whether the connection is open.
func (x *exchanges) connected(c *conn, events uint32) bool {
	if events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		if e, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR); err == nil && e != 0 {
			h := c.host
			x.dialNext(c, x.dialer.wrap(c, "connect", syscall.Errno(e)))
			x.dial(h)
			return false
		}
	}
	if events&unix.EPOLLOUT == 0 {
		return false
	}
	x.conns.dialing.remove(c)
	c.host.dialing--
	c.state = connOpen
	x.count.connections++
	h, gen := c.host, c.gen
	x.offer(c)
	x.dial(h) // those that had to wait for the end of a handshake
	return c.gen == gen
}

// dialFailed ends a connection that could not be made, and with it the flight
// that has waited longest.
func (x *exchanges) dialFailed(c *conn, err error) {
	h := c.host
	x.conns.closeConn(c)
	if f := x.call(h, true); f != nil {
		x.fail(f, err, true)
	}
}
