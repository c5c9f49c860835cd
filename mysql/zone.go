package mysql

import (
	"context"
	"fmt"
	"time"
)

// ZoneOffset returns how far the server's own times, those of NOW(), are ahead of
// UTC. The names in system_time_zone are ambiguous: CST is −06:00 and +08:00.
func (r *Reader) ZoneOffset(ctx context.Context) (time.Duration, error) {
	var seconds int64
	err := r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "SELECT /* kasoku */ TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW())", &seconds)
	})
	if err != nil {
		return 0, fmt.Errorf("read time zone: %w", err)
	}
	return time.Duration(seconds) * time.Second, nil
}
