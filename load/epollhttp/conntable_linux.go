//go:build amd64 || arm64

package epollhttp

import "github.com/kasoku/kasoku/load/http1"

// A connTable holds the connections of a shard.
type connTable struct {
	all     []*conn      // by slot; nil or closed ones are in unused
	unused  []int32      // slots without connection
	memos   []http1.Memo // by target, whose answers look alike
	dialing connList     // handshakes under way, in the order of their beginning
	unread  []connRef    // connections that had more to read than their turn allows
	rests   int          // connections whose socket did not take all
}

// newConn returns a closed connection with a slot.
func (t *connTable) newConn() *conn {
	if n := len(t.unused); n > 0 {
		c := t.all[t.unused[n-1]]
		t.unused = t.unused[:n-1]
		return c
	}
	c := &conn{slot: int32(len(t.all)), fd: -1}
	t.all = append(t.all, c)
	return c
}

// closeConn closes the socket. What was in flight on it is the caller's.
func (t *connTable) closeConn(c *conn) {
	h := c.host
	switch {
	case c.free:
		c.free = false
		h.free.remove(c)
	case c.state == connDialing:
		t.dialing.remove(c)
		h.dialing--
	}
	if c.idle {
		c.idle = false
		h.idle--
	}
	h.open--
	t.dropSocket(c)
	c.state = connClosed
	c.used, c.tries, c.first = 0, 0, nil
	if c.unsent() {
		t.forgetRest(c)
	}
	t.unused = append(t.unused, c.slot)
}

// dropSocket closes the socket; epoll forgets it by itself.
func (t *connTable) dropSocket(c *conn) {
	if c.fd >= 0 {
		closeSocket(c.fd)
		c.fd = -1
	}
	c.gen++
}

// expect makes a connection ready for the answer to f.
func (t *connTable) expect(c *conn, f *flight) {
	c.p.Memo = &t.memos[f.hit.Target]
	c.p.Start(f.t.head)
}

// keepRest keeps what the socket did not take until it takes more. The bulk is not
// copied.
func (t *connTable) keepRest(c *conn, rest, bulk []byte) {
	c.rest, c.bulk = append(c.rest, rest...), bulk
	t.rests++
}

// forgetRest ends the keeping of a rest.
func (t *connTable) forgetRest(c *conn) {
	t.rests--
	c.sent, c.bulk = 0, nil
	if c.rest = c.rest[:0]; cap(c.rest) > keptRest {
		c.rest = nil
	}
}
