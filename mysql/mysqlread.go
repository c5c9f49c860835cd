// Package mysql reads what a MySQL or MariaDB server reports about itself:
// status, variables, sessions, transactions, tables, statement digests; and a
// [Switch] changes its settings for a while and puts them back.
//
// The one idea: a [Reader] holds one connection, taken before the load begins,
// so it goes on reading when the server has no connection left to give. It sets
// that session so that its own statements, all tagged /* kasoku */, stay out of
// the slow log and of the statement digests. When the connection is lost it
// makes a new one at the next call, and [Reader.Notices] says so, and whether
// the server was restarted.
//
// Nothing here needs more than the privilege PROCESS, but for what a Switch
// changes.
// Numbers are as the server gives them; their units are in its manual. Errors
// carry a hint where there is something to do.
//
// Checked with MariaDB 10.11 and MySQL 9.7. Sources: MySQL 9.7 manual "Server
// Status Variables", "The Slow Query Log"; MariaDB documentation "Server
// Status Variables", "Slow Query Log".
package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A Flavor is a family of servers.
type Flavor string

// The flavors. Percona Server counts as MySQL.
const (
	MariaDB Flavor = "MariaDB"
	MySQL   Flavor = "MySQL"
)

// A Version is a server's version.
type Version struct {
	Major, Minor, Patch int
	Text                string // as the server gives it: 10.11.19-MariaDB-0+deb12u1
}

// AtLeast reports whether the version is major.minor.patch or later.
func (v Version) AtLeast(major, minor, patch int) bool {
	if v.Major != major {
		return v.Major > major
	}
	if v.Minor != minor {
		return v.Minor > minor
	}
	return v.Patch >= patch
}

// ParseVersion reads what a server gives as its version: the answer to SELECT
// VERSION(), or its variable. Old MariaDB servers put 5.5.5- in front for the
// sake of replication.
func ParseVersion(text string) (Flavor, Version) {
	v := Version{Text: text}
	flavor := MySQL
	if strings.Contains(strings.ToLower(text), "mariadb") {
		flavor = MariaDB
		text = strings.TrimPrefix(text, "5.5.5-")
	}
	rest := text
	for _, to := range []*int{&v.Major, &v.Minor, &v.Patch} {
		n := 0
		for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
			*to = *to*10 + int(rest[n]-'0')
			n++
		}
		if n == 0 || n == len(rest) || rest[n] != '.' {
			break
		}
		rest = rest[n+1:]
	}
	return flavor, v
}

// The kinds of notices.
const (
	Reconnected = "reconnect" // the connection was lost and made anew
	Restarted   = "restart"   // and the server has started anew since
)

// A Notice is something that happened between two readings.
type Notice struct {
	Kind string // Reconnected or Restarted
	At   time.Time
	Text string // "server restarted: up for 3 s; the connection was lost: invalid connection"
}

// A Reader reads one server over one connection. Its methods are safe for
// concurrent use and take turns.
type Reader struct {
	db *sql.DB

	mu         sync.Mutex
	flavor     Flavor
	version    Version
	schema     bool // performance_schema is on
	conn       *sql.Conn
	lost       error // why there is no connection; nil the first time
	boot       time.Time
	session    uint64 // connection id
	restarts   int
	notices    []Notice
	statements uint64
	names      interner
	locks      []string // user-level locks that the session is to hold
}

// New connects to the server and finds out what it is. The database stays the
// caller's; the reader takes one connection of it until Close.
func New(ctx context.Context, db *sql.DB) (*Reader, error) {
	r := &Reader{db: db}
	err := r.with(ctx, func(*sql.Conn) error { return nil })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Flavor returns what family the server is of.
func (r *Reader) Flavor() Flavor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flavor
}

// Version returns the server's version.
func (r *Reader) Version() Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// Boot returns when the server was started, by its own clock, in whole seconds.
func (r *Reader) Boot() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.boot
}

// Restarts returns how many restarts of the server the reader has seen.
func (r *Reader) Restarts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restarts
}

// Statements returns how many statements the reader has sent: its own share of
// Questions.
func (r *Reader) Statements() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statements
}

// Notices returns what happened since the last call, and forgets it.
func (r *Reader) Notices() []Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.notices
	r.notices = nil
	return n
}

// Close gives the connection up. A call after it connects again.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		return nil
	}
	discard(r.conn)
	r.conn = nil
	return nil
}

// with runs f on the connection, made anew if need be. A connection that turns
// out dead is replaced once and f runs again: all that this package sends may
// be sent twice.
func (r *Reader) with(ctx context.Context, f func(*sql.Conn) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		fresh := r.conn == nil
		if fresh {
			if err := r.connect(ctx); err != nil {
				return err
			}
		}
		err := f(r.conn)
		if err == nil || usable(err) {
			return mysqlflags.Explain(err)
		}
		discard(r.conn)
		long := mysqlflags.Overlong(r.db)
		if long != nil {
			err = long
		}
		r.conn, r.lost = nil, err
		if fresh || long != nil || ctx.Err() != nil {
			return mysqlflags.Explain(err)
		}
	}
}

// usable reports whether the connection survived an error.
func usable(err error) bool {
	return mysqlflags.ErrorNumber(err) != 0 || errors.Is(err, sql.ErrNoRows) || errors.Is(err, ErrUnexpected)
}

// ErrUnexpected marks an answer that this package does not understand; the
// connection that it came over is sound.
var ErrUnexpected = errors.New("unexpected answer")

// discard closes a connection for good: one that is only given back to the
// pool would be handed out again, with its session settings.
func discard(c *sql.Conn) {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
	_ = c.Close()
}

// quietTime is the long_query_time of a reader's own session: nothing that it sends
// takes an hour.
const quietTime = "3600"

