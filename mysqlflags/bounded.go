package mysqlflags

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

// MostAnswer is how many bytes of the answer to one statement are read from a server
// that [OpenBounded] opened. Who needs more asks for it with [AllowAnswer].
const MostAnswer = 8 << 20

// OpenBounded is [OpenDSN] for who reads a server that need not be honest: an answer
// that is longer than [MostAnswer] ends its connection, whatever the server calls it: a
// row, the definition of a column, an error. Answers are not compressed, since few bytes
// could stand for many. A server that asks for a file of this host (LOCAL INFILE) gets
// none, whatever the DSN of an application allows.
func OpenBounded(dsn string) (*sql.DB, error) {
	c, err := newConnector(dsn)
	if err != nil {
		return nil, err
	}
	if err := c.cfg.Apply(mysql.EnableCompression(false)); err != nil {
		return nil, fmt.Errorf("DSN: %w", err)
	}
	c.cfg.AllowAllFiles = false
	c.long = &overlong{}
	c.long.most.Store(MostAnswer)
	return sql.OpenDB(c), nil
}

// Overlong returns the error of the last answer that was longer than [MostAnswer], and
// forgets it; nil when none was. The driver itself reports a broken connection.
func Overlong(db *sql.DB) error {
	d, ok := db.Driver().(boundedDriver)
	if !ok {
		return nil
	}
	return d.long.take()
}

// AllowAnswer lets each answer of a server that [OpenBounded] opened have most bytes
// until done is called: for what honest servers say at length, asked for once or twice.
// It counts for all connections of db; calls on one db must not overlap.
func AllowAnswer(db *sql.DB, most int64) (done func()) {
	d, ok := db.Driver().(boundedDriver)
	if !ok {
		return func() {}
	}
	was := d.long.most.Swap(most)
	return func() { d.long.most.Store(was) }
}

// A boundedDriver is the driver of a database that OpenBounded opened.
type boundedDriver struct {
	mysql.MySQLDriver
	long *overlong
}

// overlong keeps the error of an answer that was too long.
type overlong struct {
	most atomic.Int64 // bytes of an answer
	mu   sync.Mutex
	err  error
}

func (o *overlong) set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

func (o *overlong) take() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.err
	o.err = nil
	return err
}

// dial connects as the driver does and counts what the server sends.
func (o *overlong) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer // the context has the limit of time
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &meteredConn{Conn: conn, long: o}, nil
}

// A meteredConn fails when the server has sent too much since the last statement.
type meteredConn struct {
	net.Conn
	long *overlong
	read int64
	head []byte // the first bytes of the answer, until they say how many columns it has
}

// mostColumns is how many columns a result has at most: MySQL 9.7 manual, "Limits on
// Table Column Count and Row Size". The driver makes room for as many as are announced.
const mostColumns = 4096

// headBytes are those of a packet's header and of a length-encoded integer.
const headBytes = 4 + 9

// columnsOf returns the count of columns that an answer begins with; 0 when it is less
// than 251, when the answer begins with something else or too little of it is there.
//
// Source: MySQL internals, "COM_QUERY Response", "Length-Encoded Integers".
func columnsOf(head []byte) uint64 {
	widths := map[byte]int{0xfc: 2, 0xfd: 3, 0xfe: 8}
	if len(head) < 5 {
		return 0
	}
	width, payload := widths[head[4]], int(head[0])|int(head[1])<<8|int(head[2])<<16
	if width == 0 || payload != 1+width || len(head) < 5+width {
		return 0
	}
	var n [8]byte
	copy(n[:], head[5:5+width])
	return binary.LittleEndian.Uint64(n[:])
}

// Read reads from the server.
func (c *meteredConn) Read(b []byte) (int, error) {
	if most := c.long.most.Load(); c.read > most {
		err := fmt.Errorf("the server's answer is longer than %d MiB, and was not read to its end", most>>20)
		c.long.set(err)
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if more := headBytes - len(c.head); n > 0 && more > 0 {
		c.head = append(c.head, b[:min(n, more)]...)
		if columns := columnsOf(c.head); columns > mostColumns {
			err := fmt.Errorf("the server's answer claims %d columns, more than %d", columns, mostColumns)
			c.long.set(err)
			return 0, err
		}
	}
	c.read += int64(n)
	return n, err
}

// mostSaid bounds what is written within an answer: a server with TLS can ask for new
// keys in the middle of it, and is sent 27 bytes (RFC 8446, 4.6.3). So few do not begin
// a new answer. Nor does a ping, or a statement that short: its answer is counted with
// the one before.
const mostSaid = 32

// Write sends a statement, so a new answer begins.
func (c *meteredConn) Write(b []byte) (int, error) {
	if len(b) > mostSaid {
		c.read = 0
	}
	c.head = c.head[:0]
	return c.Conn.Write(b)
}

// SyscallConn lets the driver see whether the server has closed an idle connection.
func (c *meteredConn) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("a %T has no descriptor", c.Conn)
	}
	return raw.SyscallConn()
}

var _ driver.Driver = boundedDriver{}
