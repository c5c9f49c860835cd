package mysql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A Wait is a transaction that waits for a lock of a row which another one holds.
// Statements are as they were sent.
type Wait struct {
	Schema, Table string
	Index         string
	Waiting       string        // statement
	Waiter        uint64        // connection id
	For           time.Duration // at least; InnoDB keeps whole seconds
	Blocking      string        // what the holder runs, else the last statement known of it that locks the table; empty when none is known
	Blocker       uint64        // connection id
	Age           time.Duration // of the holder's transaction, at least
}

// RowLocks are the locks that InnoDB's transactions hold on rows: who waits for whom,
// and which deadlocks there were.
type RowLocks struct{ r *Reader }

// NewRowLocks returns the locks of rows on the reader's server.
func NewRowLocks(r *Reader) RowLocks { return RowLocks{r} }

// mostTransactions are looked at for who waits for whom.
const mostTransactions = 500

const waitersQuery = "SELECT /* kasoku */ trx_id, trx_state = 'LOCK WAIT', COALESCE(trx_query, ''), " +
	"trx_mysql_thread_id, " +
	"COALESCE(TIMESTAMPDIFF(MICROSECOND, trx_wait_started, NOW(6)), 0), COALESCE(TIMESTAMPDIFF(MICROSECOND, " +
	"trx_started, NOW(6)), 0) " +
	"FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT "

// The tables of both servers that show who waits for whom, and for what. MySQL's
// data_locks is joined row by row: asked for several locks at once, 9.7 gave one.
const (
	mariaPairs = "SELECT /* kasoku */ w.requesting_trx_id, w.blocking_trx_id, '', COALESCE(l.lock_table, ''), " +
		"COALESCE(l.lock_index, '') " +
		"FROM information_schema.INNODB_LOCK_WAITS w LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = " +
		"w.requested_lock_id WHERE w.blocking_trx_id IN (%s)"
	mysqlPairs = "SELECT /* kasoku */ STRAIGHT_JOIN w.REQUESTING_ENGINE_TRANSACTION_ID, " +
		"w.BLOCKING_ENGINE_TRANSACTION_ID, " +
		"COALESCE(l.OBJECT_SCHEMA, ''), COALESCE(l.OBJECT_NAME, ''), COALESCE(l.INDEX_NAME, '') FROM " +
		"performance_schema.data_lock_waits w " +
		"LEFT JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID AND l.ENGINE = " +
		"w.ENGINE " +
		"WHERE w.BLOCKING_ENGINE_TRANSACTION_ID IN (%s)"
)

// statementsQuery reads the last statements of sessions, the latest first.
const statementsQuery = "SELECT /* kasoku */ t.PROCESSLIST_ID, s.SQL_TEXT FROM performance_schema.threads t JOIN (" +
	"SELECT THREAD_ID, EVENT_ID, SQL_TEXT FROM performance_schema.events_statements_current UNION " +
	"SELECT THREAD_ID, EVENT_ID, SQL_TEXT FROM performance_schema.events_statements_history) s ON s.THREAD_ID = " +
	"t.THREAD_ID " +
	"WHERE t.PROCESSLIST_ID IN (%s) AND s.SQL_TEXT IS NOT NULL ORDER BY s.EVENT_ID DESC"

// agesQuery reads how long transactions have been going on, in µs.
const agesQuery = "SELECT /* kasoku */ t.PROCESSLIST_ID, e.TIMER_WAIT DIV 1000000 FROM performance_schema.threads t " +
	"JOIN performance_schema.events_transactions_current e ON e.THREAD_ID = t.THREAD_ID " +
	"WHERE t.PROCESSLIST_ID IN (%s) AND e.STATE = 'ACTIVE' AND e.TIMER_WAIT IS NOT NULL"

// A transaction is one row of INNODB_TRX.
type transaction struct {
	id, query   string
	waits       bool
	session     uint64
	waited, age time.Duration
}