// connect makes the connection, sets up its session and notices what happened
// since the last one.
func (r *Reader) connect(ctx context.Context) error {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return mysqlflags.Explain(err)
	}
	var version string
	var session uint64
	// The first statement must already be quiet, whatever the server is. A
	// statement is judged by the settings that hold after it.
	err = r.exec(ctx, conn, "SET /* kasoku */ SESSION long_query_time = "+quietTime)
	if err == nil {
		err = r.row(ctx, conn, "SELECT /* kasoku */ VERSION(), CONNECTION_ID()", &version, &session)
	}
	if err == nil {
		r.flavor, r.version = ParseVersion(version)
		var name, on string
		err = r.row(ctx, conn, "/* kasoku */ SHOW GLOBAL VARIABLES LIKE 'performance_schema'", &name, &on)
		r.schema = on == "ON" || on == "1"
	}
	if err == nil {
		err = r.quiet(ctx, conn)
	}
	if err == nil {
		err = r.relock(ctx, conn)
	}
	var clock, uptime int64
	if err == nil {
		err = r.row(ctx, conn, fmt.Sprintf(uptimeQuery, r.statusTable()), &clock, &uptime)
	}
	if err != nil {
		discard(conn)
		return mysqlflags.Explain(fmt.Errorf("set up session: %w", err))
	}
	r.note(session, uptime, time.Unix(clock, 0), time.Now())
	r.conn, r.lost = conn, nil
	return nil
}

// uptimeQuery reads both in one statement: the server computes both from the
// start of the statement, so their difference is the same all its life, whatever
// becomes of its clock.
const uptimeQuery = "SELECT /* kasoku */ UNIX_TIMESTAMP(), VARIABLE_VALUE FROM %s WHERE VARIABLE_NAME = 'Uptime'"

// statusTable is the table of global status, which all users may read.
func (r *Reader) statusTable() string {
	if r.flavor == MySQL && r.version.AtLeast(5, 7, 6) {
		return "performance_schema.global_status"
	}
	return "information_schema.GLOBAL_STATUS"
}

// note remembers when the server was started, by its own clock, and notices a
// new connection and a restart: Uptime went back, or connection ids began anew.
func (r *Reader) note(session uint64, seconds int64, clock, now time.Time) {
	boot := clock.Add(-time.Duration(seconds) * time.Second)
	first := r.boot.IsZero()
	restarted := !first && (!boot.Equal(r.boot) || session <= r.session)
	why := ""
	if r.lost != nil {
		why = "; the connection was lost: " + r.lost.Error()
	}
	switch {
	case restarted:
		r.restarts++
		r.notices = append(r.notices, Notice{Restarted, now, fmt.Sprintf("server restarted: up for %d s%s", seconds,
			why)})
	case why != "":
		r.notices = append(r.notices, Notice{Reconnected, now, "reconnected" + why})
	}
	if first || restarted {
		r.boot = boot
	}
	r.session = session
}

// quiet keeps the session's statements out of the slow log and of the statement
// digests.
//
// MariaDB can switch the log off for one session. MySQL cannot, and may log
// statements without an index however fast they are, unless they read few
// rows; to say so takes a privilege, so that is tried only. So is the change of
// the session's own row of performance_schema.
func (r *Reader) quiet(ctx context.Context, conn *sql.Conn) error {
	if r.schema {
		const out = "UPDATE /* kasoku */ performance_schema.threads SET INSTRUMENTED = 'NO' WHERE PROCESSLIST_ID = CONNECTION_ID()"
		if err := r.exec(ctx, conn, out); err != nil && mysqlflags.ErrorNumber(err) == 0 {
			return err
		}
	}
	if r.flavor == MariaDB {
		return r.exec(ctx, conn, "SET /* kasoku */ SESSION slow_query_log = 0")
	}
	_, err := r.allowed(ctx, conn, "SET /* kasoku */ SESSION min_examined_row_limit = 4294967295")
	if err == nil && r.version.AtLeast(8, 0, 0) {
		// Otherwise the sizes of tables are up to a day old.
		err = r.exec(ctx, conn, "SET /* kasoku */ SESSION information_schema_stats_expiry = 0")
	}
	return err
}

func (r *Reader) exec(ctx context.Context, conn *sql.Conn, statement string) error {
	r.statements++
	_, err := conn.ExecContext(ctx, statement)
	return err
}

func (r *Reader) row(ctx context.Context, conn *sql.Conn, query string, into ...any) error {
	r.statements++
	return conn.QueryRowContext(ctx, query).Scan(into...)
}

// mostRows bounds the rows of an answer, as mysqlflags.MostAnswer does its bytes: a row
// of few bytes can take many when it is kept. Of the 2,000 classes of statements whose
// histograms are read, some 20 buckets each are in use.
const mostRows = 100_000

var errTooManyRows = fmt.Errorf("%w: the server's answer has more than %d rows, and was not read to its end",
	ErrUnexpected, mostRows)

// Bounds of what is kept of an answer that is much shorter when the server is honest.
const (
	mostStatement = 16 << 10 // bytes of a statement that waits, holds a lock or was rolled back
	mostName      = 256      // bytes of an identifier, which has 64 characters, or of a digest
	mostPlan      = 2 << 20  // bytes of a plan
	mostDefined   = 32 << 20 // bytes of all definitions
	mostInnoDB    = 1 << 20  // bytes of SHOW ENGINE INNODB STATUS, which the server cuts there, too
)

// clip returns the first bytes of a text, as a text of its own.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// query runs a query and calls each for every row after scanning it into the values.
func (r *Reader) query(ctx context.Context, conn *sql.Conn, query string, each func() error, into ...any) (err error) {
	r.statements++
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for n := 1; rows.Next(); n++ {
		if n > mostRows {
			return errTooManyRows
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}
