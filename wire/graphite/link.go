package graphite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// maxDatagram is how long a datagram gets: what a network with frames of 1,500 bytes
// carries whole, with room for tunnels.
const maxDatagram = 1400

// betweenDatagrams is the least time between two datagrams, so that a server can take
// them: the buffer of its socket holds about ninety, and what comes when that is full
// is lost without a word. With twenty points to each, that is 10,000 a second.
const betweenDatagrams = 2 * time.Millisecond

// A link is the connection that a sender has now. Carbon never answers: a read returns
// only when the connection has ended.
type link struct {
	o    Options
	conn net.Conn      // nil: none
	gone chan struct{} // closed when the connection has ended; nil over UDP
	end  error         // what ended it; read after gone
	buf  []byte
	next time.Time // before which no datagram is sent

	carried uint64 // points that were sent over conn
	unsure  uint64 // points that were sent over connections that broke
}

// send sends the points, over a new connection where there is none. After an error
// there is none, and it is not known which of the points have arrived; they may be
// sent again, since Carbon keeps one value a second and metric.
func (l *link) send(ctx context.Context, points []Point) (connected bool, err error) {
	if l.conn != nil && l.ended() {
		l.abandon()
		return false, fmt.Errorf("%s has closed the connection", l.o.Address)
	}
	if l.conn == nil {
		if err := l.connect(ctx); err != nil {
			return false, err
		}
		connected = true
	}
	conn := l.conn
	unhook := context.AfterFunc(ctx, func() {
		_ = conn.SetWriteDeadline(time.Unix(1, 0)) // fails only when the connection is closed
	})
	defer unhook()
	if err := l.write(ctx, points); err != nil {
		l.abandon()
		return connected, fmt.Errorf("send: %w", err) // it names the address
	}
	l.carried += uint64(len(points))
	return connected, nil
}

// Reach reports whether Carbon can be reached at all: an error, with a Hint method, where no
// connection comes about within the timeout. Over UDP that cannot be seen.
func Reach(ctx context.Context, o Options) error {
	if o.Protocol == UDP {
		return nil
	}
	d := net.Dialer{Timeout: cmp.Or(o.Timeout, reachWithin)}
	conn, err := d.DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return &unreachableError{err}
	}
	return conn.Close()
}

// reachWithin bounds [Reach] where the options do not.
const reachWithin = 5 * time.Second

// An unreachableError is that Carbon cannot be reached.
type unreachableError struct{ error }

func (e *unreachableError) Unwrap() error { return e.error }

// Hint returns what to do about it.
func (*unreachableError) Hint() string {
	return "is carbon-cache or a relay running there? It takes lines at port 2003, pickle at 2004"
}

func (l *link) connect(ctx context.Context) error {
	network := "tcp"
	if l.o.Protocol == UDP {
		network = "udp"
	}
	d := net.Dialer{Timeout: l.o.Timeout}
	conn, err := d.DialContext(ctx, network, l.o.Address)
	if err != nil {
		return err
	}
	l.conn, l.gone = conn, nil
	if l.o.Protocol == UDP {
		return nil
	}
	gone := make(chan struct{})
	l.gone = gone
	go func() { // ends when the connection does; abandon waits for it
		defer close(gone)
		var b [64]byte
		for {
			if _, err := conn.Read(b[:]); err != nil {
				l.end = err
				return
			}
		}
	}()
	return nil
}

// ended reports whether the server has closed the connection. A write would still
// succeed, and be lost.
func (l *link) ended() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

func (l *link) write(ctx context.Context, points []Point) error {
	switch l.o.Protocol {
	case Pickle:
		return l.writePickle(points)
	case UDP:
		return l.writeDatagrams(ctx, points)
	}
	l.buf = l.buf[:0]
	for _, p := range points {
		l.buf = AppendLine(l.buf, p)
	}
	return l.flush()
}

func (l *link) writePickle(points []Point) error {
	for len(points) > 0 {
		var n int
		l.buf, n = AppendPickle(l.buf[:0], points)
		if err := l.flush(); err != nil {
			return err
		}
		points = points[n:]
	}
	return nil
}

// writeDatagrams puts as many whole lines into a datagram as fit.
func (l *link) writeDatagrams(ctx context.Context, points []Point) error {
	l.buf = l.buf[:0]
	for _, p := range points {
		before := len(l.buf)
		l.buf = AppendLine(l.buf, p)
		if len(l.buf) <= maxDatagram || before == 0 {
			continue
		}
		line := append([]byte(nil), l.buf[before:]...)
		l.buf = l.buf[:before]
		if err := l.datagram(ctx); err != nil {
			return err
		}
		l.buf = append(l.buf[:0], line...)
	}
	return l.datagram(ctx)
}

// datagram writes the buffer as one, when it is its turn.
func (l *link) datagram(ctx context.Context) error {
	if wait := time.Until(l.next); wait > 0 {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	l.next = time.Now().Add(betweenDatagrams)
	return l.flush()
}

// flush writes the buffer, within the time that is allowed.
func (l *link) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	if err := l.conn.SetWriteDeadline(time.Now().Add(l.o.Timeout)); err != nil {
		return err
	}
	_, err := l.conn.Write(l.buf)
	return err
}

// finish ends the connection and waits until the server has read all, which it
// shows by ending its side. A connection that ended before, or that was reset, shows
// nothing. Over UDP it waits a moment for the reply that the port is unreachable.
func (l *link) finish(ctx context.Context) error {
	defer l.abandon()
	if l.conn == nil {
		return nil
	}
	half, ok := l.conn.(*net.TCPConn)
	if !ok {
		return l.finishUDP()
	}
	if l.ended() {
		return fmt.Errorf("%s has closed the connection", l.o.Address)
	}
	if err := half.CloseWrite(); err != nil {
		return fmt.Errorf("end the connection: %w", err)
	}
	select {
	case <-l.gone:
	case <-ctx.Done():
		return errors.New("the server does not end the connection")
	}
	if !errors.Is(l.end, io.EOF) {
		return fmt.Errorf("end the connection: %w", l.end)
	}
	l.carried = 0
	return nil
}

// refusal is how long the reply may take that nothing listens on a UDP port, where
// there is a reply at all.
const refusal = 50 * time.Millisecond

// finishUDP ends a connection that nothing has failed on.
func (l *link) finishUDP() error {
	if err := l.conn.SetReadDeadline(time.Now().Add(refusal)); err != nil {
		return err
	}
	var b [64]byte
	if _, err := l.conn.Read(b[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("send: %w", err)
	}
	l.carried = 0
	return nil
}

// abandon closes the connection, if there is one. What it carried may not have been
// read.
func (l *link) abandon() {
	if l.conn == nil {
		return
	}
	_ = l.conn.Close() // nothing of it is used any more
	if l.gone != nil {
		<-l.gone
	}
	l.unsure += l.carried
	l.conn, l.gone, l.carried = nil, nil, 0
}
