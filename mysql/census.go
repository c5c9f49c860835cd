package mysql

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// SessionCount is how many sessions do the same thing.
type SessionCount struct {
	Command string // Sleep, Query, Execute …
	State   string // "Sending data", "Waiting for table metadata lock"; often empty
	Count   int
	Longest time.Duration // the longest that one has been at it; whole seconds
}

// Sessions is a census of the server's client sessions, the reader's own not
// among them, nor the server's background threads.
//
// Without the privilege PROCESS only the sessions of the same user are seen.
type Sessions struct {
	Sleep int // idle
	Query int // running a statement: Query and Execute
	Other int // everything else: connecting, preparing, replicating …
	By    []SessionCount
}

// Total returns how many sessions there are.
func (s *Sessions) Total() int { return s.Sleep + s.Query + s.Other }

// sessionsQuery groups in the server: an overloaded one has thousands of sessions.
// Daemon is the command of the server's own threads.
const sessionsQuery = "SELECT /* kasoku */ COMMAND, COALESCE(STATE, ''), COUNT(*), COALESCE(MAX(TIME), 0) FROM %s " +
	"WHERE ID <> CONNECTION_ID() AND COMMAND <> 'Daemon' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"

// Sessions counts the sessions. MySQL is asked through performance_schema,
// which takes no lock that a new connection would wait for.
func (r *Reader) Sessions(ctx context.Context) (Sessions, error) {
	var out Sessions
	err := r.with(ctx, func(conn *session) error {
		out = Sessions{}
		from := "information_schema.PROCESSLIST"
		if conn.flavor == MySQL && conn.schema && conn.version.AtLeast(8, 0, 22) {
			from = "performance_schema.processlist"
		}
		var c SessionCount
		var seconds int64
		return conn.query(ctx, fmt.Sprintf(sessionsQuery, from), func() error {
			c.Longest = time.Duration(max(seconds, 0)) * time.Second
			if len(out.By) < mostKinds && len(c.Command)+len(c.State) <= 2*mostName {
				out.By = append(out.By, c)
			}
			switch c.Command {
			case "Sleep":
				out.Sleep += c.Count
			case "Query", "Execute":
				out.Query += c.Count
			default:
				out.Other += c.Count
			}
			return nil
		}, &c.Command, &c.State, &c.Count, &seconds)
	})
	if err != nil {
		return Sessions{}, fmt.Errorf("count sessions: %w", err)
	}
	return out, nil
}

// mostKinds bounds what sessions can do: a server has some 100 states.
const mostKinds = 1000

// Begun returns how many sessions have begun since the server's start.
func (s Clients) Begun(ctx context.Context) (uint64, error) {
	var name string
	var n uint64
	err := s.r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "/* kasoku */ SHOW GLOBAL STATUS LIKE 'Connections'", &name, &n)
	})
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return n, nil
}

// Open returns how many of the sessions with these connection ids are open.
// Without the privilege PROCESS only those of the same user count.
func (s Clients) Open(ctx context.Context, ids []uint64) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	in := strings.Trim(fmt.Sprint(ids), "[]")
	n := 0
	err := s.r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "SELECT /* kasoku */ COUNT(*) FROM information_schema.PROCESSLIST WHERE ID IN ("+
			strings.ReplaceAll(in, " ", ",")+")", &n)
	})
	if err != nil {
		return 0, fmt.Errorf("look for sessions: %w", err)
	}
	return n, nil
}

// Transactions is a census of InnoDB's open transactions, the reader's own not
// among them.
type Transactions struct {
	Active  int           // begun and not ended
	Waiting int           // of them, waiting for a row lock
	Oldest  time.Duration // age of the oldest; InnoDB keeps whole seconds
}

const transactionsQuery = "SELECT /* kasoku */ COUNT(*), COALESCE(SUM(trx_state = 'LOCK WAIT'), 0), " +
	"COALESCE(TIMESTAMPDIFF(MICROSECOND, MIN(trx_started), NOW(6)), 0) " +
	"FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID()"

// Transactions counts the open transactions. It needs the privilege PROCESS.
//
// InnoDB renews its answer only when it was not asked for during a tenth of a second,
// so asking more often gives old numbers for ever.
func (r *Reader) Transactions(ctx context.Context) (Transactions, error) {
	var out Transactions
	err := r.with(ctx, func(conn *session) error {
		var micros int64
		err := conn.row(ctx, transactionsQuery, &out.Active, &out.Waiting, &micros)
		out.Oldest = (time.Duration(max(micros, 0)) * time.Microsecond).Truncate(time.Second) // began in a whole second
		return err
	})
	if err != nil {
		return Transactions{}, fmt.Errorf("count transactions: %w", err)
	}
	return out, nil
}
