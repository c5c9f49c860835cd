package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/load/http1"
)

const (
	// readSize is how much is read at once: a list of twenty-five rows and more. A
	// connection has one such buffer.
	readSize = 32 << 10

	// minBulk is how long a body is that is sent from where it is. A shorter one is
	// sent with its header in one call.
	minBulk = 16 << 10

	// writeWait is how long an answer that is complete waits for its request to be
	// sent, before the connection is given up. It is net/http's.
	writeWait = 50 * time.Millisecond
)

// A phase is how far an exchange has come.
type phase uint8

const (
	checking  phase = iota // nothing may have come from the server, not even its end
	sending                // of the request
	receiving              // of the answer
)

// A conn is one connection to the agent's site, of one goroutine at a time.
type conn struct {
	tcp net.Conn
	raw syscall.RawConn
	run func(fd uintptr) bool // step

	p    http1.Parser
	in   []byte // what is read
	buf  []byte // memory of out
	out  []byte // what is still to be sent
	bulk []byte // and what goes out after it: a long body, from where it is

	phase   phase
	n       int           // of in, what was read last
	errno   syscall.Errno // what failed last
	wrote   bool          // something of the request was sent
	used    bool          // an answer came before
	lost    bool          // the exchange failed before anything of the answer came
	writing chan error    // the rest of the request is being written; nil: all was written

	armed   time.Time // what the deadline of reading is set to; zero: none
	done    <-chan struct{}
	unwatch func() bool // ends the watch over done; nil: there is none
}

func newConn(tcp net.Conn) *conn {
	c := &conn{tcp: tcp, in: make([]byte, readSize)}
	c.raw, _ = tcp.(syscall.Conn).SyscallConn() // a new TCP connection gives it
	c.run = c.step
	return c
}

// close closes the connection.
func (c *conn) close() {
	c.stopWatch()
	c.tcp.Close()
}

// keeps reports whether the connection can be used again, after talk.
func (c *conn) keeps() bool { return c.p.KeepAlive && c.writing == nil }

// talk sends a request and reads the answer, to its end. What is read is kept in
// the response of the call. After an error the connection is of no use.
func (c *conn) talk(x *call) error {
	c.buf, c.bulk = x.appendRequest(c.buf[:0])
	c.out = c.buf
	x.res.kept.Body, x.res.kept.MaxBody = x.res.kept.Body[:0], x.a.opts.MaxBody
	c.p.Keep = &x.res.kept
	c.p.Start(x.method == http.MethodHead)
	c.phase, c.wrote, c.lost = checking, false, false
	known := c.done == x.ctx.Done()
	if err := c.arm(x); err != nil {
		return err
	}
	err := c.read(x)
	x.done = time.Now()
	c.p.Keep = nil
	x.inBody = !c.p.AwaitsHeader()
	if x.inBody {
		x.bytesIn, x.bytesOut = c.p.Body, uint64(len(x.r.Body))
	}
	if c.writing != nil {
		c.endWriting(err == nil)
	}
	if c.unwatch != nil && !known {
		c.stopWatch()
	}
	return err
}

// read goes through the phases.
func (c *conn) read(x *call) error {
	for {
		b, err := c.next(x)
		if errors.Is(err, io.EOF) && c.p.Began() {
			_, err := c.p.EOF()
			c.p.KeepAlive = false
			return err
		}
		if err != nil {
			return err
		}
		n, done, err := c.p.Feed(b)
		if err != nil {
			return err
		}
		if done {
			c.p.KeepAlive = c.p.KeepAlive && n == len(b)
			return nil
		}
	}
}

// next returns what comes next of the answer, [io.EOF] at its end. It sends the
// request first if that was not done yet.
func (c *conn) next(x *call) ([]byte, error) {
	for {
		c.n, c.errno = 0, 0
		switch err := c.advance(); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if err := c.rearm(x); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		}
		switch {
		case c.phase == checking && c.n > 0:
			c.lost = true
			return nil, errUnasked
		case c.phase == sending && c.errno == 0:
			c.startWriting()
			continue
		case c.n > 0:
			return c.in[:c.n], nil
		}
		began := c.p.Began()
		c.lost = !began
		switch {
		case c.phase == sending:
			return nil, http1.Broken(c.opError("write"))
		case c.errno == 0:
			return nil, io.EOF
		case began:
			return nil, c.p.Broke(c.opError("read"))
		default:
			return nil, c.opError("read")
		}
	}
}

// errUnasked is of a server that says something before it was asked.
var errUnasked = errors.New("unsolicited answer")

// opError words a failed system call as package net does.
func (c *conn) opError(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.tcp.LocalAddr(), Addr: c.tcp.RemoteAddr(),
		Err: os.NewSyscallError(op, c.errno)}
}

// startWriting goes on with a request that the socket did not take at once, beside
// the reading: a server may answer before it has read all.
func (c *conn) startWriting() {
	rest := net.Buffers{c.out, c.bulk}
	done := make(chan error, 1)
	c.phase, c.writing = receiving, done
	go func() {
		_, err := rest.WriteTo(c.tcp)
		done <- err
	}()
}

// endWriting waits for what startWriting began. The connection is kept when all
// was sent.
func (c *conn) endWriting(answered bool) {
	if answered {
		late := time.NewTimer(writeWait)
		defer late.Stop()
		select {
		case err := <-c.writing:
			if err == nil {
				c.writing = nil
			}
			return
		case <-late.C:
		}
	}
	_ = c.tcp.SetWriteDeadline(longAgo)
	<-c.writing
}

// longAgo ends what waits for a connection.
var longAgo = time.Unix(1, 0)

// arm makes the time and the context of a call count. The deadline of the
// connection is not set for each: one that is too early is found out by the call
// that it strikes, see rearm. So most requests set no timer, and most of those with
// the context of the request before begin no watch.
func (c *conn) arm(x *call) error {
	if done := x.ctx.Done(); done != c.done {
		c.stopWatch()
		c.done = done
	}
	if c.done != nil && c.unwatch == nil {
		c.unwatch = context.AfterFunc(x.ctx, c.strike)
	}
	if !x.deadline.IsZero() && (c.armed.IsZero() || c.armed.After(x.deadline)) {
		return c.rearm(x)
	}
	return x.over(x.due)
}

// rearm sets the deadline of the connection to that of the call. It returns an
// error when the call is over.
func (c *conn) rearm(x *call) error {
	if err := x.over(time.Now()); err != nil {
		return err
	}
	c.armed = x.deadline
	if err := c.tcp.SetReadDeadline(x.deadline); err != nil {
		return err
	}
	// The context may have struck before the deadline was set.
	return x.over(x.due)
}

// strike ends the wait of the call under way. It may come late and strike another
// call, which then sets its own deadline again.
func (c *conn) strike() { _ = c.tcp.SetReadDeadline(longAgo) }

func (c *conn) stopWatch() {
	if c.unwatch != nil {
		c.unwatch()
		c.unwatch = nil
	}
}
