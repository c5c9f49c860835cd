//go:build amd64 || arm64

package epollhttp

import (
	"net"
	"os"
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
func (s *shard) submit(f *flight) {
	h := f.host
	switch {
	case h.err != nil:
		s.fail(f, h.err, true)
	case f.resent:
		s.queueUp(&h.fresh, f)
	case h.free.head != nil:
		s.attach(h.free.head, f)
	default:
		s.queueUp(&h.waiting, f)
	}
}

func (s *shard) queueUp(q *queue, f *flight) {
	q.push(f)
	s.waiting++
	s.dial(f.host)
}

// call returns the flight that has waited longest, nil when none waits. Those
// that need a new connection come first, and only when it is one.
func (s *shard) call(h *host, isNew bool) *flight {
	var f *flight
	if isNew {
		f = h.fresh.pop()
	}
	if f == nil {
		f = h.waiting.pop()
	}
	if f != nil {
		s.waiting--
	}
	return f
}

// offer gives the flights that wait to an open connection, and keeps it for later
// when there are not enough.
func (s *shard) offer(c *conn) {
	h, gen := c.host, c.gen
	for c.q.n < s.run.opts.Pipeline {
		f := s.call(h, c.used == 0 && c.q.n == 0)
		if f == nil {
			break
		}
		if s.attach(c, f); c.gen != gen {
			return
		}
	}
	if c.q.n == 0 && !c.idle {
		if h.idle >= h.maxIdle {
			s.conns.closeConn(c)
			return
		}
		c.idle, c.since = true, s.clock.at
		h.idle++
	}
	if c.q.n < s.run.opts.Pipeline && !c.free {
		c.free = true
		h.free.pushFront(c)
	}
	if h.fresh.n > 0 {
		s.dial(h)
	}
}

// dial opens as many connections as flights wait for, within the limits.
func (s *shard) dial(h *host) {
	per := s.run.opts.Pipeline
	for s.ending.aborted == nil {
		if (h.fresh.n+h.waiting.n+per-1)/per <= h.dialing || h.dialing >= maxDialing {
			return
		}
		if h.maxOpen > 0 && h.open >= h.maxOpen {
			old := h.free.tail
			if h.fresh.n == 0 || old == nil || !old.idle {
				return
			}
			s.conns.closeConn(old) // it makes room for the new one
		}
		s.open(h)
	}
}

// open begins a handshake. Addresses of the host take turns.
func (s *shard) open(h *host) {
	c := s.conns.newConn()
	c.host, c.state, c.began = h, connDialing, s.clock.at
	c.addr = h.turn % len(h.addrs)
	h.turn++
	h.open++
	h.dialing++
	s.conns.dialing.pushBack(c)
	s.dialNext(c, s.connect(c))
}

// dialNext goes on to the next address as long as one fails at once.
func (s *shard) dialNext(c *conn, err error) {
	for err != nil {
		if c.first == nil {
			c.first = err
		}
		s.conns.dropSocket(c)
		if c.tries++; c.tries >= len(c.host.addrs) {
			s.dialFailed(c, c.first)
			return
		}
		c.addr = (c.addr + 1) % len(c.host.addrs)
		err = s.connect(c)
	}
}

// connect begins a handshake with the address whose turn it is.
//
// EPOLLOUT is asked for from the beginning. That is free: a socket that has
// always taken what it was given reports it with the other events only, and the
// kernel wakes no thread for it (SOCK_NOSPACE).
func (s *shard) connect(c *conn) error {
	a := &c.host.addrs[c.addr]
	fd, e := openSocket(a.raw.family)
	if e != 0 {
		return s.dialError(c, "socket", e)
	}
	c.fd = fd
	if e := setInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); e != 0 {
		return s.dialError(c, "setsockopt", e)
	}
	if s.run.users == nil {
		// Where it is refused, answers are read when they come.
		_ = setInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	if from := s.run.sites.from; from != nil {
		if e := bindTo(fd, &from.raw); e != 0 {
			return s.dialError(c, "bind", e)
		}
	}
	if e := connectTo(fd, &a.raw); e != 0 && e != syscall.EINPROGRESS && e != syscall.EINTR {
		return s.dialError(c, "connect", e)
	}
	if e := epollAdd(s.poller.ep, fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET, c.slot, c.gen); e != 0 {
		return s.dialError(c, "epoll_ctl", e)
	}
	return nil
}

// connected ends a handshake and reports whether the connection is open.
func (s *shard) connected(c *conn, events uint32) bool {
	if events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		if e, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR); err == nil && e != 0 {
			h := c.host
			s.dialNext(c, s.dialError(c, "connect", syscall.Errno(e)))
			s.dial(h)
			return false
		}
	}
	if events&unix.EPOLLOUT == 0 {
		return false
	}
	s.conns.dialing.remove(c)
	c.host.dialing--
	c.state = connOpen
	s.count.connections++
	h, gen := c.host, c.gen
	s.offer(c)
	s.dial(h) // those that had to wait for the end of a handshake
	return c.gen == gen
}

// dialFailed ends a connection that could not be made, and with it the flight
// that has waited longest.
func (s *shard) dialFailed(c *conn, err error) {
	h := c.host
	s.conns.closeConn(c)
	if f := s.call(h, true); f != nil {
		s.fail(f, err, true)
	}
}

// dialError words a failed dial as package net does.
func (s *shard) dialError(c *conn, call string, e syscall.Errno) error {
	err := &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(c.host.addrs[c.addr].AddrPort),
		Err: os.NewSyscallError(call, e)}
	if from := s.run.sites.from; from != nil {
		err.Source = net.TCPAddrFromAddrPort(from.AddrPort)
	}
	return err
}
