package export

import (
	"context"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/memcached"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/varnish"
)

// chosen are the series of hosts that a service which bills by metrics of a host gets: what
// shows at a glance whether a host or one of its servers is at a limit. Each becomes two
// metrics, its mean and its worst second: together less than 100.
var chosen = map[string][]string{
	host.Name: {
		host.CPUUser, host.CPUSystem, host.CPUIowait, host.CPUSteal, host.ProcsRunning, host.Load1, host.MemAvailable,
		host.MemSwapUsed, host.VMMajorPageFaults, host.PressureCPUSome, host.PressureIOSome, host.PressureMemorySome,
		host.TCPEstablished, host.TCPListenOverflows, host.TCPRetrans,
	},
	mysql.Name: {
		mysql.Questions, mysql.ComSelect, mysql.SlowQueries, mysql.ThreadsRunning, mysql.ThreadsConnected,
		mysql.InnodbRowsRead, mysql.HandlerReadRndNext, mysql.SelectFullJoin, mysql.CreatedTmpDiskTables,
		mysql.InnodbBufferPoolReadRequests, mysql.InnodbBufferPoolReads, mysql.InnodbRowLockWaits,
		mysql.InnodbRowLockTime, mysql.InnodbDataFsyncs, mysql.BytesSent,
	},
	nginx.Name:     {nginx.Requests, nginx.Active},
	varnish.Name:   {varnish.CacheHits, varnish.CacheMisses, varnish.BackendFail},
	redis.Name:     {redis.TotalCommandsProcessed, redis.ConnectedClients, redis.UsedMemory, redis.EvictedKeys},
	memcached.Name: {memcached.GetHits, memcached.GetMisses, memcached.Evictions},
}

// IsChosen reports whether a series is one of those that are posted where a metric costs
// money: it has no entity, and stands in a short list. What is of the service is always.
func IsChosen(k kasoku.Key) bool {
	return HasNoEntity(k) && (ofService(k.Source) || slices.Contains(chosen[k.Source], k.Name))
}

// HasNoEntity reports whether a series is a sum of a host, not one of a disk or process.
func HasNoEntity(k kasoku.Key) bool { return k.Instance == "" }

// Choose divides series of hosts into those of which takes returns true, without those of
// entities, and how many others there are. It returns their names, source.metric, of several
// hosts once each.
func Choose(all []kasoku.Key, takes func(kasoku.Key) bool) (names []string, taken, others int) {
	for _, k := range all {
		switch {
		case ofService(k.Source):
		case takes(k):
			taken++
			names = append(names, k.Source+"."+k.Name)
		default:
			others++
		}
	}
	slices.Sort(names)
	return slices.Compact(names), taken, others
}

// ChosenOf are the names, source.metric, that may be chosen of these sources.
func ChosenOf(sources []string) (names []string) {
	for _, s := range sources {
		for _, name := range chosen[s] {
			names = append(names, s+"."+name)
		}
	}
	slices.Sort(names)
	return names
}

// Filtered hands on only series that takes returns true of.
func Filtered(out Output, takes func(kasoku.Key) bool) Output {
	return &filtered{Output: out, takes: takes}
}

type filtered struct {
	Output
	takes func(kasoku.Key) bool
	buf   []Value
}

// Write implements [Output].
func (f *filtered) Write(ctx context.Context, values []Value) error {
	f.buf = f.buf[:0]
	for i := range values {
		if f.takes(values[i].Key) {
			f.buf = append(f.buf, values[i])
		}
	}
	if len(f.buf) == 0 {
		return nil
	}
	return f.Output.Write(ctx, f.buf)
}
