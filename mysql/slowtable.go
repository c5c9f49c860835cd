package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A SlowTable is a server's table of the slow log, mysql.slow_log.
type SlowTable struct{ r *Reader }

// NewSlowTable returns the table of the reader's server.
func NewSlowTable(r *Reader) SlowTable { return SlowTable{r} }

// A TableEntry is a row of the slow log's table.
type TableEntry struct {
	Start        time.Time // in microseconds
	QueryTime    time.Duration
	ThreadID     uint64
	RowsSent     uint64
	RowsExamined uint64
	Statement    []byte // valid until the next row
}

// mostStreamed bounds the bytes of mysql.slow_log, of which no row is kept.
const mostStreamed = 64 << 20

// Each calls f for the rows that started between two times, both included, in the
// order of the table and at most so many. It takes the privilege SELECT on that
// table, which has no index: all of it is read.
//
// Of MariaDB the times are when statements started, with microseconds. The manual
// of MySQL says the same, but it is not used there: its file has them too.
func (t SlowTable) Each(ctx context.Context, from, to time.Time, most int, f func(*TableEntry)) error {
	const columns = "CAST(UNIX_TIMESTAMP(start_time) * 1000000 AS SIGNED), CAST(TIME_TO_SEC(query_time) * 1000000 " +
		"AS SIGNED), thread_id, rows_sent, rows_examined, sql_text"
	query := fmt.Sprintf("SELECT /* kasoku */ %s FROM mysql.slow_log WHERE UNIX_TIMESTAMP(start_time) BETWEEN "+
		"%d.%06d AND %d.%06d LIMIT %d",
		columns, from.Unix(), from.Nanosecond()/1000, to.Unix(), to.Nanosecond()/1000, most)
	err := t.r.with(ctx, func(conn *session) error {
		defer mysqlflags.AllowAnswer(t.r.db, mostStreamed)()
		var e TableEntry
		var start, took int64
		return conn.query(ctx, query, func() error {
			e.Start, e.QueryTime = time.UnixMicro(start), time.Duration(took)*time.Microsecond
			f(&e)
			return nil
		}, &start, &took, &e.ThreadID, &e.RowsSent, &e.RowsExamined, &e.Statement)
	})
	if err != nil {
		return fmt.Errorf("read mysql.slow_log: %w", err)
	}
	return nil
}

// IsEmpty reports whether the table has no row.
func (t SlowTable) IsEmpty(ctx context.Context) (empty bool, err error) {
	err = t.r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "SELECT /* kasoku */ NOT EXISTS (SELECT 1 FROM mysql.slow_log LIMIT 1)", &empty)
	})
	if err != nil {
		return false, fmt.Errorf("look at mysql.slow_log: %w", err)
	}
	return empty, nil
}

// Clear removes all rows. It takes the privilege DROP on that table.
func (t SlowTable) Clear(ctx context.Context) error {
	err := t.r.with(ctx, func(conn *session) error { return conn.exec(ctx, "TRUNCATE /* kasoku */ mysql.slow_log") })
	if err != nil {
		return fmt.Errorf("empty mysql.slow_log: %w", err)
	}
	return nil
}
