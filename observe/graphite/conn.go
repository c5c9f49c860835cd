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
func (c *Conn) Query(ctx context.Context, metrics ...string) ([][]whisper.Point, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(answerLimit)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	out, err := c.query(deadline, metrics)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = context.DeadlineExceeded
	case errors.Is(err, io.EOF):
		err = errors.New("it ended the connection")
	}
	return nil, fmt.Errorf("carbon's cache: %w", err)
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
		var head [4]byte
		if _, err := io.ReadFull(c.r, head[:]); err != nil {
			return nil, err
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > mostAnswer {
			return nil, fmt.Errorf("an answer of %d bytes", n)
		}
		if uint32(cap(c.buf)) < n {
			c.buf = make([]byte, n)
		}
		c.buf = c.buf[:n]
		if _, err := io.ReadFull(c.r, c.buf); err != nil {
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
