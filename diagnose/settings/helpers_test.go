package settings

import (
	"maps"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// mariaDB is a MariaDB 10.11 with its defaults, a host of 8 GiB and a day of quiet
// work: no check has anything to say of it but those that are remarks on defaults.
func mariaDB() Input {
	return Input{
		Host: "db1",
		Variables: map[string]string{
			"version": "10.11.19-MariaDB-0+deb12u1", "version_comment": "Debian 12", "hostname": "db1",
			"max_connections": "151", "thread_cache_size": "151", "skip_name_resolve": "ON", "skip_networking": "OFF", "bind_address": "127.0.0.1",
			"long_query_time": "10.000000", "slow_query_log": "ON", "sort_buffer_size": "2097152", "join_buffer_size": "262144",
			"read_buffer_size": "131072", "read_rnd_buffer_size": "262144", "thread_stack": "299008", "binlog_cache_size": "32768",
			"tmp_table_size": "16777216", "max_heap_table_size": "16777216", "key_buffer_size": "134217728", "query_cache_size": "1048576",
			"query_cache_type": "OFF", "aria_pagecache_buffer_size": "134217728", "table_open_cache": "2000", "table_definition_cache": "400",
			"open_files_limit": "20000", "log_bin": "OFF", "sync_binlog": "0", "performance_schema": "ON", "read_only": "OFF",
			"innodb_buffer_pool_size": "134217728", "innodb_buffer_pool_chunk_size": "0", "innodb_log_file_size": "100663296",
			"innodb_log_buffer_size": "16777216", "innodb_file_per_table": "ON", "innodb_flush_neighbors": "0", "innodb_io_capacity": "1000",
			"innodb_io_capacity_max": "2000", "innodb_read_ahead_threshold": "56", "innodb_purge_threads": "4", "innodb_snapshot_isolation": "ON",
			"tx_isolation": "REPEATABLE-READ", "innodb_adaptive_hash_index": "OFF", "innodb_flush_log_at_trx_commit": "1",
			"innodb_flush_log_at_timeout": "1", "innodb_flush_method": "O_DIRECT", "innodb_doublewrite": "ON", "tls_version": "TLSv1.2,TLSv1.3",
			"have_ssl": "YES", "slave_parallel_threads": "0", "slave_parallel_workers": "0",
		},
		Status: map[string]float64{
			"Uptime": 5 * 86400, "Questions": 1e6, "Slow_queries": 0, "Max_used_connections": 20, "Connections": 1000, "Aborted_connects": 0,
			"Threads_created": 20, "Sort_merge_passes": 0, "Sort_scan": 1000, "Sort_range": 1000, "Select_range_check": 0, "Select_full_join": 0,
			"Created_tmp_disk_tables": 0, "Created_tmp_tables": 1000, "Table_open_cache_hits": 1e6, "Table_open_cache_misses": 100,
			"Open_tables": 100, "Opened_tables": 100, "Open_files": 50, "Table_locks_immediate": 1000, "Table_locks_waited": 0,
			"Binlog_cache_use": 0, "Binlog_cache_disk_use": 0, "Innodb_buffer_pool_read_requests": 1e6, "Innodb_buffer_pool_reads": 100,
			"Innodb_buffer_pool_wait_free": 0, "Innodb_buffer_pool_read_ahead": 0, "Innodb_buffer_pool_read_ahead_evicted": 0,
			"Innodb_history_list_length": 10, "Innodb_log_waits": 0, "Innodb_log_writes": 1000, "Innodb_log_write_requests": 1e5,
			"Innodb_os_log_written": 1 << 20, "Innodb_data_fsyncs": 1000, "Innodb_adaptive_hash_hash_searches": 0,
			"Innodb_adaptive_hash_non_hash_searches": 0, "Key_reads": 0, "Key_read_requests": 0, "Key_blocks_used": 0, "Com_select": 1e5,
			"Com_insert": 1000, "Com_update": 0, "Com_delete": 0, "Com_replace": 0, "Com_commit": 500, "Com_begin": 500, "Qcache_hits": 0, "Qcache_lowmem_prunes": 0,
		},
		Memory:       Memory{RAM: 8 << 30, From: "memory of the host", Others: 256 << 20, Seen: true},
		System:       System{Cores: 4, Rotational: new(bool), FreeBytes: 200 << 30, Settings: map[string]string{"vm.swappiness": "1", "fs.aio-max-nr": "1048576"}, WriteTime: time.Millisecond, Writes: 1000},
		Schema:       &Schema{Uses: map[string]uint64{}},
		Transactions: &Transactions{},
		Replica:      &Replica{},
		AccountsRead: true,
		SchemaMemory: 200 << 20,
		Account:      "'app'@'%'",
	}
}

// mySQL is the same of a MySQL 9.7.
func mySQL() Input {
	in := mariaDB()
	for name, value := range map[string]string{
		"version": "9.7.4", "version_comment": "MySQL Community Server", "innodb_redo_log_capacity": "1073741824", "innodb_buffer_pool_chunk_size": "134217728",
		"innodb_buffer_pool_instances": "1", "internal_tmp_mem_storage_engine": "TempTable", "temptable_max_ram": "1073741824",
		"transaction_isolation": "REPEATABLE-READ", "replica_parallel_workers": "4", "log_bin": "ON", "sync_binlog": "0",
	} {
		in.Variables[name] = value
	}
	for _, name := range []string{"innodb_log_file_size", "query_cache_size", "query_cache_type", "aria_pagecache_buffer_size", "innodb_snapshot_isolation", "tx_isolation", "have_ssl", "slave_parallel_threads"} {
		delete(in.Variables, name)
	}
	for _, name := range []string{"Qcache_hits", "Qcache_lowmem_prunes", "Innodb_adaptive_hash_hash_searches", "Innodb_adaptive_hash_non_hash_searches", "Innodb_history_list_length"} {
		delete(in.Status, name)
	}
	in.Status["Innodb_os_log_fsyncs"] = 100
	in.Transactions.Counted = true
	in.Words = map[string]string{"Innodb_redo_log_enabled": "ON"}
	return in
}

// with returns an input changed by "variable=value" or "Status=number" pairs; status
// variables begin with a capital.
func with(in Input, vars map[string]string, status map[string]float64) Input {
	in.Variables, in.Status = maps.Clone(in.Variables), maps.Clone(in.Status)
	maps.Copy(in.Variables, vars)
	maps.Copy(in.Status, status)
	return in
}

// apply returns the server after all advice was taken.
func apply(in Input, all []kasoku.Advice) Input {
	in.Variables = maps.Clone(in.Variables)
	for _, a := range all {
		if a.Variable != "" {
			in.Variables[a.Variable] = a.Proposed
		}
	}
	return in
}

// of returns the advice of one check.
func of(all []kasoku.Advice, id string) []kasoku.Advice {
	var out []kasoku.Advice
	for _, a := range all {
		if a.ID == id {
			out = append(out, a)
		}
	}
	return out
}

func check1(t *testing.T, in Input) Result {
	t.Helper()
	r := Examine(in)
	seen := map[string]bool{}
	for _, a := range r.Advice {
		if a.Variable == "" {
			continue
		}
		if seen[a.Variable] {
			t.Errorf("%s is advised twice", a.Variable)
		}
		seen[a.Variable] = true
		if sameValue(a.Value, a.Proposed) || a.Value != in.Variables[a.Variable] {
			t.Errorf("%s %s: %q → %q, in force %q", a.ID, a.Variable, a.Value, a.Proposed, in.Variables[a.Variable])
		}
		if a.ConfLine == "" || a.Risk == "" || a.Confidence.Level == "" || a.Gain == "" {
			t.Errorf("%s %s is not complete: %+v", a.ID, a.Variable, a)
		}
	}
	for _, a := range r.Advice {
		if a.Title == "" || a.Measured == "" || a.Formula == "" || a.Threshold == "" || a.Window == "" {
			t.Errorf("%s is not complete: %+v", a.ID, a)
		}
	}
	return r
}
