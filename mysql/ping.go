package mysql

import (
	"context"
	"database/sql"
	"fmt"
)

// Ping asks the server for nothing, to learn whether it answers.
func (r *Reader) Ping(ctx context.Context) error {
	var one int
	err := r.with(ctx, func(conn *sql.Conn) error { return r.row(ctx, conn, "SELECT /* kasoku */ 1", &one) })
	if err != nil {
		return fmt.Errorf("ask whether it answers: %w", err)
	}
	return nil
}
