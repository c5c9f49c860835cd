package mysql

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku/mysqlflags"
)

// Replication returns what the server says of each source that it replicates from,
// none when it is no replica. It needs REPLICATION CLIENT, on MariaDB since 10.5
// REPLICA MONITOR.
func (r *Reader) Replication(ctx context.Context) ([]mysqlflags.Replica, error) {
	var all []mysqlflags.Replica
	err := r.with(ctx, func(conn *session) (err error) {
		*conn.sent++
		all, err = mysqlflags.ReplicaStatusOf(ctx, conn.conn, conn.version.Text, "/* kasoku */")
		if err != nil && mysqlflags.ErrorNumber(err) == 0 && conn.conn.PingContext(ctx) == nil {
			err = fmt.Errorf("%w: %w", ErrUnexpected, err)
		}
		return err
	})
	return all, err
}
