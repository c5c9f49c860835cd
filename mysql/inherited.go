package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A Span is the sessions whose connection ids are above From and at most To; with a To
// of 0 all above From.
type Span struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to,omitempty"`
}

// Has reports whether a connection id is in the span.
func (s Span) Has(id uint64) bool { return id > s.From && (s.To == 0 || id <= s.To) }

// copied are the variables of the slow log that a session copies when it begins. A
// later change of the global value does not reach it.
//
// MariaDB's sessions have a slow_query_log of their own, too, which counts only
// while the global one is on.
func copied() []string {
	return []string{"long_query_time", "min_examined_row_limit", "log_slow_rate_limit", "log_slow_filter"}
}

// Copied returns those of the changes whose values sessions copy when they begin.
func Copied(changes []Changed) []Changed {
	var out []Changed
	for _, c := range changes {
		if slices.Contains(copied(), c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// Clients are the sessions that others have on a server.
type Clients struct{ r *Reader }

// NewClients returns the clients of the reader's server.
func NewClients(r *Reader) Clients { return Clients{r} }

// A Client is a session of somebody.
type Client struct {
	ID      uint64
	User    string
	Host    string // with the port, where the server reports it
	DB      string
	Command string // Sleep, Query …
}

// String returns "12 (app@10.0.0.7:51234, shop)".
func (c Client) String() string {
	at := c.User + "@" + c.Host
	if c.DB != "" {
		at += ", " + c.DB
	}
	return fmt.Sprintf("%d (%s)", c.ID, at)
}

// Newest returns the highest connection id among the sessions that are open. Those
// that begin later have higher ones. It takes the privilege PROCESS: without it only
// the sessions of the reader's own user are seen, and the result may be too low.
func (s Clients) Newest(ctx context.Context) (uint64, error) {
	var newest uint64
	err := s.r.with(ctx, func(conn *session) error {
		const query = "SELECT /* kasoku */ COALESCE(MAX(ID), CONNECTION_ID()) FROM information_schema.PROCESSLIST"
		return conn.row(ctx, query, &newest)
	})
	if err != nil {
		return 0, fmt.Errorf("look for sessions: %w", err)
	}
	return newest, nil
}

// Inherited returns the open sessions that have copied changed values: those of
// Copied. MySQL reports the values of each session (exact). MariaDB does not: there it
// is all those that began while the values were changed, by their connection ids.
// Sessions of kasoku's readers, which log nothing, are left out where they are known.
func (s Clients) Inherited(ctx context.Context, changes []Changed, began []Span) (clients []Client, exact bool,
	err error) {
	changes = Copied(changes)
	if len(changes) == 0 || len(began) == 0 {
		return nil, true, nil
	}
	if s.r.Flavor() == MySQL && s.r.HasSchema() {
		clients, err = s.inheritedValues(ctx, changes)
		exact = err == nil
	}
	if !exact && (err == nil || mysqlflags.ErrorNumber(err) != 0) { // it may not be read
		clients, err = s.list(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for sessions that have copied values: %w", err)
	}
	clients = slices.DeleteFunc(clients, func(c Client) bool {
		return !slices.ContainsFunc(began, func(span Span) bool { return span.Has(c.ID) })
	})
	return clients, exact, nil
}

// background are the conditions that leave out what is no client, in SQL.
const background = "ID <> CONNECTION_ID() AND COMMAND NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID') " +
	"AND USER NOT IN ('system user', 'event_scheduler', 'unauthenticated user')"

// list lists the client sessions.
func (s Clients) list(ctx context.Context) (out []Client, err error) {
	err = s.r.with(ctx, func(conn *session) error {
		out = nil
		var c Client
		const query = "SELECT /* kasoku */ ID, USER, HOST, COALESCE(DB, ''), COMMAND " +
			"FROM information_schema.PROCESSLIST WHERE " + background + " ORDER BY ID"
		return conn.query(ctx, query, func() error { out = append(out, c); return nil }, &c.ID, &c.User, &c.Host,
			&c.DB, &c.Command)
	})
	return out, err
}

// inheritedQuery reads the values of each session. A session of kasoku's has set a
// long_query_time of its own.
const inheritedQuery = "SELECT /* kasoku */ t.PROCESSLIST_ID, COALESCE(p.USER, ''), COALESCE(p.HOST, ''), " +
	"COALESCE(p.DB, ''), COALESCE(p.COMMAND, ''), v.VARIABLE_NAME, COALESCE(v.VARIABLE_VALUE, '') " +
	"FROM performance_schema.variables_by_thread v JOIN performance_schema.threads t USING (THREAD_ID) " +
	"JOIN information_schema.PROCESSLIST p ON p.ID = t.PROCESSLIST_ID " +
	"WHERE t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID <> CONNECTION_ID() AND v.VARIABLE_NAME IN (%s) ORDER BY 1"

// inheritedValues lists the sessions that have one of the changed values.
func (s Clients) inheritedValues(ctx context.Context, changes []Changed) (out []Client, err error) {
	names := []string{"'long_query_time'"}
	for _, c := range changes {
		if c.Name != "long_query_time" {
			names = append(names, "'"+c.Name+"'")
		}
	}
	changed := func(name, value string) bool {
		return slices.ContainsFunc(changes, func(c Changed) bool {
			return c.Name == name && sameValue(value, c.During) && !sameValue(value, c.Before)
		})
	}
	err = s.r.with(ctx, func(conn *session) error {
		out = nil
		quiet := map[uint64]bool{}
		var c Client
		var name, value string
		err := conn.query(ctx, fmt.Sprintf(inheritedQuery, strings.Join(names, ", ")), func() error {
			if name == "long_query_time" && sameValue(value, quietTime) {
				quiet[c.ID] = true
			}
			if changed(name, value) && (len(out) == 0 || out[len(out)-1].ID != c.ID) {
				out = append(out, c)
			}
			return nil
		}, &c.ID, &c.User, &c.Host, &c.DB, &c.Command, &name, &value)
		out = slices.DeleteFunc(out, func(c Client) bool { return quiet[c.ID] })
		return err
	})
	return out, err
}

// List returns the clients that are connected, without kasoku's reader. Without the privilege
// PROCESS only those of the reader's own user are seen.
func (s Clients) List(ctx context.Context) ([]Client, error) {
	all, err := s.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return all, nil
}

// Threads returns the threads of the operating system that serve sessions, by
// connection id, as the server numbers them; none where a session has no thread of its own.
func (s Clients) Threads(ctx context.Context) (map[uint64]int, error) {
	query := "SELECT /* kasoku */ ID, COALESCE(TID, 0) FROM information_schema.PROCESSLIST"
	if s.r.Flavor() == MySQL {
		query = "SELECT /* kasoku */ PROCESSLIST_ID, COALESCE(THREAD_OS_ID, 0) FROM performance_schema.threads " +
			"WHERE PROCESSLIST_ID IS NOT NULL AND TYPE = 'FOREGROUND'"
	}
	var out map[uint64]int
	err := s.r.with(ctx, func(conn *session) error {
		out = map[uint64]int{}
		var handling string
		if err := conn.row(ctx, "SELECT /* kasoku */ @@GLOBAL.thread_handling", &handling); err != nil {
			return err
		}
		if handling != "one-thread-per-connection" {
			return nil
		}
		var id uint64
		var thread int
		return conn.query(ctx, query, func() error { out[id] = thread; return nil }, &id, &thread)
	})
	if err != nil {
		return nil, fmt.Errorf("list threads of sessions: %w", err)
	}
	return out, nil
}

// Find returns the client with a connection id; nil when it is gone, or may not
// be seen.
func (s Clients) Find(ctx context.Context, id uint64) (*Client, error) {
	all, err := s.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for session %d: %w", id, err)
	}
	for _, c := range all {
		if c.ID == id {
			return &c, nil
		}
	}
	return nil, nil
}

// EndIdle ends those of the sessions that are idle: not within a transaction that
// has done something. The sessions are in the order of their ids, as
// [Clients.Inherited] returns them. It returns how many it ended, and takes the
// privileges of [Clients.Recycle].
func (s Clients) EndIdle(ctx context.Context, clients []Client) (int, error) {
	ended := map[uint64]bool{}
	if len(clients) == 0 {
		return 0, nil
	}
	_, err := s.endIdle(ctx, clients[len(clients)-1].ID, ended, func(id uint64) bool {
		return slices.ContainsFunc(clients, func(c Client) bool { return c.ID == id })
	})
	return len(ended), err
}
