package carbon

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/wire/graphite"
)

const (
	dialLimit   = 5 * time.Second
	firstRetry  = 100 * time.Millisecond // after a dial that failed
	longestWait = 2 * time.Second        // between two dials of an agent
)

// counters are what an agent has done so far. They are added to by the agent and read by
// who counts.
type counters struct {
	sent, sentBytes atomic.Uint64
	lost            atomic.Uint64 // points that were due without a connection, or on one that broke
	skipped         atomic.Uint64 // points of flushes that were left out
	unsure          atomic.Uint64 // points that were sent and not acknowledged when their connection ended
	dialFailures    atomic.Uint64
	broken          atomic.Uint64 // connections that the server closed, or that failed
	connections     atomic.Uint64
	launched        atomic.Int64 // ns after the start; 0: not yet
}

// A blockMeter adds up how long writes have waited for the server.
type blockMeter struct {
	total atomic.Int64 // ns
	since atomic.Int64 // ns since 1970 of the wait that goes on; 0: none
}

// begin is called when a write has to wait, from then on.
func (m *blockMeter) begin(now time.Time) {
	if m.since.Load() == 0 {
		m.since.Store(now.UnixNano())
	}
}

// end is called when there is no wait any more.
func (m *blockMeter) end() {
	if since := m.since.Swap(0); since != 0 {
		m.total.Add(max(time.Now().UnixNano()-since, 0))
	}
}

// blocked is how long writes have waited until now.
func (m *blockMeter) blocked(now time.Time) time.Duration {
	d := time.Duration(m.total.Load())
	if since := m.since.Load(); since != 0 {
		d += max(now.Sub(time.Unix(0, since)), 0)
	}
	return d
}

// An agent sends its series over one connection. It is run by one goroutine.
type agent struct {
	number int
	run    *runner
	count  counters
	meter  blockMeter
	enc    encoder
	buf    []byte

	retryAt time.Time // before which no connection is tried
	wait    time.Duration

	mu   sync.Mutex // guards the following fields
	conn net.Conn   // nil: none
	gone chan struct{}
	err  error // the last one
}

// serve sends what is due until all is sent, or ctx ends.
func (a *agent) serve(ctx context.Context, launched time.Duration) {
	defer a.hangUp(lastWords)
	o, timer := a.run.o, time.NewTimer(0)
	defer timer.Stop()
	for j := 0; ; j++ {
		s := a.run.plan.slotOf(a.number, j, launched)
		due := launched + s.due
		if o.Duration > 0 && due >= o.Duration {
			return
		}
		if d := time.Until(a.run.start.Add(due)); d > 0 {
			timer.Reset(d)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		} else if ctx.Err() != nil {
			return
		} else if o.DropLate {
			j = a.leaveOut(j, launched)
		}
		if s.n > 0 {
			a.flush(ctx, s, due)
		}
	}
}

// leaveOut returns the last slot that is due by now: of j and those after it one is sent.
func (a *agent) leaveOut(j int, launched time.Duration) int {
	for {
		next := a.run.plan.slotOf(a.number, j+1, launched)
		due := launched + next.due
		if due > time.Since(a.run.start) || a.run.o.Duration > 0 && due >= a.run.o.Duration {
			return j
		}
		a.count.skipped.Add(uint64(next.n))
		j++
	}
}

// flush sends the points of a slot. What cannot be sent is lost, and counted.
func (a *agent) flush(ctx context.Context, s slot, due time.Duration) {
	o := a.run.o
	if !a.connect(ctx) {
		if ctx.Err() == nil {
			a.count.lost.Add(uint64(s.n))
		}
		return
	}
	at := a.run.wall.Add(due)
	if o.OneEpoch {
		at = time.Now()
	}
	a.enc.begin(s.first, s.n, at.Unix(), at.Add(-2*o.Interval).Unix())
	for a.enc.left > 0 {
		if a.isGone() {
			a.fail(errors.New("the server has closed the connection"))
			a.count.lost.Add(uint64(a.enc.left))
			return
		}
		var points int
		a.buf, points = a.enc.appendPoints(a.buf[:0], o.Protocol, cap(a.buf))
		n, err := writeAll(a.conn, a.buf, &a.meter)
		a.count.sentBytes.Add(uint64(n))
		if err != nil {
			sent := points * n / len(a.buf)
			a.count.sent.Add(uint64(sent))
			if ctx.Err() == nil {
				a.count.lost.Add(uint64(points - sent + a.enc.left))
				a.fail(err)
			}
			return
		}
		a.count.sent.Add(uint64(points))
	}
	if o.Redial {
		a.hangUp(min(lastWords, o.Interval/4))
	}
}

