package mysql

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "mysql".
const (
	Up                                = "up"
	TrxActive                         = "trx.active"
	TrxOldest                         = "trx.oldest"
	TrxWaiting                        = "trx.waiting"
	ConnSleep                         = "conn.sleep"
	ConnQuery                         = "conn.query"
	ConnOther                         = "conn.other"
	ConnReplicas                      = "conn.replicas"
	ConnState                         = "conn.state"
	AbortedClients                    = "Aborted_clients"
	AbortedConnects                   = "Aborted_connects"
	BinlogCacheDiskUse                = "Binlog_cache_disk_use"
	BinlogCacheUse                    = "Binlog_cache_use"
	BytesReceived                     = "Bytes_received"
	BytesSent                         = "Bytes_sent"
	ComBegin                          = "Com_begin"
	ComCommit                         = "Com_commit"
	ComDelete                         = "Com_delete"
	ComDeleteMulti                    = "Com_delete_multi"
	ComInsert                         = "Com_insert"
	ComInsertSelect                   = "Com_insert_select"
	ComReplace                        = "Com_replace"
	ComReplaceSelect                  = "Com_replace_select"
	ComSelect                         = "Com_select"
	ComStmtClose                      = "Com_stmt_close"
	ComStmtExecute                    = "Com_stmt_execute"
	ComStmtPrepare                    = "Com_stmt_prepare"
	ComUpdate                         = "Com_update"
	ComUpdateMulti                    = "Com_update_multi"
	ConnectionErrorsMaxConnections    = "Connection_errors_max_connections"
	Connections                       = "Connections"
	CreatedTmpDiskTables              = "Created_tmp_disk_tables"
	CreatedTmpTables                  = "Created_tmp_tables"
	HandlerReadRndNext                = "Handler_read_rnd_next"
	HandlerTmpWrite                   = "Handler_tmp_write" // MariaDB's alone
	HandlerUpdate                     = "Handler_update"
	InnodbAdaptiveHashHashSearches    = "Innodb_adaptive_hash_hash_searches"
	InnodbAdaptiveHashNonHashSearches = "Innodb_adaptive_hash_non_hash_searches"
	InnodbBufferPoolPagesTotal        = "Innodb_buffer_pool_pages_total"
	InnodbBufferPoolReadAhead         = "Innodb_buffer_pool_read_ahead"
	InnodbBufferPoolReadAheadEvicted  = "Innodb_buffer_pool_read_ahead_evicted"
	InnodbBufferPoolReadRequests      = "Innodb_buffer_pool_read_requests"
	InnodbBufferPoolReads             = "Innodb_buffer_pool_reads"
	InnodbBufferPoolWaitFree          = "Innodb_buffer_pool_wait_free"
	InnodbDataFsyncs                  = "Innodb_data_fsyncs"
	InnodbDeadlocks                   = "Innodb_deadlocks"
	InnodbHistoryListLength           = "Innodb_history_list_length"
	InnodbLogWaits                    = "Innodb_log_waits"
	InnodbLogWriteRequests            = "Innodb_log_write_requests"
	InnodbLogWrites                   = "Innodb_log_writes"
	InnodbOSLogFsyncs                 = "Innodb_os_log_fsyncs"
	InnodbOSLogWritten                = "Innodb_os_log_written"
	InnodbPageSize                    = "Innodb_page_size"
	InnodbRowLockCurrentWaits         = "Innodb_row_lock_current_waits"
	InnodbRowLockTime                 = "Innodb_row_lock_time"
	InnodbRowLockWaits                = "Innodb_row_lock_waits"
	InnodbRowsDeleted                 = "Innodb_rows_deleted"
	InnodbRowsInserted                = "Innodb_rows_inserted"
	InnodbRowsRead                    = "Innodb_rows_read"
	InnodbRowsUpdated                 = "Innodb_rows_updated"
	KeyBlocksUsed                     = "Key_blocks_used"
	KeyReadRequests                   = "Key_read_requests"
	KeyReads                          = "Key_reads"
	MaxUsedConnections                = "Max_used_connections"
	OpenFiles                         = "Open_files"
	OpenTables                        = "Open_tables"
	OpenedTables                      = "Opened_tables"
	PreparedStmtCount                 = "Prepared_stmt_count"
	QcacheHits                        = "Qcache_hits"
	QcacheLowmemPrunes                = "Qcache_lowmem_prunes"
	Queries                           = "Queries"
	Questions                         = "Questions"
	SelectFullJoin                    = "Select_full_join"
	SelectRangeCheck                  = "Select_range_check"
	SelectScan                        = "Select_scan"
	SlavesConnected                   = "Slaves_connected"
	SlowQueries                       = "Slow_queries"
	SortMergePasses                   = "Sort_merge_passes"
	SortRange                         = "Sort_range"
	SortScan                          = "Sort_scan"
	TableLocksImmediate               = "Table_locks_immediate"
	TableLocksWaited                  = "Table_locks_waited"
	TableOpenCacheHits                = "Table_open_cache_hits"
	TableOpenCacheMisses              = "Table_open_cache_misses"
	ThreadsConnected                  = "Threads_connected"
	ThreadsCreated                    = "Threads_created"
	ThreadsRunning                    = "Threads_running"
	Uptime                            = "Uptime"
)

