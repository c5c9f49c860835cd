package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// sinkOptions configure how a [sink] answers.
type sinkOptions struct {
	addr    netip.AddrPort
	body    int           // bytes
	service time.Duration // between a request and its answer

	// From stallAt after the first request on, nothing is answered for stallFor.
	// Connections and requests are taken in meanwhile, as by a server whose
	// database stands still.
	stallAt, stallFor time.Duration

	record int     // arrivals that are kept for the pacing
	perSec float64 // at which they were to come
}

// A sink is an HTTP/1.1 server that does as little as a server can: one thread,
// one epoll set, one read and one write a request, the same answer to whatever
// is asked, headers as nginx has them. Options add the rest. It has to be faster than
// the generators that are compared.
//
// Requests have no bodies. Not for concurrent use.
type sink struct {
	o      sinkOptions
	answer []byte

	base     time.Time // offset 0 of the times below; monotonic
	epoll    int
	listener int
	wake     int // eventfd that ends the loop
	conns    []conn
	buf      [64 << 10]byte
	owed     queue

	open      int
	arrivals  []time.Duration
	stallFrom time.Duration // negative before the first request
	stallTo   time.Duration
	drained   int           // answers that were owed at the end of the stall
	drainedAt time.Duration // when the last of them was sent; 0 before
	cpuBefore time.Duration
	report    sinkReport
}

// A sinkReport is what a sink saw. Times are since it was made.
type sinkReport struct {
	Requests    uint64        `json:"requests"`
	Connections uint64        `json:"connections"`      // accepted
	PeakOpen    int           `json:"peak_connections"` // at once
	First       time.Duration `json:"first_ns"`         // request
	Last        time.Duration `json:"last_ns"`
	CPU         time.Duration `json:"cpu_ns"` // from the first request on
	Pacing      *pacing       `json:"pacing,omitempty"`
	Stall       *stallReport  `json:"stall,omitempty"`
}

type stallReport struct {
	For     time.Duration `json:"for_ns"`
	Drained float64       `json:"drained_per_s"` // answers a second after it, until none was owed
}

// A conn is a connection, in its place by its descriptor.
type conn struct {
	open bool
	gen  uint32 // distinguishes this connection from others that had its descriptor
	part int    // bytes of "\r\n\r\n" that the last read ended with
	rest []byte // of answers that the peer does not take yet
}

func newSink(o sinkOptions) (s *sink, err error) {
	s = &sink{o: o, base: time.Now(), epoll: -1, listener: -1, wake: -1, stallFrom: -1,
		arrivals: make([]time.Duration, 0, o.record), answer: sinkAnswer(o.body)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if s.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	if s.listener, err = listenOn(o.addr); err != nil {
		return nil, err
	}
	return s, errors.Join(s.watch(s.wake, unix.EPOLLIN), s.watch(s.listener, unix.EPOLLIN))
}

func listenOn(addr netip.AddrPort) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	// Reno is in every kernel and the cheapest way to share a link, which loopback is
	// not; accepted connections inherit it. Another one is as right.
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()})
	}
	if err == nil {
		err = unix.Listen(fd, 16<<10) // the kernel cuts it to net.core.somaxconn
	}
	if err != nil {
		return -1, errors.Join(fmt.Errorf("listen on %s: %w", addr, err), unix.Close(fd))
	}
	return fd, nil
}

// sinkAnswer is what nginx says of a file.
func sinkAnswer(body int) []byte {
	b := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n"+
		"Last-Modified: Fri, 20 Nov 2026 14:02:11 GMT\r\nConnection: keep-alive\r\nETag: \"6920f3a3-400\"\r\nAccept-Ranges: bytes\r\n\r\n",
		time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), body)
	return append(b, bytes.Repeat([]byte("x"), body)...)
}

// port returns where the sink listens.
func (s *sink) port() (int, error) {
	addr, err := unix.Getsockname(s.listener)
	if err != nil {
		return 0, fmt.Errorf("address of the listener: %w", err)
	}
	return addr.(*unix.SockaddrInet4).Port, nil
}

func (s *sink) watch(fd int, events uint32) error {
	err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	if err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

func (s *sink) now() time.Duration { return time.Since(s.base) }

// run answers until ctx ends, and closes the sink.
func (s *sink) run(ctx context.Context) (sinkReport, error) {
	defer s.close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it makes no garbage while it answers
	stop := context.AfterFunc(ctx, func() {
		one := [8]byte{1} // the counter in either byte order
		_, _ = unix.Write(s.wake, one[:])
	})
	defer stop()
	events := make([]unix.EpollEvent, 1024)
	for {
		n, err := unix.EpollWait(s.epoll, events, s.timeout())
		if err != nil && !errors.Is(err, unix.EINTR) {
			return s.report, fmt.Errorf("epoll_wait: %w", err)
		}
		s.settle()
		for i := range max(n, 0) {
			switch e := &events[i]; int(e.Fd) {
			case s.wake:
				return s.finish(), nil
			case s.listener:
				s.accept()
			default:
				s.serve(int(e.Fd), e.Events)
			}
		}
	}
}

// timeout returns the milliseconds until an answer is owed, -1 when none is.
func (s *sink) timeout() int {
	next, any := s.owed.first()
	if !any {
		return -1
	}
	return int(max(0, next.at-s.now()+time.Millisecond-1) / time.Millisecond)
}

func (s *sink) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // no more of them, or no descriptor: the peer waits
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // it fails only when the peer has gone
		for fd >= len(s.conns) {
			s.conns = append(s.conns, make([]conn, 1024)...)
		}
		c := &s.conns[fd]
		*c = conn{open: true, gen: c.gen + 1}
		s.report.Connections++
		s.open++
		s.report.PeakOpen = max(s.report.PeakOpen, s.open)
		if s.watch(fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLET) != nil {
			s.drop(fd)
		}
	}
}

