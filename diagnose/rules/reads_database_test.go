package rules

import (
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
)

// databaseReads describes what databaseRules read; false for other rules.
func databaseReads(id string) (extract.Keys, bool) {
	keys := func(source string, names ...string) (out []kasoku.Key) {
		for _, n := range names {
			out = append(out, kasoku.Key{Source: source, Name: n})
		}
		return out
	}
	server := []string{"version", "version_comment"}
	variables := append(slices.Clone(server), "innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin",
		"max_connections")
	busy := keys(diagnose.Host, "cpu.user", "cpu.nice", "cpu.system", "cpu.irq", "cpu.softirq", "cpu.steal", "cpu.idle",
		"cpu.iowait")
	programs := append(keys(diagnose.Process, "cpu.user", "cpu.system"), keys(diagnose.Self, "pid")...)
	locks := status("Innodb_row_lock_waits", "Innodb_row_lock_time", "Questions")
	pool := keys(evidence.SourceExpvar, "WaitCount", "WaitDuration", "MaxOpenConnections", "InUse")
	commit := extract.Keys{Queries: true, Transactions: true, Settings: variables,
		Series: append(status("Innodb_data_fsyncs", "Innodb_row_lock_time", "Binlog_cache_use", "Slaves_connected", "conn.replicas"),
			append(keys(diagnose.Host, "disk.writes", "disk.write_time", "disk.busy", "disk.flushes", "disk.flush_time"), busy...)...)}
	switch id {
	case "DBC-01", "DBC-02", "DBC-03":
		return commit, true
	case "DBC-06":
		return extract.Keys{Settings: append(server, "query_cache_type", "query_cache_size", "query_cache_limit")}, true
	case "LCK-01":
		return extract.Keys{Locks: true, Callers: true, Queries: true, Settings: server, Series: append(locks, pool...)}, true
	case "LCK-02":
		return extract.Keys{Locks: true, Messages: true, Settings: server, Series: append(locks, keys(diagnose.MySQL, "Innodb_deadlocks")...)}, true
	case "LCK-03":
		return extract.Keys{Locks: true, Callers: true, Queries: true, Transactions: true, Settings: server}, true
	case "LCK-04":
		return extract.Keys{Callers: true, Queries: true, Settings: server}, true
	case "POOL-06":
		return extract.Keys{Settings: variables, Queries: true, Service: true, Series: slices.Concat(locks, pool, busy, programs)}, true
	case "HW-03":
		return extract.Keys{Settings: server, Series: slices.Concat(busy, programs)}, true
	case "HW-11":
		return extract.Keys{Settings: server, Series: slices.Concat(status("Questions", "conn.query"), busy, programs)}, true
	case "MES-03":
		commit.Series = slices.Concat(status("Innodb_data_fsyncs", "Innodb_row_lock_waits", "Innodb_row_lock_time"), pool)
		return commit, true
	case "MES-14":
		return extract.Keys{Settings: server, Queries: true, Callers: true, Latencies: true, Series: slices.Concat(locks, pool, busy, programs)}, true
	}
	return extract.Keys{}, false
}
