package watch

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/sources"
	"github.com/kasoku/kasoku/observe/varnish"
)

// rowed are the sources of which a table has a row for each server or program.
var rowed = []string{nginx.Name, varnish.Name, redis.Name, expvar.Name}

// percentOf returns what part of two values the first one is, in percent.
func percentOf(part, rest float64) float64 {
	if all := zero(part) + zero(rest); all > 0 {
		return 100 * zero(part) / all
	}
	return math.NaN()
}

// nginx is the web server as it counts itself.
func (l look) nginx() table {
	t := table{id: "nginx", title: "nginx", columns: []column{
		{name: "server", text: true, wide: true}, {name: "requests", unit: "/s"},
		{name: "each conn", unit: "requests", decimal: 1, drop: 1}, {name: "new conns", unit: "/s"},
		{name: "refused", unit: "/s"},
		{name: "active", unit: "conns"}, {name: "reading", drop: 3}, {name: "writing"}, {name: "waiting", drop: 2},
	}}
	get := func(name string) float64 { return l.valueAt(l.one(nginx.Name, name), l.at) }
	if math.IsNaN(get(nginx.Active)) {
		return t
	}
	r := t.newRow()
	r.words[0], r.values[1], r.values[3], r.values[4] = "stub_status", get(nginx.Requests), get(nginx.Accepts),
		max(get(nginx.Accepts)-get(nginx.Handled), 0)
	if n := get(nginx.Requests) / get(nginx.Accepts); !math.IsInf(n, 0) {
		r.values[2] = n
	}
	r.values[5], r.values[6], r.values[7], r.values[8] = get(nginx.Active), get(nginx.Reading), get(nginx.Writing),
		get(nginx.Waiting)
	t.rows = append(t.rows, r)
	return t
}

// varnish is the cache.
func (l look) varnish() table {
	t := table{id: "varnish", title: "varnish", columns: []column{
		{name: "cache", text: true, wide: true, least: 13}, {name: "requests", unit: "/s"}, {name: "hits", unit: "/s"},
		{name: "hits", unit: "%", decimal: 1},
		{name: "misses", unit: "/s"}, {name: "passes", unit: "/s"}, {name: "failures", unit: "backend/s"},
		{name: "threads", drop: 1}, {name: "limited", unit: "/s", drop: 3}, {name: "dropped", unit: "/s", drop: 2},
		{name: "nuked", unit: "/s", drop: 4},
	}}
	get := func(name string) float64 { return l.valueAt(l.one(varnish.Name, name), l.at) }
	if math.IsNaN(get(varnish.ClientRequests)) {
		return t
	}
	r := t.newRow()
	if n := get(varnish.Objects); !math.IsNaN(n) {
		r.words[0] = unit.Counted(int64(n), "object", "objects")
	}
	r.values[1], r.values[2], r.values[4], r.values[5] = get(varnish.ClientRequests), get(varnish.CacheHits),
		get(varnish.CacheMisses),
		get(varnish.Passes)
	r.values[3] = percentOf(get(varnish.CacheHits), get(varnish.CacheMisses))
	r.values[6], r.values[7], r.values[8] = get(varnish.BackendFail), get(varnish.Threads), get(varnish.ThreadsLimited)
	r.values[9], r.values[10] = get(varnish.SessionsDropped), get(varnish.LRUNuked)
	if r.values[6] > 0 || r.values[8] > 0 || r.values[9] > 0 {
		r.tone = wrong
	}
	t.rows = append(t.rows, r)
	return t
}

// redis is the server.
func (l look) redis() table {
	t := table{id: "redis", title: "redis", columns: []column{
		{name: "server", text: true, wide: true}, {name: "commands", unit: "/s"}, {name: "hits", unit: "%", decimal: 1},
		{name: "memory", unit: "MB", decimal: 1}, {name: "of", unit: "MB", drop: 1}, {name: "evicted", unit: "/s"},
		{name: "expired", unit: "/s", drop: 3},
		{name: "clients"}, {name: "blocked"}, {name: "slow log", unit: "entries", drop: 2},
		{name: "errors", unit: "/s", drop: 4}, {name: "sent", unit: "MB/s", decimal: 2, drop: 5},
	}}
	get := func(name string) float64 { return l.valueAt(l.one(redis.Name, name), l.at) }
	if math.IsNaN(get(redis.UsedMemory)) {
		return t
	}
	r := t.newRow()
	keys := 0.0
	for _, s := range l.all(redis.Name, redis.Keys) {
		keys += zero(l.valueAt(s, l.at))
	}
	r.words[0] = unit.Counted(int64(keys), "key", "keys")
	r.values[1], r.values[2] = get(redis.TotalCommandsProcessed), percentOf(get(redis.KeyspaceHits),
		get(redis.KeyspaceMisses))
	r.values[3] = get(redis.UsedMemory) / 1e6
	if most := get(redis.Maxmemory); most > 0 {
		r.values[4] = most / 1e6
	}
	r.values[5], r.values[6], r.values[7], r.values[8] = get(redis.EvictedKeys), get(redis.ExpiredKeys),
		get(redis.ConnectedClients), get(redis.BlockedClients)
	r.values[9], r.values[10], r.values[11] = get(redis.SlowlogLen), get(redis.TotalErrorReplies),
		get(redis.TotalNetOutputBytes)/1e6
	t.rows = append(t.rows, r)
	return t
}

