package rules

import (
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/observe/expvar"
)

// waitingSockets are connections to the database in TIME_WAIT.
var waitingSockets = kasoku.Key{Source: "sockets", Name: "tcp.time_wait", Instance: "to 3306"}

func status(names ...string) []kasoku.Key {
	var out []kasoku.Key
	for _, n := range append(names, "Uptime") {
		out = append(out, kasoku.Key{Source: diagnose.MySQL, Name: n})
	}
	return out
}

// reads describes what each rule reads of a recording, and so what its extracts hold.
// A load of kasoku's own needs no processes.
func reads(id string, ownLoad bool) extract.Keys {
	for _, of := range []func(string) (extract.Keys, bool){indexReads, queryReads, databaseReads, webReads, clientReads, carbonReads} {
		if k, ok := of(id); ok {
			return k
		}
	}
	server := []string{"version", "version_comment"}
	pool := extract.Keys{
		Series: append(status("Connections", "Connection_errors_max_connections", "Threads_connected", "Max_used_connections", "Aborted_clients", "Questions", "Com_stmt_prepare"), waitingSockets,
			kasoku.Key{Source: expvar.Name, Name: expvar.MaxOpenConnections}),
		Settings: append(slices.Clone(server), "port", "max_connections", "sort_buffer_size", "join_buffer_size", "read_buffer_size",
			"read_rnd_buffer_size", "thread_stack"),
		Messages: true,
	}
	verbs := []string{"Com_insert", "Com_select", "Com_update", "Com_delete", "Com_replace"}
	switch id {
	case "POOL-01", "POOL-02", "POOL-03", "POOL-04":
		return pool
	case "DRV-01":
		return extract.Keys{Series: status(append(verbs, "Com_stmt_prepare", "Com_stmt_execute", "Com_stmt_close", "Questions", "Prepared_stmt_count")...), Settings: server, Service: true}
	case "DRV-04":
		return extract.Keys{Series: status(append(verbs, "Com_begin", "Handler_update", "Innodb_rows_updated", "Questions")...), Settings: server, Queries: true, Saves: true, Service: true}
	case "DRV-05":
		return extract.Keys{Series: append(status(verbs...), kasoku.Key{Source: diagnose.Process, Name: "io.write_calls"}), Settings: server, Messages: true}
	case "IDX-08":
		return extract.Keys{Settings: server, Configs: []string{capture.KindSchema, capture.KindSchemaAfter, diagnose.KindProbe}, Queries: true}
	case "OPS-01":
		return extract.Keys{Settings: server, Messages: true}
	case "OPS-02":
		return extract.Keys{Settings: server, Queries: true}
	case "OPS-03":
		return extract.Keys{Settings: append(server, "system_time_zone", "time_zone")}
	case "OPS-11":
		return extract.Keys{Settings: server, Service: true, Series: idleReads()}
	case "OPS-09":
		return extract.Keys{Settings: server, Configs: []string{diagnose.KindProbe}}
	case "MES-04":
		return extract.Keys{Settings: server, RowChecks: true}
	case "MES-07":
		return extract.Keys{Settings: server, Messages: true}
	case "HW-01", "HW-02", "HW-04", "HW-06", "HW-07", "HW-10", "HW-12", "OS-01", "OS-02", "OS-04", "MES-06":
		return hostReads(id, server)
	case "HW-05":
		k := extract.Keys{Settings: server}
		for _, mode := range []string{"user", "nice", "system", "irq", "softirq", "steal", "idle", "iowait"} {
			k.Series = append(k.Series, kasoku.Key{Source: diagnose.Host, Name: "cpu." + mode}, kasoku.Key{Source: diagnose.Self, Name: "cpu." + mode})
			if !ownLoad {
				k.Series = append(k.Series, kasoku.Key{Source: diagnose.Process, Name: "cpu." + mode})
			}
		}
		return k
	}
	if slices.Contains([]string{"MES-01", "MES-02", "MES-11", "MES-12", "OPS-06"}, id) {
		return groupReads(id, server)
	}
	return extract.Keys{}
}

