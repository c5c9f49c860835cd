package varnish

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "varnish".
const (
	CacheHits       = "MAIN.cache_hit"
	CacheMisses     = "MAIN.cache_miss"
	Passes          = "MAIN.s_pass"
	LRUNuked        = "MAIN.n_lru_nuked"
	BackendFail     = "MAIN.backend_fail"
	BackendConn     = "MAIN.backend_conn"
	BackendRequests = "MAIN.backend_req"
	BackendReuse    = "MAIN.backend_reuse"
	CacheHitGrace   = "MAIN.cache_hit_grace"
	CacheHitmiss    = "MAIN.cache_hitmiss"
	CacheHitpass    = "MAIN.cache_hitpass"
	ClientRequests  = "MAIN.client_req"
	Objects         = "MAIN.n_object"
	Fetches         = "MAIN.s_fetch"
	Pipes           = "MAIN.s_pipe"
	Synths          = "MAIN.s_synth"
	Sessions        = "MAIN.sess_conn"
	SessionsDropped = "MAIN.sess_dropped"
	Threads         = "MAIN.threads"
	ThreadsLimited  = "MAIN.threads_limited"
	StorageBytes    = "SMA.s0.g_bytes"
	TransientBytes  = "SMA.Transient.g_bytes"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name:    Name,
	Title:   "Varnish",
	Role:    observe.RoleCache,
	Table:   "varnish",
	Records: "counters of `varnishstat`",
	Rights:  "the cache's shared memory",
	Lost:    "hits and misses of the cache, and what it passes on",
	Chart:   observe.Chart{Title: "Varnish", Rates: true},
	Server:  &observe.Server{NewTable: func() observe.Table { return new(Table) }},
	Signals: []observe.Signal{
		{Key: CacheHits, Unit: "count", Kind: kasoku.Counter, Label: "hits", Colour: "s2"},
		{Key: CacheMisses, Unit: "count", Kind: kasoku.Counter, Label: "misses", Colour: "s1"},
		{Key: Passes, Unit: "count", Kind: kasoku.Counter, Label: "passed on", Colour: "s4"},
		{Key: LRUNuked, Unit: "count", Kind: kasoku.Counter, Label: "thrown out", Colour: "s3"},
		{Key: BackendFail, Unit: "count", Kind: kasoku.Counter, Label: "backend failed", Colour: "bad"},
		{Key: BackendConn, Unit: "count", Kind: kasoku.Counter, Label: "connections to backends"},
		{Key: BackendRequests, Unit: "count", Kind: kasoku.Counter, Label: "requests to backends"},
		{Key: BackendReuse, Unit: "count", Kind: kasoku.Counter, Label: "connections to backends used again"},
		{Key: CacheHitGrace, Unit: "count", Kind: kasoku.Counter, Label: "hits in grace"},
		{Key: CacheHitmiss, Unit: "count", Kind: kasoku.Counter, Label: "hits for miss"},
		{Key: CacheHitpass, Unit: "count", Kind: kasoku.Counter, Label: "hits for pass"},
		{Key: ClientRequests, Unit: "count", Kind: kasoku.Counter, Label: "requests"},
		{Key: Objects, Unit: "count", Label: "objects"},
		{Key: Fetches, Unit: "count", Kind: kasoku.Counter, Label: "fetches"},
		{Key: Pipes, Unit: "count", Kind: kasoku.Counter, Label: "piped"},
		{Key: Synths, Unit: "count", Kind: kasoku.Counter, Label: "synthetic answers"},
		{Key: Sessions, Unit: "count", Kind: kasoku.Counter, Label: "sessions"},
		{Key: SessionsDropped, Unit: "count", Kind: kasoku.Counter, Label: "sessions dropped"},
		{Key: Threads, Unit: "count", Label: "threads"},
		{Key: ThreadsLimited, Unit: "count", Kind: kasoku.Counter, Label: "threads that could not be started"},
		{Key: StorageBytes, Unit: "bytes", Label: "storage in use"},
		{Key: TransientBytes, Unit: "bytes", Label: "transient storage in use"},
	},
}