// The keys of the signals of the source "locks".
const (
	LocksWaiting      = "waiting"
	LocksHolderOldest = "holder.oldest"
)

// The keys of the signals of the source "replication".
const (
	ReplicationLag          = "lag"
	ReplicationIORunning    = "io.running"
	ReplicationIOConnecting = "io.connecting"
	ReplicationSQLRunning   = "sql.running"
	ReplicationRelaySpace   = "relay.space"
	ReplicationPending      = "pending"
	ReplicationDelay        = "delay"
)

// The keys of the signals of the source "digests".
const (
	DigestsCalls        = "calls"
	DigestsTime         = "time"
	DigestsRowsExamined = "rows.examined"
	DigestsRowsSent     = "rows.sent"
	DigestsLost         = "lost"
	DigestsDropped      = "dropped"
)

// The keys of the signals of the source "tables".
const (
	TablesRowsRead      = "rows.read"
	TablesRowsWritten   = "rows.written"
	TablesReadTime      = "read.time"
	TablesWriteTime     = "write.time"
	TablesIndexRowsRead = "index.rows.read"
)

// Declared describes the source. Every status variable of the server is recorded; those that
// are read by name are listed.
var Declared = observe.Declaration{
	Name:    Name,
	Title:   "MySQL",
	Role:    observe.RoleDatabase,
	Table:   "mysql",
	Records: "the status of MariaDB and MySQL, sessions, transactions",
	Rights:  "see [config.md](config.md)",
	Lost:    "queries, locks, counters of the database",
	Open:    true,
	Signals: []observe.Signal{
		{Key: Up, Unit: "ratio", Label: "answers"},
		{Key: TrxActive, Unit: "count", Label: "transactions"},
		{Key: TrxOldest, Unit: "s", Label: "oldest transaction"},
		{Key: TrxWaiting, Unit: "count", Label: "transactions that wait"},
		{Key: ConnSleep, Unit: "count", Label: "idle sessions"},
		{Key: ConnQuery, Unit: "count", Label: "sessions in a statement"},
		{Key: ConnOther, Unit: "count", Label: "other sessions"},
		{Key: ConnReplicas, Unit: "count", Label: "replicas"},
		{Key: ConnState, Unit: "count", Entity: "state", Label: "sessions"},
		{Key: AbortedClients, Unit: "count", Kind: kasoku.Counter, Label: "connections cut"},
		{Key: AbortedConnects, Unit: "count", Kind: kasoku.Counter, Label: "attempts to connect that failed"},
		{Key: BinlogCacheDiskUse, Unit: "count", Kind: kasoku.Counter},
		{Key: BinlogCacheUse, Unit: "count", Kind: kasoku.Counter},
		{Key: BytesReceived, Unit: "bytes", Kind: kasoku.Counter},
		{Key: BytesSent, Unit: "bytes", Kind: kasoku.Counter},
		{Key: ComBegin, Unit: "count", Kind: kasoku.Counter},
		{Key: ComCommit, Unit: "count", Kind: kasoku.Counter},
		{Key: ComDelete, Unit: "count", Kind: kasoku.Counter},
		{Key: ComDeleteMulti, Unit: "count", Kind: kasoku.Counter},
		{Key: ComInsert, Unit: "count", Kind: kasoku.Counter},
		{Key: ComInsertSelect, Unit: "count", Kind: kasoku.Counter},
		{Key: ComReplace, Unit: "count", Kind: kasoku.Counter},
		{Key: ComReplaceSelect, Unit: "count", Kind: kasoku.Counter},
		{Key: ComSelect, Unit: "count", Kind: kasoku.Counter},
		{Key: ComStmtClose, Unit: "count", Kind: kasoku.Counter},
		{Key: ComStmtExecute, Unit: "count", Kind: kasoku.Counter},
		{Key: ComStmtPrepare, Unit: "count", Kind: kasoku.Counter},
		{Key: ComUpdate, Unit: "count", Kind: kasoku.Counter},
		{Key: ComUpdateMulti, Unit: "count", Kind: kasoku.Counter},
		{Key: ConnectionErrorsMaxConnections, Unit: "count", Kind: kasoku.Counter, Label: "connections refused"},
		{Key: Connections, Unit: "count", Kind: kasoku.Counter, Label: "connections opened"},
		{Key: CreatedTmpDiskTables, Unit: "count", Kind: kasoku.Counter},
		{Key: CreatedTmpTables, Unit: "count", Kind: kasoku.Counter},
		{Key: HandlerReadRndNext, Unit: "count", Kind: kasoku.Counter},
		{Key: HandlerTmpWrite, Unit: "count", Kind: kasoku.Counter},
		{Key: HandlerUpdate, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbAdaptiveHashHashSearches, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbAdaptiveHashNonHashSearches, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbBufferPoolPagesTotal, Unit: "count"},
		{Key: InnodbBufferPoolReadAhead, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbBufferPoolReadAheadEvicted, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbBufferPoolReadRequests, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbBufferPoolReads, Unit: "count", Kind: kasoku.Counter, Label: "buffer pool misses"},
		{Key: InnodbBufferPoolWaitFree, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbDataFsyncs, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbDeadlocks, Unit: "count", Kind: kasoku.Counter, Label: "deadlocks"},
		{Key: InnodbHistoryListLength, Unit: "count"},
		{Key: InnodbLogWaits, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbLogWriteRequests, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbLogWrites, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbOSLogFsyncs, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbOSLogWritten, Unit: "bytes", Kind: kasoku.Counter},
		{Key: InnodbPageSize, Unit: "bytes"},
		{Key: InnodbRowLockCurrentWaits, Unit: "count"},
		{Key: InnodbRowLockTime, Unit: "ms", Kind: kasoku.Counter, Label: "row lock time"},
		{Key: InnodbRowLockWaits, Unit: "count", Kind: kasoku.Counter, Label: "row lock waits"},
		{Key: InnodbRowsDeleted, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbRowsInserted, Unit: "count", Kind: kasoku.Counter},
		{Key: InnodbRowsRead, Unit: "count", Kind: kasoku.Counter, Label: "rows read"},
		{Key: InnodbRowsUpdated, Unit: "count", Kind: kasoku.Counter},
		{Key: KeyBlocksUsed, Unit: "count"},
		{Key: KeyReadRequests, Unit: "count", Kind: kasoku.Counter},
		{Key: KeyReads, Unit: "count", Kind: kasoku.Counter},
		{Key: MaxUsedConnections, Unit: "count", Label: "most connections"},
		{Key: OpenFiles, Unit: "count"},
		{Key: OpenTables, Unit: "count"},
		{Key: OpenedTables, Unit: "count", Kind: kasoku.Counter},
		{Key: PreparedStmtCount, Unit: "count"},
		{Key: QcacheHits, Unit: "count", Kind: kasoku.Counter},
		{Key: QcacheLowmemPrunes, Unit: "count", Kind: kasoku.Counter},
		{Key: Queries, Unit: "count", Kind: kasoku.Counter},
		{Key: Questions, Unit: "count", Kind: kasoku.Counter, Label: "statements"},
		{Key: SelectFullJoin, Unit: "count", Kind: kasoku.Counter},
		{Key: SelectRangeCheck, Unit: "count", Kind: kasoku.Counter},
		{Key: SelectScan, Unit: "count", Kind: kasoku.Counter},
		{Key: SlavesConnected, Unit: "count"},
		{Key: SlowQueries, Unit: "count", Kind: kasoku.Counter, Label: "slow statements"},
		{Key: SortMergePasses, Unit: "count", Kind: kasoku.Counter},
		{Key: SortRange, Unit: "count", Kind: kasoku.Counter},
		{Key: SortScan, Unit: "count", Kind: kasoku.Counter},
		{Key: TableLocksImmediate, Unit: "count", Kind: kasoku.Counter},
		{Key: TableLocksWaited, Unit: "count", Kind: kasoku.Counter},
		{Key: TableOpenCacheHits, Unit: "count", Kind: kasoku.Counter},
		{Key: TableOpenCacheMisses, Unit: "count", Kind: kasoku.Counter},
		{Key: ThreadsConnected, Unit: "count", Label: "connections"},
		{Key: ThreadsCreated, Unit: "count", Kind: kasoku.Counter},
		{Key: ThreadsRunning, Unit: "count", Label: "running"},
		{Key: Uptime, Unit: "s"},
	},
}

