package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/wire/graphite"
	"github.com/kasoku/kasoku/wire/mackerel/plugin"
)

// A metric is one that carbon sends of itself. In its key the points of carbon's
// name are underscores.
type metric struct{ key, unit, label string }

// The tables have a line for each metric: its key, i for an integer or f, and the
// label. Those of mackerel-plugin-graphite keep its labels.
//
// Sources: carbon 1.1.10 instrumentation.py and client.py; go-carbon 0.18.0, and
// 0.16.2, where throttled creates were the persister's.
const commonTable = `
	cpuUsage f CPU Usage
	memUsage i Memory Usage
	metricsReceived i Metrics Received
	activeConnections i Active Connections
	blacklistMatches i Blacklist Matches
	whitelistRejects i Whitelist Rejects
`

const cacheTable = commonTable + `
	avgUpdateTime f Average Update Time
	committedPoints i Committed Points
	creates i Creates
	droppedCreates i Dropped Creates
	errors i Errors
	pointsPerUpdate f Points Per Update
	updateOperations i Update Operations
	cache_overflow i Overflow
	cache_queries i Queries
	cache_queues i Queues
	cache_size i Size
	cache_bulk_queries i Bulk Queries
	cache_bulk_queries_average_size f Bulk Queries Average Size
`

const relayTable = commonTable + `
	destinations_attemptedRelays i Attempted Relays
	destinations_queuedUntilConnected i Queued Until Connected
	destinations_queuedUntilReady i Queued Until Ready
	destinations_sent i Sent
	destinations_batchesSent i Batches Sent
	destinations_fullQueueDrops i Full Queue Drops
	destinations_relayMaxQueueLength i Relay Max Queue Length
	destinations_slowConnectionReset i Slow Connection Reset
`

const aggregatorTable = relayTable + `
	allocatedBuffers i Allocated Buffers
	bufferedDatapoints i Buffered Datapoints
	aggregateDatapointsSent i Aggregate Datapoints Sent
`

const goCarbonTable = `
	cache_size i Cache Size
	cache_metrics i Cache Metrics
	cache_maxSize i Cache Max Size
	cache_overflow i Cache Overflow
	cache_queueBuildCount i Cache Queue Builds
	cache_queueBuildTimeMs i Cache Queue Build Time (ms)
	cache_queueWriteoutTime f Cache Queue Writeout Time
	cache_notConfirmed i Cache Not Confirmed
	cache_queries i Cache Queries
	cache_tagsNormalizeErrors i Cache Tags Normalize Errors
	cache_droppedRealtimeIndex i Cache Dropped Realtime Index
	persister_updateOperations i Update Operations
	persister_committedPoints i Committed Points
	persister_pointsPerUpdate f Points Per Update
	persister_created i Creates
	persister_extended i Extended
	persister_oooDiscardedPoints i Out Of Order Discarded Points
	persister_throttledCreates i Throttled Creates
	persister_maxUpdatesPerSecond i Max Updates Per Second
	persister_workers i Persister Workers
	tcp_metricsReceived i TCP Metrics Received
	tcp_errors i TCP Errors
	tcp_active i TCP Connections
	udp_metricsReceived i UDP Metrics Received
	udp_errors i UDP Errors
	pickle_metricsReceived i Pickle Metrics Received
	pickle_errors i Pickle Errors
	pickle_active i Pickle Connections
	http_metricsReceived i HTTP Metrics Received
	http_errors i HTTP Errors
	kafka_metricsReceived i Kafka Metrics Received
	kafka_errors i Kafka Errors
	carbonserver_render_requests i Server Render Requests
	carbonserver_find_requests i Server Find Requests
	carbonserver_notfound i Server Not Found
	carbonserver_query_cache_hit i Server Query Cache Hits
	carbonserver_query_cache_miss i Server Query Cache Misses
	carbonserver_disk_requests i Server Disk Requests
	carbonserver_disk_wait_time_ns i Server Disk Wait Time (ns)
	carbonserver_points_returned i Server Points Returned
	carbonserver_metrics_known i Server Metrics Known
	carbonserver_throttled_creates i Server Throttled Creates
	carbonserver_rejected_too_many_requests i Server Rejected Requests
	carbonserver_alloc i Server Memory
	runtime_GOMAXPROCS i GOMAXPROCS
	runtime_NumGoroutine i Goroutines
`

// A kind is a program whose metrics can be asked for.
type kind struct {
	key        string // of the graphs
	tree       string // below "carbon."
	table      string
	instances  bool // its node is HOST-INSTANCE
	perNode    bool // a line for each node; else for each metric
	sendsOn    bool // has destinations
	subMetrics bool // has metrics of two words
}

// kindOf returns what a value of --type stands for.
func kindOf(name string) (kind, bool) {
	k, ok := map[string]kind{
		"cache": {key: "cache", tree: "agents", table: cacheTable, instances: true, perNode: true,
			subMetrics: true},
		"relay":      {key: "relay", tree: "relays", table: relayTable, instances: true, sendsOn: true},
		"aggregator": {key: "aggregator", tree: "aggregator", table: aggregatorTable, instances: true, sendsOn: true},
		"go-carbon":  {key: "go-carbon", tree: "agents", table: goCarbonTable, perNode: true, subMetrics: true},
	}[name]
	return k, ok
}

func (k kind) metrics() []metric {
	var out []metric
	for line := range strings.Lines(k.table) {
		if words := strings.SplitN(strings.TrimSpace(line), " ", 3); len(words) == 3 {
			unit := plugin.Integer
			if words[1] == "f" {
				unit = plugin.Float
			}
			out = append(out, metric{words[0], unit, words[2]})
		}
	}
	return out
}

// A series is one metric of one node as the render API gives it.
type series struct {
	node        string // HOST-INSTANCE is INSTANCE, of go-carbon the host
	metric      string // key
	destination string // of a relay; empty for its own metrics
	points      []graphite.Point
}

// place describes what a target is: ok is false for none of this kind.
func (k kind) place(target, host string) (s series, ok bool) {
	rest, ok := strings.CutPrefix(target, "carbon."+k.tree+".")
	if !ok {
		return series{}, false
	}
	node, name, ok := strings.Cut(rest, ".")
	if !ok || node == "" || name == "" {
		return series{}, false
	}
	s = series{node: node, metric: strings.ReplaceAll(name, ".", "_")}
	if k.instances {
		if s.node, ok = strings.CutPrefix(node, host+"-"); !ok || s.node == "" {
			return series{}, false
		}
	}
	if below, isDestination := strings.CutPrefix(name, "destinations."); isDestination && k.sendsOn {
		to, what, ok := strings.Cut(below, ".")
		if !ok || to == "" {
			return series{}, false
		}
		s.destination, s.metric = to, "destinations_"+strings.ReplaceAll(what, ".", "_")
	}
	return s, true
}

// lines returns the lines of graphs: the nodes and the destinations with any value,
// sorted.
func lines(all []series) (nodes, destinations []plugin.Metric) {
	byNode, byDestination := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		if len(s.points) == 0 {
			continue
		}
		byNode[s.node] = true
		if s.destination != "" {
			byDestination[s.destination] = true
		}
	}
	return named(byNode), named(byDestination)
}

func named(set map[string]bool) []plugin.Metric {
	var out []plugin.Metric
	for _, label := range slices.Sorted(maps.Keys(set)) {
		out = append(out, plugin.Metric{Name: segment(label), Label: label})
	}
	return out
}
