package mysql

import (
	"context"
	"fmt"
)

// Ping asks the server for nothing, to learn whether it answers.
func (r *Reader) Ping(ctx context.Context) error {
	var one int
	err := r.with(ctx, func(conn *session) error { return conn.row(ctx, "SELECT /* kasoku */ 1", &one) })
	if err != nil {
		return fmt.Errorf("ask whether it answers: %w", err)
	}
	return nil
}
