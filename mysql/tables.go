package mysql

import (
	"context"
	"fmt"
	"strings"
)

// A Schema is the tables of a server, without the server's own.
type Schema struct{ r *Reader }

// NewSchema returns the tables of the reader's server.
func NewSchema(r *Reader) Schema { return Schema{r} }

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
func (s Schema) Tables(ctx context.Context) ([]Table, error) {
	var out []Table
	err := s.r.with(ctx, func(conn *session) error {
		out = nil
		var t Table
		return conn.query(ctx, tablesQuery, func() error {
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
func (s Schema) CountRows(ctx context.Context, table string) (int64, error) {
	var n int64
	err := s.r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "SELECT /* kasoku */ COUNT(*) FROM "+QuoteName(table), &n)
	})
	if err != nil {
		return 0, fmt.Errorf("count rows of %q: %w", table, err)
	}
	return n, nil
}

// QuoteName quotes "schema.table" or "table" as identifiers. The first dot
// separates schema and table.
func QuoteName(name string) string {
	return QuoteParts(strings.SplitN(name, ".", 2)...)
}
