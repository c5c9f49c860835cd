package main

import (
	"strings"
	"unicode"

	"github.com/kasoku/kasoku/wire/mackerel/plugin"
)

// The tables of graphs have a line for each graph, "KEY UNIT LABEL", with a line
// below it for each metric, "NAME HOW LABEL". HOW is a set of letters: d for the
// difference per minute, s for per second instead, t for stacked, - for none.
//
// Keys, units and labels are those of mackerel-plugin-mysql 1.3.4, so that its
// graphs go on. Metrics have the server's own names where it has one.
const baseGraphs = `
cmd float Command
	Com_insert dt Insert
	Com_insert_select dt Insert Select
	Com_select dt Select
	Com_update dt Update
	Com_update_multi dt Update Multi
	Com_delete dt Delete
	Com_delete_multi dt Delete Multi
	Com_replace dt Replace
	Com_replace_select dt Replace Select
	Com_load dt Load
	Com_set_option dt Set Option
	Qcache_hits d Query Cache Hits
	Questions d Questions
join float Join/Scan
	Select_full_join d Select Full JOIN
	Select_full_range_join d Select Full Range JOIN
	Select_range d Select Range
	Select_range_check d Select Range Check
	Select_scan d Select SCAN
threads integer Threads
	thread_cache_size - Cache Size
	Threads_connected - Connected
	Threads_running - Running
	Threads_created d Created
	Threads_cached - Cached
connections float Connections
	max_connections - Max Connections
	Max_used_connections - Max Used Connections
	Connections d Connections
	Threads_connected - Threads Connected
	Aborted_clients d Aborted Clients
	Aborted_connects d Aborted Connects
seconds_behind_master integer Slave status
	Seconds_Behind_Master - Seconds Behind Master
table_locks float Table Locks/Slow Queries
	Table_locks_immediate d Table Locks Immediate
	Table_locks_waited d Table Locks Waited
	Slow_queries d Slow Queries
traffic bytes/sec Traffic
	Bytes_sent s Sent Bytes
	Bytes_received s Received Bytes
capacity percentage Capacity
	PercentageOfConnections - Percentage Of Connections
`

// capacityInnoDB is one more metric of the graph capacity.
const capacityInnoDB = `	PercentageOfBufferPool - Percentage Of Buffer Pool
`

const innodbGraphs = `
innodb_rows float innodb Rows
	Innodb_rows_read d Read
	Innodb_rows_inserted d Inserted
	Innodb_rows_updated d Updated
	Innodb_rows_deleted d Deleted
innodb_row_lock_time float innodb Row Lock Time
	Innodb_row_lock_time d Lock Time
innodb_row_lock_waits float innodb Row Lock Waits
	Innodb_row_lock_waits d Lock Waits
innodb_adaptive_hash_index integer innodb Adaptive Hash Index
	hash_index_cells_total - Hash Index Cells Total
innodb_buffer_pool_read float innodb Buffer Pool Read (/sec)
	read_ahead s Pages Read Ahead
	read_evicted s Evicted Without Access
	read_random_ahead s Random Read Ahead
innodb_buffer_pool_activity integer innodb Buffer Pool Activity (Pages)
	pages_created d Created
	pages_read d Read
	pages_written d Written
innodb_buffer_pool_efficiency integer innodb Buffer Pool Efficiency
	Innodb_buffer_pool_reads d Reads
	Innodb_buffer_pool_read_requests d Read Requests
innodb_buffer_pool integer innodb Buffer Pool (Pages)
	pool_size - Pool Size
	database_pages t Used
	free_pages t Free
	modified_pages - Modified
innodb_checkpoint_age bytes innodb Checkpoint Age
	uncheckpointed_bytes - Uncheckpointed
innodb_current_lock_waits integer innodb Current Lock Waits (secs)
	innodb_lock_wait_secs - Innodb Lock Wait
innodb_io integer innodb I/O
	file_reads d File Reads
	file_writes d File Writes
	file_fsyncs d File fsyncs
	log_writes d Log Writes
innodb_io_pending integer innodb I/O Pending
	pending_normal_aio_reads - Normal AIO Reads
	pending_normal_aio_writes - Normal AIO Writes
	pending_ibuf_aio_reads - InnoDB Buffer AIO Reads
	pending_aio_log_ios - AIO Log IOs
	pending_aio_sync_ios - AIO Sync IOs
	pending_log_flushes - Log Flushes (fsync)
	pending_buf_pool_flushes - Buffer Pool Flushes
	pending_log_writes - Log Writes
	pending_chkp_writes - Checkpoint Writes
	log_pending_log_flushes - Log Flushes (log)
innodb_insert_buffer integer innodb Insert Buffer
	ibuf_inserts d Inserts
	ibuf_merges d Merges
	ibuf_merged d Merged
innodb_insert_buffer_usage integer innodb Insert Buffer Usage (Cells)
	ibuf_cell_count - Cell Count
	ibuf_used_cells t Used
	ibuf_free_cells t Free
innodb_lock_structures integer innodb Lock Structures
	innodb_lock_structs - Structures
innodb_log bytes innodb Log
	log_bytes_written d Written
	log_bytes_flushed d Flushed
	unflushed_log - Unflushed
	innodb_log_buffer_size t Buffer Size
innodb_memory_allocation integer innodb Memory Allocation
	additional_pool_alloc - Additional Pool Allocated
	total_mem_alloc - Total Memory Allocated
innodb_semaphores integer innodb Semaphores
	spin_waits d Spin Waits
	spin_rounds d Spin Rounds
	os_waits d OS Waits
innodb_tables_in_use integer innodb Tables In Use
	innodb_locked_tables - Locked Tables
	innodb_tables_in_use - Table in Use
innodb_transactions_active_locked integer innodb Transactions Active/Locked
	current_transactions - Current
	active_transactions - Active
	locked_transactions - Locked
	read_views - Read Views
innodb_transactions integer innodb Transactions
	history_list - History List
	innodb_transactions d InnoDB Transactions
`

