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
// A Reader itself reads what the server is, its status and its variables. What is
// asked beyond that has a part of its own over the same connection: [Clients],
// [Schema], [Summaries], [RowLocks], [UserLocks], [SlowTable], [Explain]; [SlowLog] and
// [Consumers] plan what a Switch changes.
//
// Most of it needs no more than the privilege PROCESS; what needs more says so.
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
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

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

	mu         sync.Mutex // guards the fields below, and so the turns
	session    *session   // nil before the first connection, and when it is lost
	lost       error      // why there is none; nil the first time
	server     server     // as of the last connection
	life       life
	statements uint64
	locks      heldLocks
}

// New connects to the server and finds out what it is. The database stays the
// caller's; the reader takes one connection of it until Close.
func New(ctx context.Context, db *sql.DB) (*Reader, error) {
	r := &Reader{db: db}
	err := r.with(ctx, func(*session) error { return nil })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Flavor returns what family the server is of.
func (r *Reader) Flavor() Flavor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.flavor
}

// Version returns the server's version.
func (r *Reader) Version() Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.version
}

// Boot returns when the server was started, by its own clock, in whole seconds.
func (r *Reader) Boot() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life.boot
}

// Restarts returns how many restarts of the server the reader has seen.
func (r *Reader) Restarts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life.restarts
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
	n := r.life.notices
	r.life.notices = nil
	return n
}

// Close gives the connection up. A call after it connects again.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != nil {
		r.session.discard()
		r.session = nil
	}
	return nil
}

// with runs f on the connection, made anew if need be. A connection that turns
// out dead is replaced once and f runs again: all that this package sends may
// be sent twice.
func (r *Reader) with(ctx context.Context, f func(*session) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		fresh := r.session == nil
		if fresh {
			if err := r.connect(ctx); err != nil {
				return err
			}
		}
		err := f(r.session)
		if err == nil || usable(err) {
			return mysqlflags.Explain(err)
		}
		r.session.discard()
		long := mysqlflags.Overlong(r.db)
		if long != nil {
			err = long
		}
		r.session, r.lost = nil, err
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

// connect makes the connection, sets up its session and notices what happened
// since the last one.
func (r *Reader) connect(ctx context.Context) error {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return mysqlflags.Explain(err)
	}
	s := &session{conn: conn, sent: &r.statements}
	var id uint64
	if id, err = s.begin(ctx); err == nil {
		err = r.locks.retake(ctx, s)
	}
	var clock, uptime int64
	if err == nil {
		err = s.row(ctx, fmt.Sprintf(uptimeQuery, s.statusTable(globalStatus)), &clock, &uptime)
	}
	if s.flavor != "" {
		r.server = s.server
	}
	if err != nil {
		s.discard()
		return mysqlflags.Explain(fmt.Errorf("set up session: %w", err))
	}
	r.life.note(id, uptime, time.Unix(clock, 0), time.Now(), r.lost)
	r.session, r.lost = s, nil
	return nil
}

// uptimeQuery reads both in one statement: the server computes both from the
// start of the statement, so their difference is the same all its life, whatever
// becomes of its clock.
const uptimeQuery = "SELECT /* kasoku */ UNIX_TIMESTAMP(), VARIABLE_VALUE FROM %s WHERE VARIABLE_NAME = 'Uptime'"

// A life is what a reader has seen of the starts of its server.
type life struct {
	boot     time.Time // by the server's own clock
	newest   uint64    // connection id of the reader's last connection
	restarts int
	notices  []Notice
}

// note remembers when the server was started, by its own clock, and notices a
// new connection and a restart: Uptime went back, or connection ids began anew.
// lost is why the connection before it was lost, if it was.
func (l *life) note(id uint64, seconds int64, clock, now time.Time, lost error) {
	boot := clock.Add(-time.Duration(seconds) * time.Second)
	first := l.boot.IsZero()
	restarted := !first && (!boot.Equal(l.boot) || id <= l.newest)
	why := ""
	if lost != nil {
		why = "; the connection was lost: " + lost.Error()
	}
	switch {
	case restarted:
		l.restarts++
		l.notices = append(l.notices, Notice{Restarted, now, fmt.Sprintf("server restarted: up for %d s%s", seconds,
			why)})
	case why != "":
		l.notices = append(l.notices, Notice{Reconnected, now, "reconnected" + why})
	}
	if first || restarted {
		l.boot = boot
	}
	l.newest = id
}
