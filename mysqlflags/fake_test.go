package mysqlflags_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"strings"
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
)

// A fake is a database that gives canned answers: by the statement without its
// comment, the names of columns and the rows. Any other statement is a syntax error.
type fake map[string][][]any

func (f fake) open() *sql.DB { return sql.OpenDB(f) }

// fakeDB opens a fake for the time of a test.
func fakeDB(t *testing.T, f fake) *sql.DB {
	t.Helper()
	db := f.open()
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f fake) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f fake) Driver() driver.Driver                        { return nil }

type fakeConn struct{ f fake }

func (c fakeConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (c fakeConn) Close() error                        { return nil }
func (c fakeConn) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }

func (c fakeConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if i := strings.Index(query, "*/"); i >= 0 {
		query = strings.TrimSpace(query[i+2:])
	}
	answer, known := c.f[query]
	if !known {
		return nil, &gomysql.MySQLError{Number: 1064, Message: "You have an error in your SQL syntax"}
	}
	return &fakeRows{answer}, nil
}

type fakeRows struct{ left [][]any }

func (r *fakeRows) Columns() []string {
	names := make([]string, len(r.left[0]))
	for i, v := range r.left[0] {
		names[i] = v.(string)
	}
	return names
}

func (r *fakeRows) Close() error { return nil }

func (r *fakeRows) Next(into []driver.Value) error {
	if len(r.left) < 2 {
		return io.EOF
	}
	for i, v := range r.left[1] {
		into[i] = nil
		if v != nil {
			into[i] = []byte(v.(string))
		}
	}
	r.left = append(r.left[:1:1], r.left[2:]...)
	return nil
}
