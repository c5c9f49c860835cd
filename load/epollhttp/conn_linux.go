//go:build amd64 || arm64

package epollhttp

import (
	"io"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/nethttp"
	"golang.org/x/sys/unix"
)

// The states of a connection.
const (
	connClosed = iota
	connDialing
	connOpen
)

// maxReads is how often one connection is read in its turn, so that an endless
// answer does not keep the others waiting.
const maxReads = 16

// keptRest is the largest buffer of an unsent rest that a connection keeps.
const keptRest = 4 << 10

// A conn is one connection. It has no buffer but for what the socket did not take;
// of a long body that is part of the template.
type conn struct {
	fd    int32
	slot  int32 // in shard.conns
	gen   int32 // how often the slot was used, to know events of an earlier connection
	state uint8
	free  bool // it is in host.free
	idle  bool // it is open and has no flight; counted in host.idle
	host  *host
	p     http1.Parser
	q     queue  // what was sent on it and has no answer yet, oldest first
	used  uint64 // answers that came
	rest  []byte // what the socket did not take at first
	sent  int    // how much of rest it took since
	bulk  []byte // and what goes out after it: the end of a request, in its template

	prev, next *conn // in host.free or in shard.dialing

	began time.Duration // of the handshake
	since time.Duration // when it became idle
	addr  int           // index into host.addrs
	tries int           // addresses that failed
	first error         // of the first address
}

// A connRef names a connection and is void when it is closed.
type connRef struct {
	c   *conn
	gen int32
}

// A connList is a list of connections, each in one list at a time.
type connList struct {
	head, tail *conn
}

func (l *connList) pushBack(c *conn) {
	c.prev, c.next = l.tail, nil
	if l.tail != nil {
		l.tail.next = c
	} else {
		l.head = c
	}
	l.tail = c
}

func (l *connList) pushFront(c *conn) {
	c.prev, c.next = nil, l.head
	if l.head != nil {
		l.head.prev = c
	} else {
		l.tail = c
	}
	l.head = c
}

func (l *connList) remove(c *conn) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.head = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.tail = c.prev
	}
	c.prev, c.next = nil, nil
}

// handle takes one event.
func (x *exchanges) handle(ev *unix.EpollEvent) {
	if ev.Fd < 0 {
		return // woken: the loop looks at its orders
	}
	c := x.conns.all[ev.Fd]
	if c.gen != ev.Pad {
		return // of a connection that was closed since
	}
	if c.state == connDialing && !x.connected(c, ev.Events) {
		return
	}
	if ev.Events&unix.EPOLLOUT != 0 && c.unsent() {
		x.sendRest(c)
		if c.gen != ev.Pad {
			return
		}
	}
	const readable = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	if ev.Events&readable != 0 {
		x.read(c, ev.Events&^unix.EPOLLIN&readable != 0)
	}
}

// attach sends a request on an open connection with room for it.
func (x *exchanges) attach(c *conn, f *flight) {
	h := c.host
	if c.idle {
		c.idle = false
		h.idle--
	}
	if c.free && c.q.n+1 >= x.run.opts.Pipeline {
		c.free = false
		h.free.remove(c)
	}
	f.conn = c
	f.reused = c.used > 0 || c.q.n > 0
	if c.q.n == 0 {
		x.conns.expect(c, f)
	}
	c.q.push(f)
	request, bodyBytes, ok := f.t.static()
	if !ok {
		x.out, bodyBytes = f.t.append(x.out[:0], f.hit.N)
		request = x.out
	}
	f.bodyOut = bodyBytes
	if c.unsent() {
		c.rest = append(append(c.rest, c.bulk...), request...)
		c.bulk = f.t.bulk
		return
	}
	n, e := sendTo(c.fd, request)
	switch {
	case e == 0:
		if f.wrote = n > 0; n < len(request) {
			x.conns.keepRest(c, request[n:], f.t.bulk)
		} else if len(f.t.bulk) > 0 {
			x.conns.keepRest(c, nil, f.t.bulk)
			x.sendRest(c)
		}
	case e == errAgain || e == syscall.EINTR:
		x.conns.keepRest(c, request, f.t.bulk)
	default:
		x.sendFailed(c, e)
	}
}

// unsent reports whether there is something that the socket did not take.
func (c *conn) unsent() bool { return len(c.rest)-c.sent+len(c.bulk) > 0 }

