package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/golden"
)

// served is a minute of servers beside the database. Counters grow by what is named
// each second, gauges are that.
func served(t *testing.T) *Data {
	t.Helper()
	w := NewWindow(kasoku.Run{Project: "shop", Started: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}, nil, 0)
	for s := range 61 {
		at := time.Duration(s) * time.Second
		frame := func(source string, counters, gauges map[string]float64) {
			f := kasoku.Frame{Source: source, At: at}
			for name, v := range counters {
				name, instance, _ := strings.Cut(name, "@")
				f.Counter(name, instance, "count", v*float64(s))
			}
			for name, v := range gauges {
				name, instance, _ := strings.Cut(name, "@")
				f.Gauge(name, instance, "count", v)
			}
			if err := w.Frame(&f); err != nil {
				t.Fatal(err)
			}
		}
		frame("nginx", map[string]float64{"requests": 1200, "accepts": 40, "handled": 38},
			map[string]float64{"active": 66, "reading": 1, "writing": 25, "waiting": 40})
		frame("varnish", map[string]float64{"MAIN.client_req": 1000, "MAIN.cache_hit": 800, "MAIN.cache_miss": 150, "MAIN.s_pass": 50,
			"MAIN.backend_fail": 2, "MAIN.threads_limited": 0, "MAIN.sess_dropped": 0, "MAIN.n_lru_nuked": 0},
			map[string]float64{"MAIN.threads": 200, "MAIN.n_object": 1})
		frame("redis", map[string]float64{"total_commands_processed": 71_192, "keyspace_hits": 900, "keyspace_misses": 100, "evicted_keys": 12,
			"expired_keys": 3, "total_error_replies": 0, "total_net_output_bytes": 2.5e6,
			"cmdstat.calls@get": 1000, "cmdstat.time@get": 0.0003, "cmdstat.calls@lrange\x1b[2J": 500, "cmdstat.time@lrange\x1b[2J": 0.0022, "cmdstat.calls@set": 0, "cmdstat.time@set": 0},
			map[string]float64{"used_memory": 40e6, "maxmemory": 64e6, "connected_clients": 55, "blocked_clients": 2, "slowlog_len": 7, "keys@db0": 99_999})
		frame("expvar", map[string]float64{"TotalAlloc@127.0.0.1:6060 memstats": 8e6, "NumGC@127.0.0.1:6060 memstats": 2, "PauseTotal@127.0.0.1:6060 memstats": 0.0004,
			"WaitCount@127.0.0.1:6060 db": 5, "WaitDuration@127.0.0.1:6060 db": 0.015, "MaxIdleClosed@127.0.0.1:6060 db": 60},
			map[string]float64{"HeapAlloc@127.0.0.1:6060 memstats": 41e6, "NextGC@127.0.0.1:6060 memstats": 60e6, "goroutines@127.0.0.1:6060": 812, "PauseMax@127.0.0.1:6060 memstats": 0.0007,
				"goroutines@127.0.0.1:6061": 9,
				"InUse@127.0.0.1:6060 db":   10, "OpenConnections@127.0.0.1:6060 db": 10, "MaxOpenConnections@127.0.0.1:6060 db": 10, "Idle@127.0.0.1:6060 db": 0})
		frame("graphite", map[string]float64{"metricsReceived": 5}, nil)
	}
	return w.Take()
}

// TestServices: a server or a program has a row with what people look at.
func TestServices(t *testing.T) {
	d := served(t)
	d.Live = false
	for _, tc := range []struct {
		name          string
		width, height int
	}{{"80", 80, 60}, {"110", 110, 60}} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewModel(d, nil, Options{})
			s := m.screen(tc.width)
			m.Go(60)
			for _, id := range []string{"nginx", "varnish", "redis", "commands", "go", "pools", "services"} {
				table := m.table(id)
				s.paneBlock(&table, 5, false)
				s.line()
			}
			got := s.text()
			golden.CheckString(t, "testdata/services-"+tc.name+".txt", got)
			if strings.Contains(got, "…") {
				t.Error("something is cut")
			}
			fits(t, got, tc.width, strings.Count(got, "\n")+1, false)
		})
	}
}

// TestNoServices: what is not there has no table.
func TestNoServices(t *testing.T) {
	m := NewModel(Replay(sample()), nil, Options{})
	m.Go(290)
	for _, id := range []string{"varnish", "redis", "commands", "go", "pools", "services"} {
		if table := m.table(id); len(table.rows) != 0 {
			t.Errorf("%s: %+v", id, table.rows)
		}
	}
}

// TestTwoLoads: the load of a run that is recorded does not take the place of one that
// is handed over.
func TestTwoLoads(t *testing.T) {
	w := NewWindow(kasoku.Run{}, nil, 0)
	w.AddSeconds([]kasoku.LoadSecond{loadSecond(10)}, []kasoku.Step{{Number: 1}})
	before := w.Take().Load.points[10]
	w.SetLoad(Load{points: map[int]LoadPoint{9: {Asked: 7}, 10: {Asked: 7}}}, []kasoku.Step{{Number: 1}})
	w.SetLoad(Load{points: map[int]LoadPoint{11: {Asked: 8}}}, nil) // of the next run
	got := w.Take().Load.points
	if got[9].Asked != 7 || got[10] != before || got[11].Asked != 8 || before.Asked == 0 {
		t.Errorf("got %+v", got)
	}
}