// commands are those of Redis, where they are counted.
func (l look) commands() table {
	t := table{id: "commands", title: "redis commands", columns: []column{
		{name: "command", text: true, wide: true}, {name: "calls", unit: "/s"}, {name: "each", unit: "µs", decimal: 2},
		{name: "busy", unit: "% of time", decimal: 2},
	}, sorts: []int{3, 1, 2, 0}}
	for _, s := range l.all(redis.Name, redis.CmdstatCalls) {
		calls := l.valueAt(s, l.at)
		if !(calls > 0) {
			continue
		}
		busy := l.of(redis.Name, s.Key.Instance)(redis.CmdstatTime)
		r := t.newRow()
		r.words[0], r.values[1], r.values[2], r.values[3] = clean(s.Key.Instance), calls, 1e6*busy/calls, 100*busy
		t.rows = append(t.rows, r)
	}
	return t
}

// program is the first word of an instance of expvar that is an address; where one
// program alone is asked there is none.
func program(instance string) (address, rest string) {
	first, rest, _ := strings.Cut(instance, " ")
	if strings.Contains(first, ":") {
		return first, rest
	}
	return "", instance
}

// programs are those in Go that publish figures of themselves.
func (l look) programs() table {
	t := table{id: "go", title: "programs in Go", columns: []column{
		{name: "program", text: true, wide: true, least: 15}, {name: "goroutines"},
		{name: "heap", unit: "MB", decimal: 1}, {name: "next GC", unit: "MB", decimal: 1, drop: 2},
		{name: "allocated", unit: "MB/s", decimal: 2}, {name: "GC", unit: "/s", decimal: 2},
		{name: "longest", unit: "pause, ms", decimal: 2}, {name: "paused", unit: "% of time", decimal: 2, drop: 1},
	}}
	rows := map[string]row{}
	set := func(column int, name string, by float64) {
		for _, s := range l.all(expvar.Name, name) {
			v := l.valueAt(s, l.at)
			if math.IsNaN(v) {
				continue
			}
			address, _ := program(s.Key.Instance)
			r, known := rows[address]
			if !known {
				r = t.newRow()
				r.words[0] = clean(cmp.Or(address, "/debug/vars"))
			}
			r.values[column] = zero(r.values[column]) + v*by
			rows[address] = r
		}
	}
	set(1, expvar.Goroutines, 1)
	set(2, expvar.HeapAlloc, 1e-6)
	set(3, expvar.NextGC, 1e-6)
	set(4, expvar.TotalAlloc, 1e-6)
	set(5, expvar.NumGC, 1)
	set(6, expvar.PauseMax, 1e3)
	set(7, expvar.PauseTotal, 100)
	for _, r := range rows {
		t.rows = append(t.rows, r)
	}
	slices.SortFunc(t.rows, func(a, b row) int { return cmp.Compare(a.words[0], b.words[0]) })
	return t
}

// pools are the connections that programs in Go keep to their databases.
func (l look) pools() table {
	t := table{id: "pools", title: "pools (sql.DB)", columns: []column{
		{name: "pool", text: true, wide: true}, {name: "in use"}, {name: "open"}, {name: "of"}, {name: "idle", drop: 2},
		{name: "waits", unit: "/s"}, {name: "waited", unit: "ms each", decimal: 2},
		{name: "closed", unit: "idle/s", drop: 1},
	}, sorts: []int{1, 5, 0}}
	for _, s := range l.all(expvar.Name, expvar.InUse) {
		get := l.of(expvar.Name, s.Key.Instance)
		if math.IsNaN(get(expvar.InUse)) {
			continue
		}
		r := t.newRow()
		r.words[0] = clean(cmp.Or(s.Key.Instance, "/debug/vars"))
		r.values[1], r.values[2], r.values[4], r.values[5] = get(expvar.InUse), get(expvar.OpenConnections),
			get(expvar.Idle),
			get(expvar.WaitCount)
		if most := get(expvar.MaxOpenConnections); most > 0 {
			r.values[3] = most
		}
		if r.values[5] > 0 {
			r.values[6] = 1e3 * get(expvar.WaitDuration) / r.values[5]
		}
		r.values[7] = get(expvar.MaxIdleClosed)
		t.rows = append(t.rows, r)
	}
	return t
}

// services are all counters and gauges of servers of which there is no table.
func (l look) services() table {
	return l.browse("services", "other services", func(source string) bool {
		if source == "" || source == accessName || slices.Contains(rowed, source) {
			return false
		}
		of := sources.Find(source)
		return of == nil || of.Role.IsServer()
	})
}

// everything is every series: what to filter in.
func (l look) everything() table {
	return l.browse("series", "all series", func(string) bool { return true })
}

func (l look) browse(id, title string, want func(source string) bool) table {
	t := table{id: id, title: title, columns: []column{
		{name: "series", text: true, wide: true}, {name: "now"}, {name: "max", unit: "5 min"},
		{name: "unit", text: true},
	}, sorts: []int{0, 1, 2}}
	for i := range l.Rec.Series {
		s := &l.Rec.Series[i]
		if !want(s.Key.Source) {
			continue
		}
		m := meter{v: l.values(s, l.at-lookBack+1, l.at)}
		if math.IsNaN(m.now()) {
			continue
		}
		r := t.newRow()
		r.words[0] = clean(strings.TrimSpace(s.Key.Source + " " + s.Key.Name + " " + s.Key.Instance))
		r.values[1], r.values[2] = m.now(), m.top()
		r.words[3] = unitOf(s)
		t.rows = append(t.rows, r)
	}
	return t
}

// unitOf words the unit of a series as it is shown: a counter's rate.
func unitOf(s *kasoku.Series) string {
	u := s.Unit
	if u == "count" {
		u = ""
	}
	if s.Kind == kasoku.Counter {
		u += "/s"
	}
	return clean(u)
}
