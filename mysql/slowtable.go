package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

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

// SlowTable calls f for each row of mysql.slow_log that started in a time, in their
// order, at most so many. It takes the privilege SELECT on that table, which has no
// index: all of it is read.
//
// Of MariaDB the times are when statements started, with microseconds. The manual
// of MySQL says the same, but it is not used there: its file has them too.
func (r *Reader) SlowTable(ctx context.Context, from, to time.Time, most int, f func(*TableEntry)) error {
	const columns = "CAST(UNIX_TIMESTAMP(start_time) * 1000000 AS SIGNED), CAST(TIME_TO_SEC(query_time) * 1000000 AS SIGNED), thread_id, rows_sent, rows_examined, sql_text"
	query := fmt.Sprintf("SELECT /* kasoku */ %s FROM mysql.slow_log WHERE UNIX_TIMESTAMP(start_time) BETWEEN %d.%06d AND %d.%06d LIMIT %d",
		columns, from.Unix(), from.Nanosecond()/1000, to.Unix(), to.Nanosecond()/1000, most)
	err := r.with(ctx, func(conn *sql.Conn) error {
		defer mysqlflags.AllowAnswer(r.db, mostStreamed)()
		var e TableEntry
		var start, took int64
		return r.query(ctx, conn, query, func() error {
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

// SlowTableEmpty reports whether mysql.slow_log has no row.
func (r *Reader) SlowTableEmpty(ctx context.Context) (empty bool, err error) {
	err = r.with(ctx, func(conn *sql.Conn) error {
		return r.row(ctx, conn, "SELECT /* kasoku */ NOT EXISTS (SELECT 1 FROM mysql.slow_log LIMIT 1)", &empty)
	})
	if err != nil {
		return false, fmt.Errorf("look at mysql.slow_log: %w", err)
	}
	return empty, nil
}

// EmptySlowTable removes all rows of mysql.slow_log. It takes the privilege DROP on
// that table.
func (r *Reader) EmptySlowTable(ctx context.Context) error {
	err := r.with(ctx, func(conn *sql.Conn) error { return r.exec(ctx, conn, "TRUNCATE /* kasoku */ mysql.slow_log") })
	if err != nil {
		return fmt.Errorf("empty mysql.slow_log: %w", err)
	}
	return nil
}
