package mysql

import (
	"strings"

	"github.com/kasoku/kasoku"
)

// gauges are the status variables that rise and fall, or that are settings. All
// others only grow until the server restarts or FLUSH STATUS is given.
//
// Sources: MySQL 9.7 manual, "Server Status Variables"; MariaDB documentation,
// "Server Status Variables", "InnoDB Status Variables", "Aria Status Variables".
var gauges = words(`
	Threads_cached Threads_connected Threads_running Threadpool_idle_threads Threadpool_threads
	Max_used_connections Max_memory_used Memory_used Memory_used_initial Global_connection_memory Stack_usage
	Prepared_stmt_count Not_flushed_delayed_rows Delayed_insert_threads Last_query_cost Compression_level
	Uptime Uptime_since_flush_status Table_open_cache_active_instances Binlog_snapshot_position
	Innodb_buffer_pool_pages_data Innodb_buffer_pool_pages_dirty Innodb_buffer_pool_pages_free
	Innodb_buffer_pool_pages_latched Innodb_buffer_pool_pages_misc Innodb_buffer_pool_pages_old
	Innodb_buffer_pool_pages_total Innodb_buffer_pool_bytes_data Innodb_buffer_pool_bytes_dirty
	Innodb_buffer_pool_resize_status_code Innodb_buffer_pool_resize_status_progress
	Innodb_checkpoint_age Innodb_checkpoint_max_age Innodb_history_list_length Innodb_page_size
	Innodb_row_lock_current_waits Innodb_row_lock_time_avg Innodb_row_lock_time_max
	Innodb_num_open_files Innodb_available_undo_logs Innodb_ibuf_free_list Innodb_ibuf_segment_size Innodb_ibuf_size
	Innodb_onlineddl_rowlog_rows Innodb_onlineddl_rowlog_pct_used Innodb_onlineddl_pct_progress
	Innodb_encryption_rotation_estimated_iops Innodb_mem_adaptive_hash Innodb_mem_dictionary
	Innodb_redo_log_logical_size Innodb_redo_log_physical_size Innodb_redo_log_capacity_resized Innodb_redo_log_read_only
	Innodb_redo_log_uuid
	Aria_pagecache_blocks_not_flushed Aria_pagecache_blocks_unused Aria_pagecache_blocks_used
	Key_blocks_not_flushed Key_blocks_unused Key_blocks_used Key_blocks_warm
	Qcache_free_blocks Qcache_free_memory Qcache_queries_in_cache Qcache_total_blocks
	Performance_schema_session_connect_attrs_longest_seen Error_log_buffered_bytes Error_log_buffered_events
	Error_log_latest_write Deprecated_use_i_s_processlist_last_timestamp
	Rpl_semi_sync_master_clients Rpl_semi_sync_master_wait_sessions
	Rpl_semi_sync_master_net_avg_wait_time Rpl_semi_sync_master_tx_avg_wait_time
	Rpl_semi_sync_source_clients Rpl_semi_sync_source_wait_sessions
	Rpl_semi_sync_source_net_avg_wait_time Rpl_semi_sync_source_tx_avg_wait_time
	Slave_heartbeat_period Slave_open_temp_tables Replica_open_temp_tables Slaves_connected Slaves_running
	Ssl_ctx_verify_depth Ssl_ctx_verify_mode Ssl_default_timeout Ssl_session_cache_size Ssl_session_cache_timeout
	Ssl_used_session_cache_entries Ssl_verify_depth Ssl_verify_mode
	Tc_log_max_pages_used Tc_log_page_size
	Mysqlx_worker_threads Mysqlx_worker_threads_active Mysqlx_ssl_ctx_verify_depth Mysqlx_ssl_ctx_verify_mode
	wsrep wsrep_applier_thread_count wsrep_cluster_conf_id wsrep_cluster_size wsrep_local_index wsrep_local_recv_queue
	wsrep_local_recv_queue_avg wsrep_local_recv_queue_max wsrep_local_recv_queue_min wsrep_local_send_queue
	wsrep_local_send_queue_avg wsrep_local_send_queue_max wsrep_local_send_queue_min wsrep_local_state
	wsrep_flow_control_paused wsrep_cert_deps_distance wsrep_cert_index_size wsrep_cert_interval wsrep_commit_window
	wsrep_apply_window wsrep_apply_oooe wsrep_apply_oool wsrep_commit_oooe wsrep_commit_oool wsrep_causal_reads
	wsrep_open_connections wsrep_open_transactions wsrep_desync_count wsrep_rollbacker_thread_count wsrep_thread_count
	wsrep_protocol_version wsrep_provider_version wsrep_gcomm_uuid wsrep_evs_repl_latency
`)

// gaugePrefixes hold for every variable that begins so.
var gaugePrefixes = []string{
	"Acl_", "Open_", "Innodb_data_pending_", "Innodb_os_log_pending_", "Innodb_undo_tablespaces_",
}

// units are those of the variables that do not simply count.
var units = map[string]string{
	"Bytes_received": "bytes", "Bytes_sent": "bytes", "Binlog_bytes_written": "bytes",
	"Innodb_data_read": "bytes", "Innodb_data_written": "bytes", "Innodb_os_log_written": "bytes",
	"Innodb_buffer_pool_bytes_data": "bytes", "Innodb_buffer_pool_bytes_dirty": "bytes",
	"Innodb_checkpoint_age": "bytes", "Innodb_checkpoint_max_age": "bytes", "Innodb_page_size": "bytes",
	"Innodb_lsn_current": "bytes", "Innodb_lsn_flushed": "bytes", "Innodb_lsn_last_checkpoint": "bytes",
	"Innodb_mem_adaptive_hash": "bytes", "Innodb_mem_dictionary": "bytes",
	"Innodb_redo_log_current_lsn": "bytes", "Innodb_redo_log_flushed_to_disk_lsn": "bytes",
	"Innodb_redo_log_checkpoint_lsn": "bytes", "Innodb_redo_log_logical_size": "bytes",
	"Innodb_redo_log_physical_size": "bytes", "Innodb_redo_log_capacity_resized": "bytes",
	"Memory_used": "bytes", "Memory_used_initial": "bytes", "Max_memory_used": "bytes",
	"Global_connection_memory": "bytes", "Qcache_free_memory": "bytes", "Error_log_buffered_bytes": "bytes",
	"Uptime": "s", "Uptime_since_flush_status": "s", "Busy_time": "s", "Cpu_time": "s", "Query_time": "s",
	"Slave_heartbeat_period": "s",
	"Innodb_row_lock_time":   "ms", "Innodb_row_lock_time_avg": "ms", "Innodb_row_lock_time_max": "ms",
}

func words(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// kindOf describes how a status variable is to be read.
func kindOf(name string) kasoku.Kind {
	if gauges[name] {
		return kasoku.Gauge
	}
	for _, p := range gaugePrefixes {
		if strings.HasPrefix(name, p) {
			return kasoku.Gauge
		}
	}
	return kasoku.Counter
}

// unitOf returns the unit of a status variable.
func unitOf(name string) string {
	if u, ok := units[name]; ok {
		return u
	}
	return "count"
}
