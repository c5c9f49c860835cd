// Package mysql is the source "mysql": what a MySQL or MariaDB server says of
// itself, over one connection that is kept.
//
// The one idea: every numeric variable of SHOW GLOBAL STATUS, under the name
// that the server gives it, so that no later question finds its number missing, and
// without the temporary tables, scans, sorts and rows of kasoku's own sessions.
// Beside them stand the sessions by what they do and the open transactions. Who
// waits for whose locks, replication, statement digests and the use of tables are
// sources of their own: [Locks] and those of [Detail].
//
// A server that is down costs a gap with the reason. The source tries again at
// most once a second and goes on when the server is back; a restart is an event.
// An answer may take [answerLimit]: giving up means losing the connection, and
// an overloaded server may have none left to give.
//
// # Units and clock
//
// Status variables keep the server's units: times of row locks are
// milliseconds, those of Uptime seconds. Ages of transactions are seconds.
// Counters start at zero when the server restarts, and on FLUSH STATUS.
//
// Sources: package kasoku/mysql; the manuals named there and at the table of kinds.
package mysql

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Name is the name of the source.
const Name = "mysql"

const (
	// answerLimit is how long all answers of a tick may take together.
	answerLimit = 10 * time.Second
	// retryAfter is the least time between two attempts to connect.
	retryAfter = time.Second
)

// The numbers of the errors that say that a privilege is missing: commands and
// tables. Source: MySQL 9.7, "Server Error Message Reference"; MariaDB's too.
const (
	accessDenied      = 1227
	tableAccessDenied = 1142
)

// A reader is what the source needs of mysql.Reader.
type reader interface {
	ReadStatus(context.Context, *mysql.Status) error
	Sessions(context.Context) (mysql.Sessions, error)
	Transactions(context.Context) (mysql.Transactions, error)
	Notices() []mysql.Notice
	Statements() uint64
	Close() error
}

// A Source reads one server. It is not safe for concurrent use.
type Source struct {
	connect func(context.Context) (reader, error)
	reader  reader // nil until the first connection

	tried  time.Time // when the last attempt that failed began; zero when none did
	failed error     // why

	status   mysql.Status
	own      ownWork  // of all of kasoku's sessions that sample this server
	series   []series // of status.Values, in its order
	states   []state  // of sessions, that were seen
	blind    bool     // the privilege PROCESS is missing
	warnings []kasoku.Warning

	locks atomic.Pointer[rowLocks] // of the last status, for Locks; nil before
}

// A series is what does not change of a status variable.
type series struct {
	name, unit string
	kind       kasoku.Kind
	lower      string // its name
	others     others // of a counter that kasoku's own sessions add to
}

// New returns a source for the server of a database, which stays the caller's:
// the source takes one connection of it until Close. It connects at the first
// Collect.
func New(db *sql.DB) *Source {
	return &Source{connect: func(ctx context.Context) (reader, error) {
		r, err := mysql.New(ctx, db)
		if err != nil {
			return nil, err // a nil *Reader would make a reader that is not nil
		}
		return r, nil
	}}
}

// Name returns "mysql".
func (s *Source) Name() string { return Name }

// Collect reads status, transactions and sessions. It fails when the server
// cannot be asked. Without the privilege PROCESS, transactions and sessions are
// left out, with a warning: the server would show those of the same user only.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	began := time.Now()
	if s.failed != nil && began.Sub(s.tried) < retryAfter {
		return s.failed
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	err := s.collect(ctx, f)
	s.failed = err
	if err != nil {
		s.tried = began
	}
	return err
}

func (s *Source) collect(ctx context.Context, f *kasoku.Frame) error {
	if s.reader == nil {
		r, err := s.connect(ctx)
		if err != nil {
			return err
		}
		s.reader = r
	}
	if err := s.readStatus(ctx); err != nil {
		return err
	}
	s.noteLocks()
	f.Gauge(Up, "", "ratio", 1)
	s.emitStatus(f)
	if s.blind {
		return nil
	}
	trx, err := s.reader.Transactions(ctx)
	if n := mysqlflags.ErrorNumber(err); n == accessDenied || n == tableAccessDenied {
		s.goBlind(err)
		return nil
	}
	if err != nil {
		return err
	}
	conns, err := s.reader.Sessions(ctx)
	if err != nil {
		return err
	}
	f.Gauge(TrxActive, "", "count", float64(trx.Active))
	f.Gauge(TrxOldest, "", "s", trx.Oldest.Seconds())
	f.Gauge(TrxWaiting, "", "count", float64(trx.Waiting))
	f.Gauge(ConnSleep, "", "count", float64(conns.Sleep))
	f.Gauge(ConnQuery, "", "count", float64(conns.Query))
	f.Gauge(ConnOther, "", "count", float64(conns.Other))
	f.Gauge(ConnReplicas, "", "count", float64(replicas(conns)))
	s.emitStates(f, conns)
	return nil
}