// Waits lists who waits for a lock of a row, and for whom. A transaction that
// itself waits counts as a holder of nothing: what it holds up goes on when it
// does. It needs the privilege PROCESS, and on MySQL SELECT on performance_schema.
//
// Source: MariaDB documentation "Information Schema INNODB_LOCK_WAITS Table";
// MySQL 9.7 manual "The data_lock_waits Table". MySQL's
// performance_schema keeps the last statements of each session and the age of its
// transaction, MariaDB's is off by default.
func (l RowLocks) Waits(ctx context.Context) ([]Wait, error) {
	var out []Wait
	err := l.r.with(ctx, func(conn *session) error {
		trx, err := transactionsNow(ctx, conn)
		if err != nil {
			return err
		}
		out, err = waitsOf(ctx, conn, trx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read waits for locks: %w", err)
	}
	return out, nil
}

func transactionsNow(ctx context.Context, conn *session) (map[string]*transaction, error) {
	all := map[string]*transaction{}
	var t transaction
	var waited, age int64
	err := conn.query(ctx, waitersQuery+strconv.Itoa(mostTransactions), func() error {
		row := t
		row.query = clip(t.query, mostStatement)
		// The times at which they began are whole seconds: what began in the same second
		// may have begun just now.
		row.waited, row.age = atLeast(waited), atLeast(age)
		all[row.id] = &row
		return nil
	}, &t.id, &t.waits, &t.query, &t.session, &waited, &age)
	return all, err
}

// atLeast returns the whole seconds that have passed at least since a whole second.
func atLeast(micros int64) time.Duration {
	return max(time.Duration(micros)*time.Microsecond-time.Second, 0).Truncate(time.Second)
}

func waitsOf(ctx context.Context, conn *session, trx map[string]*transaction) ([]Wait, error) {
	var holders []string
	for id, t := range trx {
		if !t.waits {
			holders = append(holders, quoted(id))
		}
	}
	if len(holders) == 0 || len(holders) == len(trx) {
		return nil, nil
	}
	pairs := mariaPairs
	if conn.flavor == MySQL {
		pairs = mysqlPairs
	}
	var waiter, holder string
	var w Wait
	found := map[string]Wait{} // by the one that waits, for the oldest that it waits for
	err := conn.query(ctx, fmt.Sprintf(pairs, strings.Join(holders, ",")), func() error {
		t, by := trx[waiter], trx[holder]
		if known, ok := found[waiter]; t == nil || by == nil || !t.waits || ok && known.Age >= by.age {
			return nil
		}
		x := w
		if x.Schema == "" {
			x.Schema, x.Table = splitTable(x.Table)
		}
		x.Waiting, x.Waiter, x.For = t.query, t.session, t.waited
		x.Blocking, x.Blocker, x.Age = by.query, by.session, by.age
		found[waiter] = x
		return nil
	}, &waiter, &holder, &w.Schema, &w.Table, &w.Index)
	if err != nil {
		return nil, err
	}
	out := slices.Collect(maps.Values(found))
	return out, addHolders(ctx, conn, out)
}

// addHolders fills in what performance_schema knows of those that hold locks; without
// it, or without the right to read it, they stay as they are.
func addHolders(ctx context.Context, conn *session, waits []Wait) error {
	if !conn.schema || len(waits) == 0 {
		return nil
	}
	var ids []string
	seen := map[uint64]bool{}
	for _, w := range waits {
		if !seen[w.Blocker] {
			seen[w.Blocker] = true
			ids = append(ids, strconv.FormatUint(w.Blocker, 10))
		}
	}
	in := strings.Join(ids, ",")
	var session uint64
	var text string
	said := map[uint64][]string{}
	err := conn.query(ctx, fmt.Sprintf(statementsQuery, in), func() error {
		said[session] = append(said[session], clip(text, mostStatement))
		return nil
	}, &session, &text)
	var micros int64
	ages := map[uint64]time.Duration{}
	if err == nil {
		err = conn.query(ctx, fmt.Sprintf(agesQuery, in), func() error {
			ages[session] = time.Duration(micros) * time.Microsecond
			return nil
		}, &session, &micros)
	}
	if err != nil && mysqlflags.ErrorNumber(err) == 0 {
		return err
	}
	for i := range waits {
		w := &waits[i]
		if w.Blocking == "" {
			w.Blocking = holding(said[w.Blocker], w.Table)
		}
		if age, ok := ages[w.Blocker]; ok {
			w.Age = age
		}
	}
	return nil
}

// holding picks, of a session's statements, the latest first, the one that locked
// a row of the table: the last that names it and is more than a plain SELECT, else
// the last. What came before the transaction's beginning is not of it.
func holding(statements []string, table string) string {
	for _, s := range statements {
		low := strings.ToLower(strings.TrimSpace(s))
		first, _, _ := strings.Cut(low, " ")
		switch first = strings.TrimRight(first, ";"); {
		case first == "begin" || first == "start" || first == "commit" || first == "rollback":
			return latest(statements)
		case !strings.Contains(low, strings.ToLower(table)):
		case first == "select" && !strings.Contains(low, "for update") && !strings.Contains(low, " share"):
		default:
			return s
		}
	}
	return latest(statements)
}

func latest(statements []string) string {
	if len(statements) == 0 {
		return ""
	}
	return statements[0]
}

// splitTable takes the name of a table as InnoDB of MariaDB gives it apart:
// `shop`.`orders`.
func splitTable(name string) (schema, table string) {
	schema, table, ok := strings.Cut(name, "`.`")
	if !ok {
		return "", strings.Trim(name, "`\"")
	}
	return strings.TrimPrefix(schema, "`"), strings.TrimSuffix(table, "`")
}

// quoted writes an id that the server gave as a literal.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// DeadlockCount returns how many deadlocks InnoDB has found since the server
// started; ok is false when it does not count them. It needs the privilege PROCESS.
//
// Source: MySQL 9.7 manual "The INFORMATION_SCHEMA INNODB_METRICS Table";
// MariaDB's has the same counter, on by default as well.
func (l RowLocks) DeadlockCount(ctx context.Context) (n uint64, ok bool, err error) {
	err = l.r.with(ctx, func(conn *session) error {
		n, ok = 0, false
		return conn.query(ctx, "SELECT /* kasoku */ COUNT FROM information_schema.INNODB_METRICS WHERE NAME = "+
			"'lock_deadlocks' AND TIME_ENABLED IS NOT NULL", func() error {
			ok = true
			return nil
		}, &n)
	})
	if err != nil {
		return 0, false, fmt.Errorf("count deadlocks: %w", err)
	}
	return n, ok, nil
}

// LastDeadlock returns the last deadlock that InnoDB found since the server
// started, nil when there was none. It needs the privilege PROCESS.
func (l RowLocks) LastDeadlock(ctx context.Context) (*Deadlock, error) {
	var text string
	err := l.r.with(ctx, func(conn *session) error {
		var kind, name string
		return conn.row(ctx, "SHOW /* kasoku */ ENGINE INNODB STATUS", &kind, &name, &text)
	})
	if err != nil {
		return nil, fmt.Errorf("read the last deadlock: %w", err)
	}
	return ParseDeadlock(clip(text, mostInnoDB)), nil
}