const extendedGraphs = `
query_cache float query Cache
	Qcache_queries_in_cache - Qcache Queries In Cache
	Qcache_hits d Qcache Hits
	Qcache_inserts d Qcache Inserts
	Qcache_not_cached d Qcache Not Cached
	Qcache_lowmem_prunes d Qcache Lowmem Prunes
query_cache_memory float query Cache Memory
	query_cache_size - Query Cache Size
	Qcache_free_memory - Qcache Free Memory
	Qcache_total_blocks - Qcache Total Blocks
	Qcache_free_blocks - Qcache Free Blocks
temporary_objects float temporary Objects
	Created_tmp_tables d Created Tmp Tables
	Created_tmp_disk_tables d Created Tmp Disk Tables
	Created_tmp_files d Created Tmp Files
files_and_tables float files and Tables
	table_cache - Table Cache
	Open_tables - Open Tables
	Open_files - Open Files
	Opened_tables d Opened Tables
processlist float processlist
	State_closing_tables t State Closing Tables
	State_copying_to_tmp_table t State Copying To Tmp Table
	State_end t State End
	State_freeing_items t State Freeing Items
	State_init t State Init
	State_locked t State Locked
	State_login t State Login
	State_preparing t State Preparing
	State_reading_from_net t State Reading From Net
	State_sending_data t State Sending Data
	State_sorting_result t State Sorting Result
	State_statistics t State Statistics
	State_updating t State Updating
	State_writing_to_net t State Writing To Net
	State_none t State None
	State_other t State Other
sorts float sorts
	Sort_rows d Sort Rows
	Sort_range d Sort Range
	Sort_merge_passes d Sort Merge Passes
	Sort_scan d Sort Scan
handlers float handlers
	Handler_write dt Handler Write
	Handler_update dt Handler Update
	Handler_delete dt Handler Delete
	Handler_read_first dt Handler Read First
	Handler_read_key dt Handler Read Key
	Handler_read_last dt Handler Read Last
	Handler_read_next dt Handler Read Next
	Handler_read_prev dt Handler Read Prev
	Handler_read_rnd dt Handler Read Rnd
	Handler_read_rnd_next dt Handler Read Rnd Next
transaction_handler float transaction handler
	Handler_commit d Handler Commit
	Handler_rollback d Handler Rollback
	Handler_savepoint d Handler Savepoint
	Handler_savepoint_rollback d Handler Savepoint Rollback
myisam_indexes float MyISAM Indexes
	Key_read_requests d Key Read Requests
	Key_reads d Key Reads
	Key_write_requests d Key Write Requests
	Key_writes d Key Writes
myisam_key_cache bytes MyISAM Key Cache
	key_buffer_size - Key Buffer Size
	key_buf_bytes_used - Key Buf Bytes Used
	key_buf_bytes_unflushed - Key Buf Bytes Unflushed
`

// graphs returns the graphs that are wanted.
func graphs(prefix string, innodb, extended bool) []plugin.Graph {
	table := baseGraphs
	if innodb {
		table += capacityInnoDB + innodbGraphs
	}
	if extended {
		table += extendedGraphs
	}
	return parseGraphs(table, labelPrefix(prefix))
}

// labelPrefix is what the labels of all graphs begin with: "MySQL" for mysql. Each word
// has a capital, as golang.org/x/text/cases makes it; _ and . do not end a word.
func labelPrefix(prefix string) string {
	done := false // the word has its capital
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c) && !done:
			done = true
			return unicode.ToTitle(c)
		case !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '.':
			done = false
		}
		return c
	}, strings.ReplaceAll(prefix, "mysql", "MySQL"))
}

// parseGraphs reads a table of graphs.
func parseGraphs(table, label string) []plugin.Graph {
	var out []plugin.Graph
	for line := range strings.Lines(table) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 3 {
			continue
		}
		if line[0] != '\t' {
			out = append(out, plugin.Graph{Key: fields[0], Unit: fields[1], Label: label + " " + fields[2]})
			continue
		}
		m := plugin.Metric{Name: fields[0], Label: fields[2], Diff: strings.ContainsAny(fields[1], "ds"),
			Stacked: strings.Contains(fields[1], "t")}
		if strings.Contains(fields[1], "s") {
			m.Scale = 1.0 / 60
		}
		g := &out[len(out)-1]
		g.Metrics = append(g.Metrics, m)
	}
	return out
}
