package graphite

import (
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "graphite".
const (
	MetricsReceived                     = "metricsReceived"
	TCPMetricsReceived                  = "tcp.metricsReceived"
	UDPMetricsReceived                  = "udp.metricsReceived"
	PickleMetricsReceived               = "pickle.metricsReceived"
	CommittedPoints                     = "committedPoints"
	PersisterCommittedPoints            = "persister.committedPoints"
	DroppedCreates                      = "droppedCreates"
	CacheOverflow                       = "cache.overflow"
	PersisterThrottledCreates           = "persister.throttledCreates"
	CarbonserverThrottledCreates        = "carbonserver.throttled_creates"
	PersisterOooDiscardedPoints         = "persister.oooDiscardedPoints"
	CacheSize                           = "cache.size"
	CacheQueues                         = "cache.queues"
	CacheQueries                        = "cache.queries"
	CacheBulkQueries                    = "cache.bulk_queries"
	UpdateOperations                    = "updateOperations"
	PointsPerUpdate                     = "pointsPerUpdate"
	AvgUpdateTime                       = "avgUpdateTime"
	Creates                             = "creates"
	Errors                              = "errors"
	ActiveConnections                   = "activeConnections"
	BlacklistMatches                    = "blacklistMatches"
	WhitelistRejects                    = "whitelistRejects"
	CpuUsage                            = "cpuUsage"
	MemUsage                            = "memUsage"
	CacheMetrics                        = "cache.metrics"
	CacheMaxSize                        = "cache.maxSize"
	CacheNotConfirmed                   = "cache.notConfirmed"
	CacheQueueBuildCount                = "cache.queueBuildCount"
	CacheQueueBuildTimeMs               = "cache.queueBuildTimeMs"
	CacheQueueWriteoutTime              = "cache.queueWriteoutTime"
	CacheDroppedRealtimeIndex           = "cache.droppedRealtimeIndex"
	CacheTagsNormalizeErrors            = "cache.tagsNormalizeErrors"
	PersisterUpdateOperations           = "persister.updateOperations"
	PersisterPointsPerUpdate            = "persister.pointsPerUpdate"
	PersisterCreated                    = "persister.created"
	PersisterExtended                   = "persister.extended"
	PersisterMaxUpdatesPerSecond        = "persister.maxUpdatesPerSecond"
	PersisterWorkers                    = "persister.workers"
	CarbonserverRenderRequests          = "carbonserver.render_requests"
	CarbonserverFindRequests            = "carbonserver.find_requests"
	CarbonserverNotfound                = "carbonserver.notfound"
	CarbonserverQueryCacheHit           = "carbonserver.query_cache_hit"
	CarbonserverQueryCacheMiss          = "carbonserver.query_cache_miss"
	CarbonserverDiskRequests            = "carbonserver.disk_requests"
	CarbonserverDiskWaitTimeNs          = "carbonserver.disk_wait_time_ns"
	CarbonserverPointsReturned          = "carbonserver.points_returned"
	CarbonserverMetricsKnown            = "carbonserver.metrics_known"
	CarbonserverAlloc                   = "carbonserver.alloc"
	CarbonserverPauseNs                 = "carbonserver.pause_ns"
	CarbonserverRejectedTooManyRequests = "carbonserver.rejected_too_many_requests"
	TCPErrors                           = "tcp.errors"
	TCPActive                           = "tcp.active"
	UDPErrors                           = "udp.errors"
	PickleErrors                        = "pickle.errors"
	PickleActive                        = "pickle.active"
	RuntimeGOMAXPROCS                   = "runtime.GOMAXPROCS"
	RuntimeNumGoroutine                 = "runtime.NumGoroutine"
)

// What a relay counts of each of those that it passes points on to.
const (
	ToSent            = "destinations.sent"
	ToAttempted       = "destinations.attemptedRelays"
	ToQueuedConnected = "destinations.queuedUntilConnected"
	ToQueuedReady     = "destinations.queuedUntilReady"
	ToFullQueueDrops  = "destinations.fullQueueDrops"
	ToMaxQueueLength  = "destinations.relayMaxQueueLength"
)

// What the slots of some files of series have, by their retentions: 10s:6h,1m:7d.
const (
	SlotsLooked = "slots.files" // that were looked at, and got points
	SlotsApart  = "slots.apart" // of them those whose points are some slots apart, regularly
	SlotsPeriod = "slots.period"
	SlotsStep   = "slots.step"
	SlotsNumber = "slots.number" // of a file, of its finest archive
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name:    Name,
	Title:   "Carbon",
	Role:    observe.RoleMetrics,
	Table:   "graphite",
	Records: "what carbon and go-carbon report about themselves, once a minute",
	Rights:  "their port, or their files",
	Lost:    "what carbon receives, writes and keeps waiting",
	Open:    true,
	Pace:    "once a minute",
	Server:  &observe.Server{NewTable: func() observe.Table { return new(Table) }},
	Signals: []observe.Signal{
		{Key: MetricsReceived, Unit: "count", Entity: "server", Label: "points received"},
		{Key: TCPMetricsReceived, Unit: "count", Entity: "server", Label: "points received by TCP"},
		{Key: UDPMetricsReceived, Unit: "count", Entity: "server", Label: "points received by UDP"},
		{Key: PickleMetricsReceived, Unit: "count", Entity: "server", Label: "points received as pickle"},
		{Key: CommittedPoints, Unit: "count", Entity: "server", Label: "points written"},
		{Key: PersisterCommittedPoints, Unit: "count", Entity: "server", Label: "points written"},
		{Key: DroppedCreates, Unit: "count", Entity: "server", Label: "files not created"},
		{Key: CacheOverflow, Unit: "count", Entity: "server", Label: "points dropped"},
		{Key: PersisterThrottledCreates, Unit: "count", Entity: "server", Label: "files put off"},
		{Key: CarbonserverThrottledCreates, Unit: "count", Entity: "server", Label: "files put off"},
		{Key: PersisterOooDiscardedPoints, Unit: "count", Entity: "server", Label: "points out of order"},
		{Key: CacheSize, Unit: "count", Entity: "server", Label: "points in the cache"},
		{Key: CacheQueues, Unit: "count", Entity: "server"},
		{Key: CacheQueries, Unit: "count", Entity: "server"},
		{Key: CacheBulkQueries, Unit: "count", Entity: "server"},
		{Key: UpdateOperations, Unit: "count", Entity: "server", Label: "writes"},
		{Key: PointsPerUpdate, Unit: "count", Entity: "server", Label: "points a write"},
		{Key: AvgUpdateTime, Unit: "s", Entity: "server", Label: "mean time of a write"},
		{Key: Creates, Unit: "count", Entity: "server", Label: "files created"},
		{Key: Errors, Unit: "count", Entity: "server", Label: "errors"},
		{Key: ActiveConnections, Unit: "count", Entity: "server", Label: "connections"},
		{Key: BlacklistMatches, Unit: "count", Entity: "server"},
		{Key: WhitelistRejects, Unit: "count", Entity: "server"},
		{Key: CpuUsage, Unit: "ratio", Entity: "server", Label: "CPU"},
		{Key: MemUsage, Unit: "bytes", Entity: "server", Label: "memory"},
		{Key: CacheMetrics, Unit: "count", Entity: "server"},
		{Key: CacheMaxSize, Unit: "count", Entity: "server"},
		{Key: CacheNotConfirmed, Unit: "count", Entity: "server"},
		{Key: CacheQueueBuildCount, Unit: "count", Entity: "server"},
		{Key: CacheQueueBuildTimeMs, Unit: "s", Entity: "server"},
		{Key: CacheQueueWriteoutTime, Unit: "s", Entity: "server"},
		{Key: CacheDroppedRealtimeIndex, Unit: "count", Entity: "server"},
		{Key: CacheTagsNormalizeErrors, Unit: "count", Entity: "server"},
		{Key: PersisterUpdateOperations, Unit: "count", Entity: "server"},
		{Key: PersisterPointsPerUpdate, Unit: "count", Entity: "server"},
		{Key: PersisterCreated, Unit: "count", Entity: "server"},
		{Key: PersisterExtended, Unit: "count", Entity: "server"},
		{Key: PersisterMaxUpdatesPerSecond, Unit: "count", Entity: "server"},
		{Key: PersisterWorkers, Unit: "count", Entity: "server"},
		{Key: CarbonserverRenderRequests, Unit: "count", Entity: "server"},
		{Key: CarbonserverFindRequests, Unit: "count", Entity: "server"},
		{Key: CarbonserverNotfound, Unit: "count", Entity: "server"},
		{Key: CarbonserverQueryCacheHit, Unit: "count", Entity: "server"},
		{Key: CarbonserverQueryCacheMiss, Unit: "count", Entity: "server"},
		{Key: CarbonserverDiskRequests, Unit: "count", Entity: "server"},
		{Key: CarbonserverDiskWaitTimeNs, Unit: "s", Entity: "server"},
		{Key: CarbonserverPointsReturned, Unit: "count", Entity: "server"},
		{Key: CarbonserverMetricsKnown, Unit: "count", Entity: "server"},
		{Key: CarbonserverAlloc, Unit: "bytes", Entity: "server"},
		{Key: CarbonserverPauseNs, Unit: "s", Entity: "server"},
		{Key: CarbonserverRejectedTooManyRequests, Unit: "count", Entity: "server"},
		{Key: TCPErrors, Unit: "count", Entity: "server"},
		{Key: TCPActive, Unit: "count", Entity: "server"},
		{Key: UDPErrors, Unit: "count", Entity: "server"},
		{Key: PickleErrors, Unit: "count", Entity: "server"},
		{Key: PickleActive, Unit: "count", Entity: "server"},
		{Key: RuntimeGOMAXPROCS, Unit: "count", Entity: "server"},
		{Key: RuntimeNumGoroutine, Unit: "count", Entity: "server"},
		{Key: ToSent, Unit: "count", Entity: "destination", Label: "points passed on"},
		{Key: ToAttempted, Unit: "count", Entity: "destination", Label: "points to pass on"},
		{Key: ToQueuedConnected, Unit: "count", Entity: "destination", Label: "points queued without a connection"},
		{Key: ToQueuedReady, Unit: "count", Entity: "destination", Label: "points queued while it does not read"},
		{Key: ToFullQueueDrops, Unit: "count", Entity: "destination", Label: "points dropped"},
		{Key: ToMaxQueueLength, Unit: "count", Entity: "destination", Label: "points in the queue, most"},
		{Key: SlotsLooked, Unit: "count", Entity: "retention", Label: "files looked at"},
		{Key: SlotsApart, Unit: "count", Entity: "retention", Label: "files with empty slots between points"},
		{Key: SlotsPeriod, Unit: "s", Entity: "retention", Label: "between two points"},
		{Key: SlotsStep, Unit: "s", Entity: "retention", Label: "between two slots"},
		{Key: SlotsNumber, Unit: "count", Entity: "retention", Label: "slots of a file"},
	},
}
