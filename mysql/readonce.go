package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A ReadOnce is what a statement did that was run once.
type ReadOnce struct {
	Sent     uint64 // rows
	Examined uint64 // rows that its plan read from tables, their indexes and temporary tables
}

// RunOnce runs a statement that only returns rows once more, to count them: within a read-only transaction
// that it rolls back, for the limit at most. What locks rows, waits, or is no plain SELECT is refused and not
// sent.
func RunOnce(ctx context.Context, r *Reader, schema, statement string, limit time.Duration) (ReadOnce, error) {
	text, locks, ok := sqlshape.PlainText([]byte(statement))
	if !ok || locks || actsOtherwise(text) {
		return ReadOnce{}, fmt.Errorf("count rows: not run, it may do more than return rows: %w", ErrUnexpected)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*limit+time.Second)
	defer cancel()
	var out ReadOnce
	err := r.with(ctx, func(conn *session) (err error) {
		if schema != "" {
			if err := conn.exec(ctx, "USE "+QuoteName(schema)); err != nil {
				return err
			}
		}
		if err := conn.exec(ctx, "START TRANSACTION READ ONLY"); err != nil {
			return err
		}
		defer func() {
			for _, s := range []string{"ROLLBACK", conn.limit(0)} {
				if end := conn.exec(context.WithoutCancel(ctx), s); err == nil {
					err = end
				}
			}
		}()
		if err := conn.exec(ctx, conn.limit(limit)); err != nil {
			return err
		}
		out, err = conn.runOnce(ctx, string(text))
		return err
	})
	if err != nil {
		return ReadOnce{}, fmt.Errorf("count rows: %w", err)
	}
	return out, nil
}

// runOnce counts what a statement returns, and by the session's counters what it reads. To ask for them
// counts, too, the same each time.
func (s *session) runOnce(ctx context.Context, statement string) (out ReadOnce, err error) {
	var counts [3]uint64
	for i := range counts {
		if i == 2 {
			if out.Sent, err = s.countRows(ctx, statement); err != nil {
				return out, err
			}
		}
		if counts[i], err = s.handlerReads(ctx); err != nil {
			return out, err
		}
	}
	if all, own := counts[2]-counts[1], counts[1]-counts[0]; all > own {
		out.Examined = all - own
	}
	return out, nil
}

// countRows runs a statement and counts its rows.
func (s *session) countRows(ctx context.Context, statement string) (n uint64, err error) {
	*s.sent++
	rows, err := s.conn.QueryContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// handlerReads returns how many rows the session's statements have read.
func (s *session) handlerReads(ctx context.Context) (n uint64, err error) {
	var name string
	var value sql.NullInt64
	err = s.query(ctx, "SHOW SESSION STATUS LIKE 'Handler_read%'", func() error {
		n += uint64(max(value.Int64, 0))
		return nil
	}, &name, &value)
	return n, err
}

// actsOtherwise reports whether a SELECT calls a function that does something else than to compute: that waits,
// locks, counts on, or reads files.
func actsOtherwise(statement []byte) bool {
	acting := []string{"sleep", "benchmark", "get_lock", "release_lock", "release_all_locks", "load_file", "nextval", "setval",
		"next", "previous", "last_insert_id", "master_pos_wait", "source_pos_wait", "master_gtid_wait", "procedure",
		"wait_for_executed_gtid_set", "wait_until_sql_thread_after_gtids"}
	l := sqlshape.NewLexer(statement)
	for t := l.Next(); t.Kind != sqlshape.End; t = l.Next() {
		named := t.Kind == sqlshape.Word || t.Kind == sqlshape.Name
		if named && slices.Contains(acting, strings.ToLower(string(t.Unquoted()))) {
			return true
		}
	}
	return false
}
