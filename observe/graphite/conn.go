package graphite

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/kasoku/kasoku/wire/whisper"
)

// mostAnswer bounds an answer of the cache.
const mostAnswer = 1 << 20

// A Conn is a connection to the port where a carbon-cache or a go-carbon returns the
// values that it has not yet written (CACHE_QUERY_PORT, [carbonlink]). It is not safe
// for concurrent use.
type Conn struct {
	conn net.Conn
	r    *bufio.Reader
	buf  []byte
}

// Dial connects to host:port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("carbon does not answer: %w", err)
	}
	return &Conn{conn: conn, r: bufio.NewReader(conn)}, nil
}

// Close gives the connection up.
func (c *Conn) Close() error { return c.conn.Close() }

// Query returns what the cache holds of each metric, in one round trip; nothing of
// one that it does not hold. After an error the connection is of no use.
func (c *Conn) Query(ctx context.Context, metrics ...string) (out [][]whisper.Point, err error) {
	err = c.within(ctx, func(deadline time.Time) (err error) { out, err = c.query(deadline, metrics); return err })
	if err != nil {
		return nil, fmt.Errorf("carbon's cache: %w", err)
	}
	return out, nil
}

// ask sends one request and returns its answer, until the next one.
func (c *Conn) ask(ctx context.Context, request []byte) (answer []byte, err error) {
	err = c.within(ctx, func(deadline time.Time) error {
		if err := c.conn.SetDeadline(deadline); err != nil {
			return err
		}
		if _, err := c.conn.Write(request); err != nil {
			return err
		}
		return c.readAnswer()
	})
	return c.buf, err
}

// within calls f with a deadline, and ends it when ctx does.
func (c *Conn) within(ctx context.Context, f func(deadline time.Time) error) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(answerLimit)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := f(deadline)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, io.EOF):
		return errors.New("it ended the connection")
	}
	return err
}

func (c *Conn) query(deadline time.Time, metrics []string) ([][]whisper.Point, error) {
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	c.buf = c.buf[:0]
	for _, m := range metrics {
		c.buf = appendQuery(c.buf, m)
	}
	if _, err := c.conn.Write(c.buf); err != nil {
		return nil, err
	}
	out := make([][]whisper.Point, len(metrics))
	for i := range metrics {
		if err := c.readAnswer(); err != nil {
			return nil, err
		}
		points, err := ParseAnswer(c.buf)
		if err != nil {
			return nil, err
		}
		out[i] = points
	}
	return out, nil
}

// readAnswer reads one answer, without its length, into buf.
func (c *Conn) readAnswer() error {
	var head [4]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > mostAnswer {
		return fmt.Errorf("an answer of %d bytes", n)
	}
	if uint32(cap(c.buf)) < n {
		c.buf = make([]byte, n)
	}
	c.buf = c.buf[:n]
	_, err := io.ReadFull(c.r, c.buf)
	return err
}
