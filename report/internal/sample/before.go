package sample

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// Before returns the run that breaks: 30.5 % of the requests at 1,000/s succeed.
func Before() *kasoku.Recording {
	r := base("before", "main@4f2c91e")
	r.Seconds = beforeSeconds()
	r.Series = beforeSeries()
	r.Gaps = []kasoku.Gap{{Host: "lab1", Source: "mysql", Interval: kasoku.Interval{From: 30 * time.Second,
		To: 31 * time.Second}, Reason: "took 1,204 ms of 1,000"}}
	r.Settings = settings("151", "OFF")
	r.Changes = []kasoku.Change{
		{Host: "lab1", Object: "mariadb", Name: "slow_query_log", Before: "OFF", During: "ON", Restored: true},
		{Host: "lab1", Object: "mariadb", Name: "long_query_time", Before: "10 s", During: "0 s", Restored: true},
	}
	r.Logs = []kasoku.LogWindow{
		{Host: "lab1", Kind: "accesslog", Path: "access.log", Format: "ltsv", Lines: 11103, Records: 11103, Files: 1},
		{Host: "lab1", Kind: "slowlog", Path: "slow.log", Format: "mariadb", Lines: 28768, Records: 7192,
			Continued: 21576, Files: 1},
		{Host: "lab1", Kind: "applog", Path: "app.log", Format: "text", Lines: 11096, Records: 11095, Dropped: 1,
			Files:     1,
			BadSample: []kasoku.BadLine{{Line: 2041, Text: "\x00\x00", Why: "not text"}}},
	}
	r.Endpoints = beforeEndpoints()
	r.Queries = []kasoku.Query{
		query("A1B2", "INSERT INTO users (id, name, mail) VALUES (?, ?, ?)", 4150, 112900*time.Millisecond, 24, 71.4,
			140, 320),
		query("C3D4", "SET NAMES utf8mb4", 3042, 1250*time.Millisecond, 0.35, 1.90, 2.4, 5),
	}
	r.Messages = messages()
	r.RowChecks = []kasoku.RowCheck{{Host: "lab1", Table: "users", Before: 0, After: 4150, Successes: 4150}}
	r.Warnings = []kasoku.Warning{
		{Code: "one-run", Text: "one run gives no confidence interval",
			Hint: "repeat the run to see how much it differs by itself"},
		{Code: "shared-host",
			Text: "generator, app and database share 2 cores; kasoku used 0.09 of the 1.77 cores busy " +
				"in step 3", Hint: "run the load from another host"},
	}
	r.Diagnosis = diagnosis()
	return r
}

func base(label, revision string) *kasoku.Recording {
	return &kasoku.Recording{
		Run: kasoku.Run{
			ID: "20261120-140211-" + label, Project: "userapi", Label: label, Started: Started, Length: Length,
			State:   kasoku.Finished,
			Version: "0.1.0", Revision: revision, Load: "POST /users, open loop", Hosts: []kasoku.Host{host()},
		},
		Steps: steps(),
		Load: &kasoku.LoadSummary{Engine: "epollhttp", EngineWhy: "all targets are cleartext HTTP/1.1",
			Model: "open loop", Targets: []string{target},
			MaxInFlight: 10000, PeakInFlight: 1204, Pacing: "precise", Shards: 1, Connections: 1204,
			CPU: 1130 * time.Millisecond, Wall: 36 * time.Second, Cores: 2},
	}
}

func settings(maxConnections, slow string) []kasoku.Setting {
	return []kasoku.Setting{
		setting("innodb_flush_log_at_trx_commit", "1"), setting("long_query_time", "10"),
		setting("max_connections", maxConnections),
		setting("slow_query_log", slow), setting("version", "10.11.14-MariaDB-0+deb12u2"),
	}
}

// fitted moves the percentiles of the seconds a little, so that those of the whole
// step are the design's.
var fitted = []per{{p50: 0.974, p95: 0.94, p99: 1.06}, {p50: 0.994, p95: 0.985, p99: 1.016},
	{p50: 1.034, p95: 0.985, p99: 0.988}}

func beforeSeconds() []kasoku.LoadSecond {
	var out []kasoku.LoadSecond
	for i, s := range steps() {
		var rows []per
		for sec := int(s.Interval.From / time.Second); sec < int(s.Interval.To/time.Second); sec++ {
			f := fitted[i]
			rows = append(rows, per{sec, int(s.PerSec), int(okPerSec[sec]), p50ms[sec] * f.p50, p95ms[sec] * f.p95,
				p99ms[sec] * f.p99, maxms[sec]})
		}
		out = append(out, load(i+1, rows, 500, "500 Internal Server Error")...)
	}
	return out
}

