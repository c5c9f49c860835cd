package mysql

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku/mysqlflags"
)

// Rights is what the reader's user may do.
type Rights struct {
	Process bool // see all sessions and transactions
	SlowLog bool // switch the slow log on
}

// Rights tries what needs a privilege; roles and wildcards make the answer of
// SHOW GRANTS hard to read. Nothing is altered: a variable is set to the value
// that it has.
func (r *Reader) Rights(ctx context.Context) (Rights, error) {
	var out Rights
	err := r.with(ctx, func(conn *session) (err error) {
		if out.Process, err = conn.allowed(ctx,
			"SELECT /* kasoku */ COUNT(*) FROM information_schema.INNODB_TRX"); err != nil {
			return err
		}
		out.SlowLog, err = conn.allowed(ctx,
			"SET /* kasoku */ GLOBAL min_examined_row_limit = @@GLOBAL.min_examined_row_limit")
		return err
	})
	if err != nil {
		return Rights{}, fmt.Errorf("check rights: %w", err)
	}
	return out, nil
}

// A schemaRight says that performance_schema may not be read.
type schemaRight struct{ error }

// Unwrap returns what the server said.
func (e schemaRight) Unwrap() error { return e.error }

// Hint returns which right is missing.
func (schemaRight) Hint() string {
	return "give the user the right to read it: GRANT SELECT ON performance_schema.* TO …"
}

// forbidden gives a hint to an error that says that a table may not be read.
func forbidden(err error) error {
	const tableAccessDenied, databaseAccessDenied = 1142, 1044
	if n := mysqlflags.ErrorNumber(err); n == tableAccessDenied || n == databaseAccessDenied {
		return schemaRight{err}
	}
	return err
}
