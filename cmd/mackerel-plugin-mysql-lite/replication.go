package main

import (
	"context"
	"database/sql"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
)

// replication returns the lines of replication: zeros for a server that is no
// replica, and no lag where the server does not know it. A thread counts as running
// when it does so on every channel.
func replication(ctx context.Context, db *sql.DB) ([]plugin.Value, error) {
	channels, err := mysqlflags.ReplicaStatus(ctx, db)
	if err != nil {
		return nil, err
	}
	lag, known := mysqlflags.WorstLag(channels)
	io, applier := 1.0, 1.0
	for _, c := range channels {
		if !c.IO.Yes() {
			io = 0
		}
		if !c.SQL.Yes() {
			applier = 0
		}
	}
	if len(channels) == 0 {
		io, applier, known = 0, 0, true
	}
	var out []plugin.Value
	if known {
		out = append(out, plugin.Value{Name: "replication-behind-master.second", Value: lag.Seconds()})
	}
	return append(out, plugin.Value{Name: "replication-threads.io", Value: io},
		plugin.Value{Name: "replication-threads.sql", Value: applier}), nil
}