// connect makes a connection where there is none.
func (a *agent) connect(ctx context.Context) bool {
	if a.conn != nil && a.isGone() {
		a.fail(errors.New("the server has closed the connection"))
	}
	if a.conn != nil {
		return true
	}
	if time.Now().Before(a.retryAt) {
		return false
	}
	conn, err := a.run.dial(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.count.dialFailures.Add(1)
			a.wait = min(max(2*a.wait, firstRetry), longestWait)
			if !a.run.o.Redial && a.run.o.Launches == nil {
				a.retryAt = time.Now().Add(a.wait)
			}
			a.note(err)
		}
		return false
	}
	a.count.connections.Add(1)
	a.wait, a.retryAt = 0, time.Time{}
	var gone chan struct{}
	if a.run.o.Protocol != graphite.UDP {
		gone = make(chan struct{})
		go func() { // ends when the connection does; drop waits for it
			defer close(gone)
			_ = contain.Run(readerPart, func() { readToEnd(conn) })
		}()
	}
	a.mu.Lock()
	a.conn, a.gone = conn, gone
	a.mu.Unlock()
	if ctx.Err() != nil {
		_ = conn.SetWriteDeadline(time.Unix(1, 0)) // it was made as the load ended
	}
	return true
}

// readerPart names the reader of a connection where it fails.
var readerPart = contain.Part{Kind: contain.Goroutine, Name: "carbon connection"}

// readToEnd returns when the connection has ended: carbon never answers.
func readToEnd(conn net.Conn) {
	var b [512]byte
	for {
		if _, err := conn.Read(b[:]); err != nil {
			return
		}
	}
}

// isGone reports whether the server has ended the connection. A write would still succeed,
// and be lost.
func (a *agent) isGone() bool {
	select {
	case <-a.gone:
		return true
	default:
		return false
	}
}

// fail gives a connection up that broke.
func (a *agent) fail(err error) {
	a.count.broken.Add(1)
	a.note(err)
	a.drop()
}

func (a *agent) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

// lastWords is how long a server may take to read what was sent, after the last of it.
const lastWords = 5 * time.Second

// hangUp ends a connection from this side, and waits so long for the server to have read
// all, which it shows by ending its own.
func (a *agent) hangUp(within time.Duration) {
	if a.conn == nil {
		return
	}
	half, ok := a.conn.(*net.TCPConn)
	if ok && half.CloseWrite() == nil {
		limit := time.NewTimer(within)
		defer limit.Stop()
		select {
		case <-a.gone:
		case <-limit.C:
		case <-a.run.hard.Done():
		}
	}
	a.drop()
}

// drop closes the connection. What is not acknowledged may not arrive.
func (a *agent) drop() {
	if a.conn == nil {
		return
	}
	a.mu.Lock()
	conn := a.conn
	a.count.unsure.Add(a.unackedPoints())
	a.conn = nil
	a.mu.Unlock()
	_ = conn.Close() // nothing of it is used any more
	if a.gone != nil {
		<-a.gone
	}
}

// unackedPoints is about how many of the sent points the server's kernel has not
// acknowledged: bytes, by the mean length of a point. mu is held.
func (a *agent) unackedPoints() uint64 {
	if a.conn == nil {
		return 0
	}
	n, ok := unackedBytes(a.conn)
	bytes, points := a.count.sentBytes.Load(), a.count.sent.Load()
	if !ok || n == 0 || bytes == 0 {
		return 0
	}
	return min(points, (uint64(n)*points+bytes-1)/bytes)
}

// outstanding is unackedPoints for who counts.
func (a *agent) outstanding() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unackedPoints()
}

// interrupt ends a write that waits.
func (a *agent) interrupt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn != nil {
		_ = a.conn.SetWriteDeadline(time.Unix(1, 0)) // fails only when the connection is closed
	}
}

// lastErr is the last error, nil when there was none.
func (a *agent) lastErr() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(a.err, os.ErrDeadlineExceeded) {
		return nil
	}
	return a.err
}

// permitted refuses an address that may not be loaded.
func (r *runner) permitted(addr string) error {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(r.o.Address)
	if err != nil {
		return err
	}
	return r.o.Permit.Check(host, ap.Addr())
}
