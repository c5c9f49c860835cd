//go:build amd64 || arm64

package epollhttp

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/nethttp"
	"golang.org/x/sys/unix"
)

// fail ends a flight without an answer. wrap puts method and URL before the
// error, as net/http's client does until the header is complete.
func (s *shard) fail(f *flight, err error, wrap bool) {
	if wrap {
		err = f.t.wrap(f.hit.N, err)
	}
	f.hit.Done, f.hit.Code, f.hit.Err = s.clock.now(), 0, err.Error()
	s.flights.ages.remove(f)
	s.flights.failed = append(s.flights.failed, f)
}

// reportFailed ends the flights that have failed since it was called last. This
// is not done in fail: who sends must not begin to send again in the middle of it.
func (s *shard) reportFailed() {
	n := len(s.flights.failed)
	for _, f := range s.flights.failed[:n] {
		s.end(f)
	}
	s.flights.failed = s.flights.failed[:copy(s.flights.failed, s.flights.failed[n:])]
}

// cut ends a flight that is still under way, and with it its connection.
func (s *shard) cut(f *flight, inHeader, inBody error) {
	c := f.conn
	if c == nil {
		if f.resent {
			f.host.fresh.remove(f)
		} else {
			f.host.waiting.remove(f)
		}
		s.waiting--
		s.fail(f, inHeader, true)
		return
	}
	err, wrap := inHeader, true
	if c.q.head == f && !c.p.AwaitsHeader() {
		err, wrap = inBody, false
		s.countBody(f, c)
	}
	c.q.remove(f)
	s.fail(f, err, wrap)
	s.dismiss(c)
}

// countBody counts what came of an answer that broke off in its body.
func (s *shard) countBody(f *flight, c *conn) {
	f.hit.BytesIn, f.hit.BytesOut = nethttp.Counted(c.p.Body, s.run.opts.MaxBody), f.bodyOut
}

// readEOF takes that the server has closed the connection.
func (s *shard) readEOF(c *conn) {
	f := c.q.head
	if f == nil {
		s.dismiss(c)
		return
	}
	if !c.p.Began() {
		s.lose(c, io.EOF)
		return
	}
	var done bool
	err := load.ErrBug
	_ = contain.Run(parserPart, func() { done, err = c.p.EOF() })
	if !done {
		s.failHead(c, err)
		return
	}
	c.p.KeepAlive = false
	s.answered(c, f, false)
}

// readFailed takes that reading failed.
func (s *shard) readFailed(c *conn, e syscall.Errno) {
	err := c.opError("read", e)
	switch {
	case c.q.head == nil:
		s.dismiss(c)
	case !c.p.Began():
		s.lose(c, err)
	default:
		s.failHead(c, c.p.Broke(err))
	}
}

// sendFailed takes that the socket takes no more. An answer that came before is
// taken all the same.
func (s *shard) sendFailed(c *conn, e syscall.Errno) {
	s.lose(c, http1.Broken(c.opError("write", e)))
}

// failHead ends the oldest flight of a connection, of whose answer something has
// come, and the connection.
func (s *shard) failHead(c *conn, err error) {
	f := c.q.pop()
	wrap := c.p.AwaitsHeader()
	if !wrap {
		s.countBody(f, c)
	}
	s.fail(f, err, wrap)
	s.dismiss(c)
}

// lose ends a connection of whose next answer nothing has come.
func (s *shard) lose(c *conn, err error) {
	f := c.q.pop()
	s.lost(f, err)
	s.dismiss(c)
}

// lost sends a request again on a new connection where net/http would: the
// connection had been used before, so the server may have closed it while it was
// idle, and the request can do no harm twice or has not left at all. Any other
// one fails, and so does one that is lost twice.
func (s *shard) lost(f *flight, err error) {
	if s.ending.aborted != nil {
		s.fail(f, s.ending.aborted, true)
		return
	}
	if !f.reused || f.resent || f.wrote && !f.t.idempotent {
		s.fail(f, err, true)
		return
	}
	f.conn, f.wrote, f.resent = nil, false, true
	s.count.resent++
	s.submit(f)
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

// follows are the redirects of a shard that are being followed.
type follows struct {
	n int // under way or not yet taken

	mu     sync.Mutex
	landed []*flight // have come to their end; guarded by mu
}

// follow hands a flight to a goroutine that follows the redirect. The flight is
// the goroutine's until it has landed.
func (s *shard) follow(f *flight, code int, location string) {
	s.count.redirected++
	s.follows.n++
	f.hit.Code, f.hit.BytesIn, f.hit.BytesOut, f.hit.Err = 0, 0, 0, ""
	s.run.followers.Go(func() {
		ctx := s.run.followCtx
		if t := s.run.opts.Timeout; t > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithDeadlineCause(ctx, s.run.start.Add(f.hit.Sent+t), nethttp.ErrTimeout)
			defer stop()
		}
		if contain.Run(shardPart, func() { s.run.opts.Follow(ctx, &f.hit, code, location) }) != nil {
			f.hit.Err = load.ErrBug.Error()
		}
		s.follows.mu.Lock()
		s.follows.landed = append(s.follows.landed, f)
		s.follows.mu.Unlock()
		s.poller.interrupt()
	})
}

// land ends the flights whose redirects have come to their end.
func (s *shard) land() {
	if s.follows.n == 0 {
		return
	}
	s.follows.mu.Lock()
	landed := s.follows.landed
	s.follows.landed = nil
	s.follows.mu.Unlock()
	for _, f := range landed {
		s.follows.n--
		f.hit.Done = s.clock.now()
		s.end(f)
	}
}
