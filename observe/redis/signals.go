package redis

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "redis".
const (
	TotalCommandsProcessed   = "total_commands_processed"
	KeyspaceHits             = "keyspace_hits"
	KeyspaceMisses           = "keyspace_misses"
	EvictedKeys              = "evicted_keys"
	RejectedConnections      = "rejected_connections"
	TotalConnectionsReceived = "total_connections_received"
	ExpiredKeys              = "expired_keys"
	TotalForks               = "total_forks"
	TotalErrorReplies        = "total_error_replies"
	TotalNetInputBytes       = "total_net_input_bytes"
	TotalNetOutputBytes      = "total_net_output_bytes"
	UsedCPUSystem            = "used_cpu_sys"
	UsedCPUUser              = "used_cpu_user"
	ConnectedClients         = "connected_clients"
	BlockedClients           = "blocked_clients"
	Maxclients               = "maxclients"
	ConnectedSlaves          = "connected_slaves"
	UsedMemory               = "used_memory"
	UsedMemoryRSS            = "used_memory_rss"
	Maxmemory                = "maxmemory"
	MemFragmentationRatio    = "mem_fragmentation_ratio"
	RdbBgsaveInProgress      = "rdb_bgsave_in_progress"
	AofRewriteInProgress     = "aof_rewrite_in_progress"
	Loading                  = "loading"
	LatestFork               = "latest_fork"
	SlowlogLen               = "slowlog_len"
	Keys                     = "keys"
	Expires                  = "expires"
	CmdstatCalls             = "cmdstat.calls"
	CmdstatTime              = "cmdstat.time"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name:    Name,
	Title:   "Redis",
	Role:    observe.RoleCache,
	Table:   "redis",
	Records: "what Redis counts about itself; over TLS with `rediss://` and the files of redis-cli",
	Rights:  "its port, with `+info +slowlog\\|len` for a user of its own",
	Lost:    "commands, hits and misses, memory and evictions of Redis",
	Chart:   observe.Chart{Title: "Redis", Rates: true},
	Server:  &observe.Server{NewTable: func() observe.Table { return new(Table) }},
	Signals: []observe.Signal{
		{Key: TotalCommandsProcessed, Unit: "count", Kind: kasoku.Counter, Label: "commands", Colour: "s2", Meter: 6},
		{Key: KeyspaceHits, Unit: "count", Kind: kasoku.Counter, Label: "hits", Colour: "s5"},
		{Key: KeyspaceMisses, Unit: "count", Kind: kasoku.Counter, Label: "misses", Colour: "s1"},
		{Key: EvictedKeys, Unit: "count", Kind: kasoku.Counter, Label: "evicted", Colour: "s3", Meter: 8},
		{Key: RejectedConnections, Unit: "count", Kind: kasoku.Counter, Label: "refused", Colour: "bad"},
		{Key: TotalConnectionsReceived, Unit: "count", Kind: kasoku.Counter, Label: "connections"},
		{Key: ExpiredKeys, Unit: "count", Kind: kasoku.Counter, Label: "expired"},
		{Key: TotalForks, Unit: "count", Kind: kasoku.Counter, Label: "forks"},
		{Key: TotalErrorReplies, Unit: "count", Kind: kasoku.Counter, Label: "errors"},
		{Key: TotalNetInputBytes, Unit: "bytes", Kind: kasoku.Counter, Label: "received"},
		{Key: TotalNetOutputBytes, Unit: "bytes", Kind: kasoku.Counter, Label: "sent"},
		{Key: UsedCPUSystem, Unit: "s", Kind: kasoku.Counter, Label: "CPU, system"},
		{Key: UsedCPUUser, Unit: "s", Kind: kasoku.Counter, Label: "CPU, user"},
		{Key: ConnectedClients, Unit: "count", Label: "clients"},
		{Key: BlockedClients, Unit: "count", Label: "clients that wait"},
		{Key: Maxclients, Unit: "count", Label: "most clients"},
		{Key: ConnectedSlaves, Unit: "count", Label: "replicas"},
		{Key: UsedMemory, Unit: "bytes", Label: "memory"},
		{Key: UsedMemoryRSS, Unit: "bytes", Label: "memory of the process"},
		{Key: Maxmemory, Unit: "bytes", Label: "most memory"},
		{Key: MemFragmentationRatio, Unit: "ratio", Label: "fragmentation"},
		{Key: RdbBgsaveInProgress, Unit: "count", Label: "a snapshot is written"},
		{Key: AofRewriteInProgress, Unit: "count", Label: "the log is rewritten"},
		{Key: Loading, Unit: "count", Label: "data is loaded"},
		{Key: LatestFork, Unit: "s", Label: "pause of the last fork"},
		{Key: SlowlogLen, Unit: "count", Label: "entries of the slow log"},
		{Key: Keys, Unit: "count", Entity: "database", Label: "keys"},
		{Key: Expires, Unit: "count", Entity: "database", Label: "keys that expire"},
		{Key: CmdstatCalls, Unit: "count", Kind: kasoku.Counter, Entity: "command", Label: "calls"},
		{Key: CmdstatTime, Unit: "s", Kind: kasoku.Counter, Entity: "command", Label: "time"},
	},
}
