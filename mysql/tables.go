package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// A Table is one base table of the users'.
type Table struct {
	Schema, Name string
	Engine       string
	Rows         int64 // InnoDB's estimate, often off by half; CountRows counts
	DataBytes    int64
	IndexBytes   int64 // secondary indexes
}

const tablesQuery = "SELECT /* kasoku */ TABLE_SCHEMA, TABLE_NAME, COALESCE(ENGINE, ''), COALESCE(TABLE_ROWS, 0), " +
	"COALESCE(DATA_LENGTH, 0), COALESCE(INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' " +
	"AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1, 2"

// Tables lists the tables that the user may see, by schema and name.
func (r *Reader) Tables(ctx context.Context) ([]Table, error) {
	var out []Table
	err := r.with(ctx, func(conn *sql.Conn) error {
		out = nil
		var t Table
		return r.query(ctx, conn, tablesQuery, func() error {
			out = append(out, t)
			return nil
		}, &t.Schema, &t.Name, &t.Engine, &t.Rows, &t.DataBytes, &t.IndexBytes)
	})
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return out, nil
}

// CountRows counts the rows of a table, named "schema.table" or, in the
// connection's own database, "table". It reads a whole index: on a table of
// millions of rows that takes seconds.
func (r *Reader) CountRows(ctx context.Context, table string) (int64, error) {
	var n int64
	err := r.with(ctx, func(conn *sql.Conn) error {
		return r.row(ctx, conn, "SELECT /* kasoku */ COUNT(*) FROM "+QuoteName(table), &n)
	})
	if err != nil {
		return 0, fmt.Errorf("count rows of %q: %w", table, err)
	}
	return n, nil
}

// QuoteName quotes "schema.table" or "table" as identifiers. The first dot
// parts schema and table.
func QuoteName(name string) string {
	return QuoteParts(strings.SplitN(name, ".", 2)...)
}