func beforeSeries() []kasoku.Series {
	busy := total(appUser, dbUser, ownCPU, otherCPU)
	system := total(appSystem, dbSystem)
	opened := make([]float64, len(accepted)) // attempts that got a thread, the aborted ones too
	for i := range opened {
		opened[i] = accepted[i]
		if refused[i] > 0 {
			opened[i] += 33.8
		}
	}
	n := len(busy)
	return []kasoku.Series{
		counter("host", hostkeys.CPUUser, "", "s", busy), counter("host", hostkeys.CPUSystem, "", "s", system),
		gauge("host", hostkeys.MemAvailable, "", "bytes", level(n, 2.6e9)),
		gauge("host", hostkeys.MemTotal, "", "bytes", level(n, 4<<30)),
		counter("host", hostkeys.DiskBusy, "vda", "s", scaled(total(dbUser, dbSystem), 0.6)),
		counter("host", hostkeys.PressureIOSome, "", "s", scaled(total(dbUser, dbSystem), 0.03)),
		without(counter("mysql", mysql.ComStmtPrepare, "", "count", okPerSec), 31),
		without(counter("mysql", mysql.ConnectionErrorsMaxConnections, "", "count", refused), 31),
		without(counter("mysql", mysql.Connections, "", "count", opened), 31),
		without(counter("mysql", mysql.InnodbOSLogFsyncs, "", "count", okPerSec), 31),
		without(counter("mysql", mysql.Questions, "", "count", scaled(okPerSec, 2.1)), 31),
		without(gauge("mysql", mysql.ThreadsConnected, "", "count", connected), 30),
		without(gauge("mysql", mysql.ThreadsRunning, "", "count", running), 30),
		counter("process", process.CPUUser, "1204 userapi", "s", appUser), counter("process", process.CPUSystem,
			"1204 userapi",
			"s", appSystem),
		counter("process", process.CPUUser, "988 mariadbd", "s", dbUser), counter("process", process.CPUSystem,
			"988 mariadbd",
			"s", dbSystem),
		counter("process", process.CPUUser, "1187 kasoku", "s", ownCPU),
		gauge("process", process.FDs, "1204 userapi", process.Count, total(connected, level(n, 382))),
		gauge("process", process.FDsLimit, "1204 userapi", process.Count, level(n, 1024)),
		counter("self", observe.SelfCPUUser, "", "s", ownCPU), gauge("self", observe.SelfRSS, "", "bytes", level(n,
			14.2e6)),
		counter("self", "cost.host", "", "s", level(n, 0.0004)),
		counter("self", "cost.mysql", "", "s", level(n, 0.0011)), counter("self", "cost.process", "", "s",
			level(n, 0.0009)),
	}
}

func query(id, fingerprint string, calls int, sum time.Duration, p50, p95, p99, most float64) kasoku.Query {
	return kasoku.Query{Host: "lab1", ID: id, Fingerprint: fingerprint, Calls: uint64(calls), Total: sum,
		Latency: histogramOf(calls, p50, p95, p99, most)}
}

func beforeEndpoints() []kasoku.Endpoint {
	return []kasoku.Endpoint{
		{Host: "lab1", Method: "POST", Route: "/users", Count: 11100, Codes: map[int]uint64{201: 4150, 500: 6950},
			Bytes:   187590,
			Latency: histogramOf(11100, 308, 681, 1097, 1806), Total: 3518 * time.Second},
		{Host: "lab1", Method: "GET", Route: "/healthz", Count: 3, Codes: map[int]uint64{200: 3}, Bytes: 9,
			Latency: histogramOf(3, 0.4, 0.45, 0.5, 0.5), Total: 1200 * time.Microsecond},
	}
}

func messages() []kasoku.Message {
	at := func(ms int) time.Duration { return 28*time.Second + time.Duration(ms)*time.Millisecond }
	return []kasoku.Message{
		{Host: "lab1", Path: "app.log", Pattern: "POST /users: Error ?: Too many connections", Level: "error",
			Code: "1040", Count: 6612,
			Sample: "POST /users: Error 1040 (08004): Too many connections", First: at(412),
			Last: 37*time.Second + 988*time.Millisecond},
		{Host: "lab1", Path: "app.log", Pattern: "POST /users: invalid connection", Level: "error", Count: 214,
			Sample: "POST /users: invalid connection", First: at(431), Last: 37*time.Second + 711*time.Millisecond},
		{Host: "lab1", Path: "app.log", Pattern: "POST /users: read tcp ?: connection reset by peer", Level: "error",
			Count:  124,
			Sample: "POST /users: read tcp 127.0.0.1:50122->127.0.0.1:3306: connection reset by peer", First: at(460),
			Last: 36 * time.Second},
		{Host: "lab1", Path: "app.log", Pattern: "created user ?", Level: "info", Count: 4145,
			Sample: "created user 01JD3 <script>alert(1)</script> \x1b[31m山田太郎\x1b[0m", First: 2 * time.Second,
			Last: 38 * time.Second},
	}
}
