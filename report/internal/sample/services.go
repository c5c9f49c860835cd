package sample

import (
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/graphite"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/sockets"
	"github.com/kasoku/kasoku/observe/varnish"
)

// Services returns a recording of three minutes of a program in Go with a pool that is
// too small, beside carbon, Redis and Varnish, on a machine of which all is recorded.
func Services() *kasoku.Recording {
	const n = 180
	wave := func(mean, swing, every float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = mean + swing*math.Sin(2*math.Pi*float64(i)/every)
		}
		return out
	}
	saw := func(low, high float64, every int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = low + (high-low)*float64(i%every)/float64(every)
		}
		return out
	}
	r := &kasoku.Recording{Run: kasoku.Run{
		ID: "20261120-140211-services", Project: "shop", Label: "services", Started: Started, Length: n * time.Second,
		State: kasoku.Finished, Version: "0.4.0",
		Hosts: []kasoku.Host{host()},
	}}
	late := scaled(wave(0.004, 0.0035, 45), 1)
	late[92] = 0.41
	r.Series = []kasoku.Series{
		gauge("expvar", expvar.HeapAlloc, "memstats", "bytes", saw(38<<20, 74<<20, 9)),
		gauge("expvar", expvar.NextGC, "memstats", "bytes", level(n, 76<<20)),
		counter("expvar", expvar.NumGC, "memstats", "count", level(n, 2)), counter("expvar", expvar.PauseTotal,
			"memstats", "s",
			level(n, 0.00031)),
		gauge("expvar", expvar.PauseMax, "memstats", "s", saw(0.00008, 0.00042, 7)),
		gauge("expvar", "goroutines", "", "count", wave(240, 160, 60)),
		without(gauge("expvar", expvar.RuntimeLatencyP99, "runtime", "s", late), 20, 21, 22, 23),
		counter("expvar", expvar.RuntimeGCCPU, "runtime", "s", level(n, 0.11)),
		gauge("expvar", expvar.InUse, "db", "count", wave(8, 2, 60)), gauge("expvar", expvar.MaxOpenConnections,
			"db", "count",
			level(n, 10)),
		counter("expvar", expvar.WaitCount, "db", "count", wave(40, 39, 60)), counter("expvar", expvar.WaitDuration,
			"db", "s",
			wave(6, 6, 60)),
		counter("redis", redis.TotalCommandsProcessed, "", "count", wave(1400, 300, 30)),
		counter("redis", redis.KeyspaceMisses, "", "count", wave(120, 60, 30)),
		counter("varnish", varnish.CacheHits, "", "count", wave(900, 200, 50)),
		counter("varnish", varnish.CacheMisses, "", "count", wave(60, 30, 50)),
		counter("host", hostkeys.DiskBusy, "vda", "s", wave(0.3, 0.2, 90)), counter("host", hostkeys.DiskReads,
			"vda", "count",
			level(n, 2)),
		counter("host", hostkeys.DiskWrites, "vda", "count", level(n, 90)), counter("host", hostkeys.DiskWriteTime,
			"vda", "s",
			level(n, 0.31)),
		counter("host", hostkeys.DiskReadTime, "vda", "s", level(n, 0.004)), counter("host", hostkeys.DiskReadBytes,
			"vda",
			"bytes", level(n, 8<<10)),
		counter("host", hostkeys.DiskWriteBytes, "vda", "bytes", level(n, 1<<20)),
		counter("process", process.UnitCPU, "shop.service", "s", wave(0.8, 0.3, 60)),
		counter("process", process.ExeCPU, "shop", "s", wave(0.8, 0.3, 60)),
		counter("process", process.ContainerCPU, "3f21c9 cache", "s", level(n, 0.06)),
		counter("process", process.ThreadCPU, "812/815 redis-server", "s", wave(0.7, 0.2, 60)),
		counter("process", process.ThreadWait, "812/815 redis-server", "s", level(n, 0.02)),
		gauge("sockets", sockets.AcceptQueue, "0.0.0.0:8080 shop", "count", wave(5, 5, 60)),
		gauge("sockets", sockets.AcceptLimit, "0.0.0.0:8080 shop", "count", level(n, 4096)),
		counter("sockets", sockets.AcceptDrops, "0.0.0.0:8080 shop", "count", level(n, 0)),
	}
	for _, x := range []struct {
		name string
		vs   [3]float64
	}{
		{graphite.MetricsReceived, [3]float64{41_200, 40_950, 83_100}},
		{graphite.CommittedPoints, [3]float64{41_100, 38_700, 39_500}},
		{graphite.CacheSize, [3]float64{1_050, 3_300, 46_900}}, {graphite.DroppedCreates, [3]float64{}},
	} {
		s := kasoku.Series{Key: kasoku.Key{Host: "lab1", Source: graphite.Name, Name: x.name,
			Instance: "agents.lab1-a"},
			Unit: "count"}
		for i, v := range x.vs {
			s.Points = append(s.Points, kasoku.Point{At: tick(14 + 60*i), Value: v})
		}
		r.Series = append(r.Series, s)
	}
	return r
}