// sendRest sends what the socket did not take before.
func (x *exchanges) sendRest(c *conn) {
	for c.unsent() {
		part := c.rest[c.sent:]
		if len(part) == 0 {
			part = c.bulk
		}
		n, e := sendTo(c.fd, part)
		switch {
		case e == 0:
			if c.sent < len(c.rest) {
				c.sent += n
			} else {
				c.bulk = c.bulk[n:]
			}
			for f := c.q.head; f != nil; f = f.next {
				f.wrote = true // some of it may not be: then it is not sent again, which is never wrong
			}
		case e == errAgain:
			return
		case e != syscall.EINTR:
			x.sendFailed(c, e)
			return
		}
	}
	x.conns.forgetRest(c)
}

// read takes what has come. With the whole it reads to the end of what there
// is, because there will be no other event.
func (x *exchanges) read(c *conn, whole bool) {
	gen := c.gen
	for range maxReads {
		n, e := x.inbox.receive(c.fd, x.run.users == nil, x.clock.wall)
		switch {
		case e == errAgain:
			return
		case e == syscall.EINTR:
			continue
		case e != 0:
			x.readFailed(c, e)
			return
		case n == 0:
			x.readEOF(c)
			return
		}
		x.take(c, x.inbox.buf[:n])
		if c.gen != gen || n < len(x.inbox.buf) && !whole {
			return
		}
	}
	x.conns.unread = append(x.conns.unread, connRef{c, gen})
}

// readOn goes on with the connections that had more to read.
func (x *exchanges) readOn() {
	n := len(x.conns.unread)
	for _, ref := range x.conns.unread[:n] {
		if ref.c.gen == ref.gen {
			x.read(ref.c, true)
		}
	}
	x.conns.unread = x.conns.unread[:copy(x.conns.unread, x.conns.unread[n:])]
}

// take parses what came on a connection.
func (x *exchanges) take(c *conn, b []byte) {
	gen := c.gen
	for len(b) > 0 {
		f := c.q.head
		if f == nil {
			x.conns.closeConn(c) // not asked for
			return
		}
		n, done, err := c.feed(b)
		if err != nil {
			x.failHead(c, err)
			return
		}
		if !done {
			x.inbox.big = x.inbox.big || c.p.Body > deferredBody
			return
		}
		b = b[n:]
		x.answered(c, f, len(b) > 0)
		if c.gen != gen {
			return
		}
	}
}

// parserPart names the parser of answers where one makes it panic: that request has
// failed.
var parserPart = contain.Part{Kind: contain.Engine, Name: "answer"}

// feed gives the parser what has come.
func (c *conn) feed(b []byte) (n int, done bool, err error) {
	if contain.Run(parserPart, func() { n, done, err = c.p.Feed(b) }) != nil {
		return 0, false, load.ErrBug
	}
	return n, done, err
}

// answered ends the oldest flight of a connection, whose answer is complete.
func (x *exchanges) answered(c *conn, f *flight, more bool) {
	x.clock.now()
	c.q.remove(f)
	c.used++
	x.count.answers++
	x.inbox.big = x.inbox.big || c.p.Body > deferredBody
	keep := c.p.KeepAlive && !x.run.opts.NoKeepAlive && !c.unsent() && (c.q.n > 0 || !more)
	f.hit.Code = c.p.Code
	f.hit.BytesIn = nethttp.Counted(c.p.Body, x.run.opts.MaxBody)
	f.hit.BytesOut = f.bodyOut
	if f.hit.Code < 200 || f.hit.Code >= 400 {
		f.hit.Err = c.p.Status
	}
	x.flights.ages.remove(f)
	followed := x.run.opts.Follow != nil && len(c.p.Location) > 0 && nethttp.Redirects(c.p.Code)
	if followed {
		x.follows.follow(f, c.p.Code, string(c.p.Location))
	}
	switch {
	case !keep:
		x.dismiss(c)
	case c.q.n > 0:
		x.conns.expect(c, c.q.head)
		x.offer(c)
	default:
		x.offer(c)
	}
	if !followed {
		f.hit.Done = x.clock.at
		if f.hit.Sent < x.inbox.came && x.inbox.came < x.clock.at { // the wall clock may have been set
			f.hit.Done = x.inbox.came
		}
		x.ended(f)
	}
}

// dismiss closes a connection in good order; what was sent on it after the last
// answer is sent again or fails.
func (x *exchanges) dismiss(c *conn) {
	h := c.host
	q := c.q
	c.q = queue{}
	x.conns.closeConn(c)
	for f := q.pop(); f != nil; f = q.pop() {
		x.lost(f, io.EOF)
	}
	x.dial(h)
}
