package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Prepare asks whether the reader's server takes a statement, with ? for values, within a time
// limit: the server reads it and looks up its tables and columns. The statement is not run.
// MariaDB may call a stored function of constants to know a result's type: what that writes is
// refused where the statement only reads, and else rolled back. An error with a number
// ([mysqlflags.ErrorNumber]) is what the server has against it.
//
// Source: MySQL 9.7 manual, "Prepared Statements"; MariaDB documentation, COM_STMT_PREPARE, which
// takes one statement.
func Prepare(ctx context.Context, r *Reader, schema, statement string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := r.with(ctx, func(conn *session) error {
		if schema != "" {
			if err := conn.exec(ctx, "USE "+QuoteName(schema)); err != nil {
				return err
			}
		}
		begin := "START /* kasoku */ TRANSACTION"
		if locks, ok := sqlshape.PlainSelect([]byte(statement)); ok && !locks { // other statements would be refused in one that only reads
			begin += " READ ONLY"
		}
		if err := conn.exec(ctx, begin); err != nil {
			return err
		}
		defer func() { _ = conn.exec(ctx, "ROLLBACK /* kasoku */") }() // a lost connection has none left
		*conn.sent++
		stmt, err := conn.conn.PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		defer func() { _ = stmt.Close() }() // an error of closing says nothing of the statement
		return nil
	})
	if err != nil && mysqlflags.ErrorNumber(err) == 0 {
		return fmt.Errorf("prepare: %w", err)
	}
	return err
}
