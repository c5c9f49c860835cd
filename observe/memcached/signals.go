package memcached

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// Name is the name of the source.
const Name = "memcached"

// The keys of the signals of the source "memcached".
const (
	CmdGet              = "cmd_get"
	GetHits             = "get_hits"
	GetMisses           = "get_misses"
	CmdSet              = "cmd_set"
	Evictions           = "evictions"
	ListenDisabledNum   = "listen_disabled_num"
	GetExpired          = "get_expired"
	DeleteHits          = "delete_hits"
	DeleteMisses        = "delete_misses"
	IncrHits            = "incr_hits"
	DecrHits            = "decr_hits"
	CASHits             = "cas_hits"
	CASBadval           = "cas_badval"
	CmdTouch            = "cmd_touch"
	CmdFlush            = "cmd_flush"
	ExpiredUnfetched    = "expired_unfetched"
	EvictedUnfetched    = "evicted_unfetched"
	Reclaimed           = "reclaimed"
	CurrItems           = "curr_items"
	TotalItems          = "total_items"
	Bytes               = "bytes"
	LimitMaxbytes       = "limit_maxbytes"
	CurrConnections     = "curr_connections"
	TotalConnections    = "total_connections"
	MaxConnections      = "max_connections"
	RejectedConnections = "rejected_connections"
	ConnYields          = "conn_yields"
	Threads             = "threads"
	BytesRead           = "bytes_read"
	BytesWritten        = "bytes_written"
	RusageUser          = "rusage_user"
	RusageSystem        = "rusage_system"
)

var signals = []observe.Signal{
	{Key: CmdGet, Unit: "count", Kind: kasoku.Counter, Label: "reads", Colour: "s2", Meter: 6},
	{Key: GetHits, Unit: "count", Kind: kasoku.Counter, Label: "hits", Colour: "s5"},
	{Key: GetMisses, Unit: "count", Kind: kasoku.Counter, Label: "misses", Colour: "s1"},
	{Key: CmdSet, Unit: "count", Kind: kasoku.Counter, Label: "writes", Colour: "s4"},
	{Key: Evictions, Unit: "count", Kind: kasoku.Counter, Label: "evicted", Colour: "s3", Meter: 8},
	{Key: ListenDisabledNum, Unit: "count", Kind: kasoku.Counter, Label: "accepting stopped", Colour: "bad"},
	{Key: GetExpired, Unit: "count", Kind: kasoku.Counter, Label: "reads of expired items"},
	{Key: DeleteHits, Unit: "count", Kind: kasoku.Counter, Label: "deletes"},
	{Key: DeleteMisses, Unit: "count", Kind: kasoku.Counter, Label: "deletes that found nothing"},
	{Key: IncrHits, Unit: "count", Kind: kasoku.Counter, Label: "increments"},
	{Key: DecrHits, Unit: "count", Kind: kasoku.Counter, Label: "decrements"},
	{Key: CASHits, Unit: "count", Kind: kasoku.Counter, Label: "compared and set"},
	{Key: CASBadval, Unit: "count", Kind: kasoku.Counter, Label: "compared, and not set"},
	{Key: CmdTouch, Unit: "count", Kind: kasoku.Counter, Label: "touches"},
	{Key: CmdFlush, Unit: "count", Kind: kasoku.Counter, Label: "flushes"},
	{Key: ExpiredUnfetched, Unit: "count", Kind: kasoku.Counter, Label: "expired, never read"},
	{Key: EvictedUnfetched, Unit: "count", Kind: kasoku.Counter, Label: "evicted, never read"},
	{Key: Reclaimed, Unit: "count", Kind: kasoku.Counter, Label: "places of expired items used again"},
	{Key: CurrItems, Unit: "count", Label: "items"},
	{Key: TotalItems, Unit: "count", Kind: kasoku.Counter, Label: "items stored"},
	{Key: Bytes, Unit: "bytes", Label: "memory of items"},
	{Key: LimitMaxbytes, Unit: "bytes", Label: "most memory of items"},
	{Key: CurrConnections, Unit: "count", Label: "connections"},
	{Key: TotalConnections, Unit: "count", Kind: kasoku.Counter, Label: "connections opened"},
	{Key: MaxConnections, Unit: "count", Label: "most connections"},
	{Key: RejectedConnections, Unit: "count", Kind: kasoku.Counter, Label: "connections refused"},
	{Key: ConnYields, Unit: "count", Kind: kasoku.Counter, Label: "connections that gave way"},
	{Key: Threads, Unit: "count", Label: "threads"},
	{Key: BytesRead, Unit: "bytes", Kind: kasoku.Counter, Label: "received"},
	{Key: BytesWritten, Unit: "bytes", Kind: kasoku.Counter, Label: "sent"},
	{Key: RusageUser, Unit: "s", Kind: kasoku.Counter, Label: "CPU, user"},
	{Key: RusageSystem, Unit: "s", Kind: kasoku.Counter, Label: "CPU, system"},
}

// Declared describes the source.
var Declared = observe.Declaration{
	Name:  Name,
	Title: "memcached",
	Role:  observe.RoleCache,
	Table: "memcached",
	Records: "what memcached counts about itself: hits and misses, items that went, memory, " +
		"connections",
	Rights:  "its port",
	Lost:    "hits and misses, memory and evictions of memcached",
	Chart:   observe.Chart{Title: "memcached", Rates: true},
	Signals: signals,
	Server: &observe.Server{
		Programs: []string{"memcached"},
		NewTable: func() observe.Table { return new(Table) },
		Find:     findServer,
	},
}

// kept returns the signal with a name of memcached's.
func kept(name []byte) (observe.Signal, bool) {
	for i := range signals {
		if signals[i].Key == string(name) {
			return signals[i], true
		}
	}
	return observe.Signal{}, false
}