// idleReads are the series by which a service is known to be idle.
func idleReads() (out []kasoku.Key) {
	add := func(source string, names ...string) {
		for _, n := range names {
			out = append(out, kasoku.Key{Source: source, Name: n})
		}
	}
	add(diagnose.Host, "cpu.user", "cpu.nice", "cpu.system", "cpu.irq", "cpu.softirq", "cpu.steal", "cpu.idle",
		"cpu.iowait")
	add(diagnose.Process, "cpu.user", "cpu.system")
	add(diagnose.Self, "pid")
	add(evidence.SourceExpvar, "WaitCount", "WaitDuration", "MaxOpenConnections", "InUse")
	return append(out, status("Innodb_row_lock_waits", "Innodb_row_lock_time", "Questions")...)
}

// groupReads is reads of the rules that compare runs.
func groupReads(id string, server []string) extract.Keys {
	k := extract.Keys{Settings: server}
	if id == "MES-11" {
		k.Messages, k.Configs = true, []string{"nginx"}
		k.Series = status("Connections", "Connection_errors_max_connections", "Questions", "Com_stmt_prepare", "Com_commit", "Bytes_sent")
		for _, source := range []string{diagnose.Process, diagnose.Self} {
			k.Series = append(k.Series, kasoku.Key{Source: source, Name: "cpu.user"}, kasoku.Key{Source: source, Name: "cpu.system"})
		}
	}
	return k
}

// hostReads is reads of the rules about the host and its limits.
func hostReads(id string, server []string) extract.Keys {
	keys := func(source string, names ...string) (out []kasoku.Key) {
		for _, n := range names {
			out = append(out, kasoku.Key{Source: source, Name: n})
		}
		return out
	}
	busy := keys(diagnose.Host, "cpu.user", "cpu.nice", "cpu.system", "cpu.irq", "cpu.softirq", "cpu.steal", "cpu.idle", "cpu.iowait")
	programs := append(keys(diagnose.Process, "cpu.user", "cpu.system", "rss"), keys(diagnose.Self, "pid")...)
	switch id {
	case "HW-01", "HW-02":
		return extract.Keys{Series: append(busy, programs...), Settings: server, Queries: id == "HW-01"}
	case "HW-04":
		return extract.Keys{Series: append(busy, programs...), Settings: server, Service: true}
	case "HW-06":
		return extract.Keys{Settings: append(server, "innodb_buffer_pool_size"), Messages: true, Series: slices.Concat(programs,
			keys(diagnose.Host, "mem.total", "mem.available", "vm.oom_kill", "vm.pswpin", "vm.pswpout", "vm.allocstall", "psi.memory.some"),
			keys(diagnose.Cgroup, "memory.max", "memory.events.max", "memory.events.oom", "memory.events.oom_kill"))}
	case "HW-07":
		return extract.Keys{Settings: server, Series: keys(diagnose.Host, "cpu.idle", "cpu.iowait")}
	case "HW-10":
		return extract.Keys{Settings: server, Service: true, Series: slices.Concat(programs,
			keys(diagnose.Host, "mem.total", "mem.available", "mem.anon", "psi.memory.some"))}
	case "HW-12":
		return extract.Keys{Settings: append(server, "max_connections"), Service: true, Queries: true, Series: slices.Concat(busy, programs,
			keys(diagnose.Process, "thread.cpu"), keys(diagnose.Host, "mem.total", "mem.available"), status("Threads_connected", "Innodb_row_lock_time"),
			keys(diagnose.Cgroup, "cpu.max", "cpu.usage", "memory.max", "memory.current"))}
	case "OS-01":
		return extract.Keys{Settings: server, Messages: true, Series: keys(diagnose.Process, "fds", "fds_limit")}
	case "OS-04":
		return extract.Keys{Settings: server, Service: true, Series: slices.Concat(busy, programs,
			keys(diagnose.Cgroup, "cpu.max", "cpu.usage", "cpu.periods", "cpu.throttled_periods", "cpu.throttled"))}
	case "OS-02":
		return extract.Keys{Settings: server, Messages: true, Series: keys(diagnose.Cgroup, "pids.current", "pids.max", "pids.events.max")}
	}
	return extract.Keys{Settings: server, Series: keys(diagnose.Host, "cpu.idle")}
}