// DeclaredLocks describes the source of waits for locks.
var DeclaredLocks = observe.Declaration{
	Name:    LocksName,
	Role:    observe.RoleDatabase,
	Table:   "mysql",
	Records: "who waits for whom, when there are waits",
	Rights:  "`PROCESS`",
	Grant: observe.Grant{
		Where: "the database",
		Line:  "GRANT PROCESS ON *.* TO …",
	},
	Lost: "sessions of others, transactions, who waits for which lock",
	Signals: []observe.Signal{
		{Key: LocksWaiting, Unit: "count", Label: "waits for locks"},
		{Key: LocksHolderOldest, Unit: "s", Label: "oldest transaction that holds a lock"},
	},
}

// DeclaredReplication describes the source of replication.
var DeclaredReplication = observe.Declaration{
	Name:  ReplicationName,
	Role:  observe.RoleDatabase,
	Table: "mysql",
	Records: "of each channel of a replica: whether its threads run, its lag, how much " +
		"is yet to be applied",
	Rights: "`REPLICA MONITOR` (MariaDB), `REPLICATION CLIENT` (MySQL)",
	Grant: observe.Grant{
		Where: "the database",
		Line:  "GRANT REPLICA MONITOR ON *.* TO …",
	},
	Lost: "the lag of a replica",
	Signals: []observe.Signal{
		{Key: ReplicationLag, Unit: "s", Entity: "channel", Label: "lag"},
		{Key: ReplicationIORunning, Unit: "ratio", Entity: "channel", Label: "fetches"},
		{Key: ReplicationIOConnecting, Unit: "ratio", Entity: "channel", Label: "connects"},
		{Key: ReplicationSQLRunning, Unit: "ratio", Entity: "channel", Label: "applies"},
		{Key: ReplicationRelaySpace, Unit: "bytes", Entity: "channel", Label: "relay logs"},
		{Key: ReplicationPending, Unit: "bytes", Entity: "channel", Label: "yet to be applied"},
		{Key: ReplicationDelay, Unit: "s", Entity: "channel", Label: "delay wanted"},
	},
}

