//go:build amd64 || arm64

package epollhttp

import (
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/nethttp"
	"golang.org/x/sys/unix"
)

// fail ends a flight without an answer. wrap puts method and URL before the
// error, as net/http's client does until the header is complete.
func (x *exchanges) fail(f *flight, err error, wrap bool) {
	if wrap {
		err = f.t.wrap(f.hit.N, err)
	}
	f.hit.Done, f.hit.Code, f.hit.Err = x.clock.now(), 0, err.Error()
	x.flights.ages.remove(f)
	x.flights.failed = append(x.flights.failed, f)
}

// cut ends a flight that is still under way, and with it its connection.
func (x *exchanges) cut(f *flight, inHeader, inBody error) {
	c := f.conn
	if c == nil {
		if f.resent {
			f.host.fresh.remove(f)
		} else {
			f.host.waiting.remove(f)
		}
		x.waiting--
		x.fail(f, inHeader, true)
		return
	}
	err, wrap := inHeader, true
	if c.q.head == f && !c.p.AwaitsHeader() {
		err, wrap = inBody, false
		x.countBody(f, c)
	}
	c.q.remove(f)
	x.fail(f, err, wrap)
	x.dismiss(c)
}

// countBody counts what came of an answer that broke off in its body.
func (x *exchanges) countBody(f *flight, c *conn) {
	f.hit.BytesIn, f.hit.BytesOut = nethttp.Counted(c.p.Body, x.run.opts.MaxBody), f.bodyOut
}

// readEOF takes that the server has closed the connection.
func (x *exchanges) readEOF(c *conn) {
	f := c.q.head
	if f == nil {
		x.dismiss(c)
		return
	}
	if !c.p.Began() {
		x.lose(c, io.EOF)
		return
	}
	var done bool
	err := load.ErrBug
	_ = contain.Run(parserPart, func() { done, err = c.p.EOF() })
	if !done {
		x.failHead(c, err)
		return
	}
	c.p.KeepAlive = false
	x.answered(c, f, false)
}

// readFailed takes that reading failed.
func (x *exchanges) readFailed(c *conn, e syscall.Errno) {
	err := c.opError("read", e)
	switch {
	case c.q.head == nil:
		x.dismiss(c)
	case !c.p.Began():
		x.lose(c, err)
	default:
		x.failHead(c, c.p.Broke(err))
	}
}

// sendFailed takes that the socket takes no more. An answer that came before is
// taken all the same.
func (x *exchanges) sendFailed(c *conn, e syscall.Errno) {
	x.lose(c, http1.Broken(c.opError("write", e)))
}

// failHead ends the oldest flight of a connection, of whose answer something has
// come, and the connection.
func (x *exchanges) failHead(c *conn, err error) {
	f := c.q.pop()
	wrap := c.p.AwaitsHeader()
	if !wrap {
		x.countBody(f, c)
	}
	x.fail(f, err, wrap)
	x.dismiss(c)
}

// lose ends a connection of whose next answer nothing has come.
func (x *exchanges) lose(c *conn, err error) {
	f := c.q.pop()
	x.lost(f, err)
	x.dismiss(c)
}

// lost sends a request again on a new connection where net/http would: the
// connection had been used before, so the server may have closed it while it was
// idle, and the request can do no harm twice or has not left at all. Any other
// one fails, and so does one that is lost twice.
func (x *exchanges) lost(f *flight, err error) {
	if x.aborted != nil {
		x.fail(f, x.aborted, true)
		return
	}
	if !f.reused || f.resent || f.wrote && !f.t.idempotent {
		x.fail(f, err, true)
		return
	}
	f.conn, f.wrote, f.resent = nil, false, true
	x.count.resent++
	x.submit(f)
}

// opError words a failed system call as package net does.
func (c *conn) opError(op string, e syscall.Errno) error {
	err := &net.OpError{Op: op, Net: "tcp", Addr: net.TCPAddrFromAddrPort(c.host.addrs[c.addr].AddrPort),
		Err: os.NewSyscallError(op, e)}
	if local := localAddr(c.fd); local.IsValid() {
		err.Source = net.TCPAddrFromAddrPort(local)
	}
	return err
}

func localAddr(fd int32) netip.AddrPort {
	sa, err := unix.Getsockname(int(fd))
	if err != nil {
		return netip.AddrPort{}
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr).Unmap(), uint16(sa.Port))
	}
	return netip.AddrPort{}
}