// readStatus reads the server's counters, after those of kasoku's sessions.
func (s *Source) readStatus(ctx context.Context) error {
	s.own.turn.Lock()
	defer s.own.turn.Unlock()
	if s.own.apart != nil {
		_ = s.own.read(ctx, s.own.apart) // one that is lost says so itself
		s.own.apart = nil
	}
	if err := s.own.read(ctx, s.reader); err != nil {
		return err
	}
	return s.reader.ReadStatus(ctx, &s.status)
}

// replicas counts the sessions that read the binary log.
func replicas(s mysql.Sessions) (n int) {
	for _, c := range s.By {
		if strings.HasPrefix(c.Command, "Binlog Dump") {
			n += c.Count
		}
	}
	return n
}

// mostStates of sessions have series of their own; what is beyond counts as "other".
const mostStates = 32

// A state is what sessions do, and how many do it now.
type state struct {
	name  string
	count int
}

// emitStates appends how many sessions do what, the idle ones left out: "Query:
// Sending data". One that was seen once has a value from then on.
func (s *Source) emitStates(f *kasoku.Frame, now mysql.Sessions) {
	for i := range s.states {
		s.states[i].count = 0
	}
	for _, c := range now.By {
		if c.Command != "Sleep" {
			s.stateOf(c.Command, c.State).count += c.Count
		}
	}
	for _, x := range s.states {
		f.Gauge(ConnState, x.name, "count", float64(x.count))
	}
}

// stateOf returns the state of that name. Servers have no user's text in it.
func (s *Source) stateOf(command, doing string) *state {
	for i := range s.states {
		if n := s.states[i].name; n == command && doing == "" || len(n) == len(command)+len(doing)+2 &&
			strings.HasPrefix(n, command) && strings.HasSuffix(n, doing) {
			return &s.states[i]
		}
	}
	name := command
	if doing != "" {
		name += ": " + doing
	}
	if len(s.states) >= mostStates {
		name = "other"
		if last := len(s.states) - 1; s.states[last].name == name {
			return &s.states[last]
		}
	}
	s.states = append(s.states, state{name: name})
	return &s.states[len(s.states)-1]
}

// emitStatus appends the status variables. The server gives them in the same
// order each time, so kind and unit are looked up once.
func (s *Source) emitStatus(f *kasoku.Frame) {
	for i := range s.status.Values {
		v := &s.status.Values[i]
		if i == len(s.series) {
			s.series = append(s.series, series{})
		}
		known := &s.series[i]
		if known.name != v.Name {
			*known = series{name: v.Name, unit: unitOf(v.Name), kind: kindOf(v.Name), lower: strings.ToLower(v.Name)}
		}
		value := v.Value
		if own, ok := s.own.of(known.lower); ok {
			value = known.others.take(value, own)
		}
		f.Samples = append(f.Samples, kasoku.Sample{Name: known.name, Unit: known.unit, Kind: known.kind, Value: value})
	}
}

func (s *Source) goBlind(err error) {
	s.blind = true
	s.warnings = append(s.warnings, kasoku.Warning{
		Code: "mysql-partial",
		Text: "sessions and transactions of the database are missing: " + err.Error(),
		Hint: "give the user the right to see them: GRANT PROCESS ON *.* TO …",
	})
}

// Events returns restarts and lost connections since the last call.
func (s *Source) Events() []kasoku.Event {
	if s.reader == nil {
		return nil
	}
	var out []kasoku.Event
	for _, n := range s.reader.Notices() {
		out = append(out, kasoku.Event{Kind: n.Kind, Text: n.Text})
	}
	return out
}

// Warnings returns what could not be read.
func (s *Source) Warnings() []kasoku.Warning { return s.warnings }

// Statements returns how many statements the source itself has sent; the
// server's Questions counts them too. It must not be called during Collect.
func (s *Source) Statements() uint64 {
	if s.reader == nil {
		return 0
	}
	return s.reader.Statements()
}

// Session returns the id of the source's connection; 0 before there is one.
func (s *Source) Session() uint64 { return sessionOf(s.reader) }

// sessionOf returns the connection id of a reader of a server.
func sessionOf(r any) uint64 {
	if r, ok := r.(interface{ Epoch() mysql.Epoch }); ok {
		return r.Epoch().Session
	}
	return 0
}

// Close gives the connection up.
func (s *Source) Close() error {
	if s.reader == nil {
		return nil
	}
	return s.reader.Close()
}