// DeclaredDigests describes the source of statement classes.
var DeclaredDigests = observe.Declaration{
	Name:  DigestsName,
	Role:  observe.RoleDatabase,
	Table: "mysql",
	Records: "every 10 s, where performance_schema is on: calls, time and rows of the hundred " +
		"statement classes with most time",
	Rights: "`SELECT` on `performance_schema`",
	Grant: observe.Grant{
		Where: "the database",
		Line:  "GRANT SELECT ON performance_schema.* TO …",
	},
	Lost: "statement digests",
	Signals: []observe.Signal{
		{Key: DigestsCalls, Unit: "count", Kind: kasoku.Counter, Entity: "statement", Label: "calls"},
		{Key: DigestsTime, Unit: "s", Kind: kasoku.Counter, Entity: "statement", Label: "time"},
		{Key: DigestsRowsExamined, Unit: "count", Kind: kasoku.Counter, Entity: "statement", Label: "rows examined"},
		{Key: DigestsRowsSent, Unit: "count", Kind: kasoku.Counter, Entity: "statement", Label: "rows sent"},
		{Key: DigestsLost, Unit: "count", Kind: kasoku.Counter, Label: "statements that no class has"},
		{Key: DigestsDropped, Unit: "count", Label: "classes that are not recorded"},
	},
}

// DeclaredTables describes the source of tables and indexes.
var DeclaredTables = observe.Declaration{
	Name:  TablesName,
	Role:  observe.RoleDatabase,
	Table: "mysql",
	Records: "every 10 s: rows read and written of each table, and read through each index; on " +
		"MariaDB with performance_schema or userstat",
	Rights: "`SELECT` on `performance_schema`, with userstat on the tables",
	Grant: observe.Grant{
		Where: "the database",
		Line:  "GRANT SELECT ON performance_schema.* TO …",
	},
	Lost: "which tables and indexes are used",
	Signals: []observe.Signal{
		{Key: TablesRowsRead, Unit: "count", Kind: kasoku.Counter, Entity: "table", Label: "rows read"},
		{Key: TablesRowsWritten, Unit: "count", Kind: kasoku.Counter, Entity: "table", Label: "rows written"},
		{Key: TablesReadTime, Unit: "s", Kind: kasoku.Counter, Entity: "table", Label: "time of reads"},
		{Key: TablesWriteTime, Unit: "s", Kind: kasoku.Counter, Entity: "table", Label: "time of writes"},
		{
			Key: TablesIndexRowsRead, Unit: "count",
			Kind: kasoku.Counter, Entity: "index", Label: "rows read by the index",
		},
	},
}