func (s *sink) drop(fd int) {
	c := &s.conns[fd]
	if !c.open {
		return
	}
	c.open, c.rest = false, nil
	s.open--
	_ = unix.Close(fd)
}

// serve reads what came on a connection and answers it.
func (s *sink) serve(fd int, events uint32) {
	c := &s.conns[fd]
	if !c.open {
		return
	}
	if len(c.rest) > 0 && events&unix.EPOLLOUT != 0 {
		s.write(fd, nil)
	}
	if events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) == 0 {
		return
	}
	for c.open {
		n, err := unix.Read(fd, s.buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n == 0:
			s.drop(fd)
			return
		}
		var whole int
		whole, c.part = countRequests(s.buf[:n], c.part)
		if whole > 0 {
			s.arrived(fd, whole)
		}
		if n < len(s.buf) {
			return // epoll(7): a short read has emptied the socket
		}
	}
}

var end = []byte("\r\n\r\n")

// countRequests counts the ends of headers in b, which goes on from bytes that ended
// with the first part bytes of such an end. rest is the same of b.
func countRequests(b []byte, part int) (n, rest int) {
	if part > 0 {
		// At most three bytes are missing.
		joined := append(append(make([]byte, 0, 8), end[:part]...), b[:min(len(b), len(end)-1)]...)
		if i := bytes.Index(joined, end); i >= 0 {
			n, b, part = 1, b[i+len(end)-part:], 0
		} else if len(b) < len(end)-1 {
			return 0, endPart(joined)
		}
	}
	for {
		i := bytes.Index(b, end)
		if i < 0 {
			return n, endPart(b)
		}
		n, b = n+1, b[i+len(end):]
	}
}

// endPart returns how much of an end of headers b ends with.
func endPart(b []byte) int {
	for k := min(len(b), len(end)-1); k > 0; k-- {
		if bytes.HasSuffix(b, end[:k]) {
			return k
		}
	}
	return 0
}

// arrived notes requests and answers them, now or later.
func (s *sink) arrived(fd, n int) {
	now := s.now()
	if s.report.Requests == 0 {
		s.begin(now)
	}
	s.report.Requests += uint64(n)
	s.report.Last = now
	for range n {
		if len(s.arrivals) < cap(s.arrivals) {
			s.arrivals = append(s.arrivals, now)
		}
		at := now + s.o.service
		if now >= s.stallFrom && now < s.stallTo {
			at = max(at, s.stallTo)
		}
		if at > now || s.owed.len() > 0 {
			s.owed.push(owed{fd: int32(fd), gen: s.conns[fd].gen, at: at})
			continue
		}
		s.write(fd, s.answer)
	}
}

// begin is called at the first request.
func (s *sink) begin(now time.Duration) {
	s.report.First, s.cpuBefore = now, ownCPU()
	if s.o.stallFor > 0 {
		s.stallFrom, s.stallTo = now+s.o.stallAt, now+s.o.stallAt+s.o.stallFor
	}
}

// settle sends the answers whose time has come.
func (s *sink) settle() {
	for {
		next, any := s.owed.first()
		if !any || next.at > s.now() {
			return
		}
		s.owed.pop()
		if c := &s.conns[next.fd]; c.open && c.gen == next.gen {
			s.write(int(next.fd), s.answer)
		}
		if s.stallTo > 0 && next.at >= s.stallTo && s.drainedAt == 0 {
			if s.drained++; s.owed.len() == 0 {
				s.drainedAt = s.now()
			}
		}
	}
}

// write sends b after what is left to send, and keeps what the peer does not take.
func (s *sink) write(fd int, b []byte) {
	c := &s.conns[fd]
	if len(c.rest) > 0 {
		c.rest = append(c.rest, b...)
		b = c.rest
	}
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch {
		case err == nil:
			b = b[n:]
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			c.rest = bytes.Clone(b)
			return
		default:
			s.drop(fd)
			return
		}
	}
	c.rest = nil
}

// finish completes the report.
func (s *sink) finish() sinkReport {
	r := &s.report
	if r.Requests > 0 {
		r.CPU = ownCPU() - s.cpuBefore
	}
	if s.o.perSec > 0 && s.o.record > 0 {
		p := paceOf(s.arrivals, s.o.perSec)
		r.Pacing = &p
	}
	if s.stallTo > 0 {
		r.Stall = &stallReport{For: s.stallTo - s.stallFrom, Drained: float64(s.drained) / max(s.drainedAt-s.stallTo,
			1).Seconds()}
	}
	return *r
}

func (s *sink) close() {
	for fd := range s.conns {
		s.drop(fd)
	}
	for _, fd := range []int{s.listener, s.epoll, s.wake} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		fmt.Fprintln(os.Stderr, "load: getrusage:", err)
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}

// An owed is an answer that is sent later.
type owed struct {
	at  time.Duration
	fd  int32
	gen uint32
}

// A queue holds answers in the order of their times. The zero value is empty.
type queue struct {
	items []owed
	head  int
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) first() (o owed, ok bool) {
	if q.len() == 0 {
		return owed{}, false
	}
	return q.items[q.head], true
}

func (q *queue) push(o owed) {
	if q.head > len(q.items)/2 && q.head > 1024 {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, o)
}

func (q *queue) pop() {
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}
