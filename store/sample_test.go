package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// sampleRecording is a small run with something in every table, written out so
// that it stays what it is when types grow.
func sampleRecording() *kasoku.Recording {
	run := sampleRun()
	run.State, run.Length, run.Note = kasoku.Finished, 63*time.Second, "one of three"
	run.Command = &kasoku.Command{Args: []string{"kasoku", "attack", "-rate", "1000"}, ExitCode: 1, Wall: 62 * time.Second,
		User: 9 * time.Second, System: 4 * time.Second, MaxRSSBytes: 41 << 20, VoluntarySwitch: 90211, ForcedSwitch: 318,
		Output: "Success 30.5 %\n"}
	run.Group, run.Repeat, run.Observers = "20261120-140000-before", 2, kasoku.ObserversOn
	run.Base = "20261120-135500-start"
	run.Price = kasoku.Price{PerHour: 0.096, Currency: "USD"}
	run.Score = &kasoku.Score{Value: 12345, Outcome: kasoku.Passed, Source: "output, JSON score", Requests: 60_000, Failures: 41_700}
	run.Hosts[0].ClockNote = "the run's clock"
	rec := &kasoku.Recording{
		Run: run,
		Steps: []kasoku.Step{
			{Number: 1, PerSec: 10, Interval: kasoku.Interval{From: 1 * time.Second, To: 31 * time.Second}, Planned: 30 * time.Second},
			{Number: 2, PerSec: 1000, PerSecTo: 2000, Interval: kasoku.Interval{From: 31 * time.Second, To: 61 * time.Second}, Planned: 30 * time.Second},
		},
		Load: &kasoku.LoadSummary{Engine: "nethttp", EngineWhy: "the only one", Model: "open loop", Targets: []string{"POST /users"},
			MaxInFlight: 10000, PeakInFlight: 357, CPU: 5 * time.Second, Wall: 60 * time.Second, PeakCores: 0.4, Cores: 2,
			Pacing: "precise", Shards: 2, Connections: 400, Resent: 3, Redirected: 1, StoppedAt: 59 * time.Second},
		Gaps: []kasoku.Gap{{Host: "lab1", Source: "mysql", Interval: kasoku.Interval{From: 34 * time.Second, To: 36 * time.Second},
			Reason: "Error 1040: Too many connections"}},
		Events:   []kasoku.Event{{At: 31 * time.Second, Host: "lab1", Kind: "phase", Text: "step 2"}},
		Changes:  []kasoku.Change{{Host: "lab1", Object: "mariadb", Name: "slow_query_log", Before: "OFF", During: "ON", Restored: true}},
		Settings: []kasoku.Setting{{Host: "lab1", Scope: "mysql", Name: "max_connections", Value: "151"}},
		Logs: []kasoku.LogWindow{{Host: "lab1", Kind: "accesslog", Path: "/var/log/access.ltsv", Format: "ltsv", Device: 65024,
			Inode: 1<<63 + 5, From: 100, To: 2_000_100, Files: 1, Lines: 9, Records: 8, Dropped: 1,
			BadSample: []kasoku.BadLine{{Line: 4, Text: "rubb\x01sh", Why: "no label"}}}},
		Endpoints: []kasoku.Endpoint{{Host: "lab1", Method: "POST", Route: "/users", Count: 9_641, Codes: map[int]uint64{200: 3_050, 500: 6_591},
			Bytes: 410_000, Squares: 1234.5, MinBytes: 12, MaxBytes: 900, RequestBytes: 5_000, Upstream: 2999 * time.Second, UpstreamCount: 9_640, Bots: 7,
			Connects: 9_000, ConnectCount: 9_640, MaxRequestBytes: 70_000, BotsPassed: 6, BotsUpstream: time.Second, Paths: 3, Varied: 2, Variants: 40,
			Latency: histogramOf(8*time.Millisecond, 331*time.Millisecond, 1116*time.Millisecond), Total: 3000 * time.Second,
			First: time.Second, Last: 61 * time.Second, Seconds: map[int]kasoku.EndpointSecond{1: {Count: 10}, 31: {Count: 940, Failed: 610}},
			BySecond: timesOf(map[int64]time.Duration{1: 8 * time.Millisecond, 31: 1116 * time.Millisecond})}},
		Queries: []kasoku.Query{{Host: "lab1", ID: "1EB46A2A9DB7AC3B2F2A6A8C5C0E5A0D", Fingerprint: "insert into users (id, name, mail) values(?+)",
			Verb: "INSERT", Tables: []string{"users"}, Sample: "INSERT INTO users (id, name, mail) VALUES (?, ?, ?)", Calls: 4_150,
			Total: 112_900 * time.Millisecond, Lock: time.Second, Latency: histogramOf(27 * time.Millisecond), RowsExamined: 0, RowsAffected: 4_150,
			HasAffected: true, First: time.Second, Last: 61 * time.Second, Raw: "INSERT INTO users (id, name, mail) VALUES (7, 'ann', 'a@b')", Schema: "app",
			Squares: 41.5, Seconds: map[int]kasoku.QuerySecond{1: {Calls: 10, Total: time.Second, Rows: 30}}, Distinct: 4_100, Repeated: 2, Streak: 40, Streaks: 900,
			BytesSent: 9_000, SingleRow: 4_150, Numbers: []string{"u.phone"}, BySecond: timesOf(map[int64]time.Duration{1: 27 * time.Millisecond, 2: 2 * time.Microsecond})}},
		Saves: []kasoku.SaveShape{{Host: "lab1", Table: "users", Count: 3_050, Inserts: 3_050,
			Sample: []string{"UPDATE users SET name = ? WHERE id = ?", "SELECT * FROM users WHERE id = ?", "INSERT INTO users VALUES (?)"}}},
		Slowest: []kasoku.SlowRequest{{Host: "lab1", Method: "GET", Route: "/users/:id", URI: "/users/7?full=1", Status: 200, At: 40 * time.Second,
			Latency: 1116 * time.Millisecond, Upstream: 1115 * time.Millisecond, Bytes: 512}},
		Transactions: []kasoku.Transaction{{Host: "lab1", Shape: []string{"1EB46A2A9DB7AC3B2F2A6A8C5C0E5A0D"}, Tag: "Register", Verbs: "INSERT", Count: 70,
			RolledBack: 3, ReadOnly: false, Statements: 140, Total: 7 * time.Second, Max: time.Second}},
		Plans: []kasoku.Plan{{Host: "lab1", QueryID: "1EB46A2A9DB7AC3B2F2A6A8C5C0E5A0D", Schema: "app", Format: "table", Text: "id\tselect_type\n1\tSIMPLE\n",
			Rows: []kasoku.PlanRow{{Select: "SIMPLE", Table: "users", Access: "ALL", Rows: 3_055, Filtered: 10, Extra: "Using where"}}, Note: "sample of 12:01:07"}},
		Tables: []kasoku.TableDef{{Host: "lab1", Schema: "app", Name: "users", Create: "CREATE TABLE users (id INT)", Engine: "InnoDB", Rows: 3_055,
			DataBytes: 1 << 20, IndexBytes: 1 << 14, Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{3_055}}},
			Columns: []kasoku.ColumnSample{{Name: "id", Rows: 3_055, Distinct: 3_055, Most: 1}},
			Checks: []kasoku.IndexCheck{{DDL: "CREATE INDEX users_name ON users (name)", Server: "MariaDB 10.11.19", Rows: 3_055, Whole: true,
				Classes: []kasoku.CheckedClass{{QueryID: "Q1", Before: 3_055, After: 21, Used: true, Helps: true}}}}}},
		Advice: []kasoku.Advice{{Host: "lab1", ID: "MYS-25", Area: "innodb", Title: "The buffer pool misses", Variable: "innodb_buffer_pool_size",
			Value: "134217728", Proposed: "1073741824", Formula: "reads / read_requests", Measured: "12 %", Threshold: "> 10 %", Window: "60 s of load",
			Confidence: kasoku.Confidence{Level: kasoku.High, Holds: 2, Of: 3, Note: "one run"}, SetGlobal: "SET GLOBAL innodb_buffer_pool_size = 1073741824;",
			ConfLine: "innodb_buffer_pool_size = 1G", Risk: kasoku.RiskNone, Gain: "fewer reads", Price: "900 MB of memory", Note: "RAM 4 GiB"}},
		Joins: []kasoku.Join{{Host: "lab1", Source: "slow log's table", Resolution: time.Microsecond, Interval: kasoku.Interval{From: time.Second, To: 31 * time.Second},
			Requests: 9_641, Statements: 12_450, Questions: 12_500, Background: 7.5, Connections: 10, Busy: 3.7, Saturated: true, Refused: "too coarse",
			Checks: []kasoku.JoinCheck{{Name: "logged statements", Holds: true, Text: "12,450 of 12,500"}},
			Loops:  []kasoku.QueryLoop{{QueryIDs: []string{"1EB46A2A9DB7AC3B2F2A6A8C5C0E5A0D"}, Runs: 3, Calls: 300, Longest: 120}}, CPU: time.Second}},
		Callers: []kasoku.Caller{{Host: "lab1", QueryID: "1EB46A2A9DB7AC3B2F2A6A8C5C0E5A0D", Method: "POST", Route: "/users", With: []string{"GET /me"},
			Class: kasoku.CallerHigh, Source: kasoku.FromOverlap, PerRequest: 1.25, Least: 1, Most: 2, Requests: 9_641, Calls: 12_051.25, Share: 0.97,
			Likelihood: 812.5, Decisive: 0.625, Loop: true, List: "2A", Slope: 1.5, Correlation: 0.75, Note: "shared"}},
		LockWaits: []kasoku.LockWait{{Host: "lab1", Table: "app.users", Index: "PRIMARY", Waiting: "update users", WaitingID: "3B", Blocking: "select sleep(?)",
			BlockingID: "4C", Samples: 12, Waiters: 9, Longest: time.Second, Oldest: 2 * time.Second, First: 3 * time.Second, Last: 40 * time.Second}},
		Deadlocks: []kasoku.Deadlock{{Host: "lab1", At: 9 * time.Second, Table: "app.users", Statements: []string{"update users", "update posts"},
			Indexes: []string{"PRIMARY"}, Count: 5}},
		Service: &kasoku.Service{
			Members: []kasoku.Member{{ID: "application userapi :8080", Role: kasoku.RoleApplication, Program: "userapi", Host: "lab1", Unit: "userapi.service",
				Container: "0123456789ab", Cgroup: "/system.slice/userapi.service", Processes: []kasoku.MemberProcess{{PID: 812, Start: 77, Leader: true, Ended: time.Second}},
				Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:8080", Private: true}}, Language: "go", Framework: "none", Version: "go1.26.0",
				Workers: 3, Threads: 5, Logs: []string{"/var/log/app.log"}, Configs: []string{"/etc/app.conf"},
				Blocks: []kasoku.ConfigBlock{{File: "/etc/app.conf", Line: 3}},
				Limits: kasoku.Limits{OpenFiles: 1024, Processes: 99, MemoryBytes: 1 << 30, Cores: 1.5, CPUs: "0-1,4"},
				Found:  []kasoku.Reason{{By: kasoku.ByLoad, Text: "listens at 127.0.0.1:8080"}}, Sure: kasoku.High, Others: 2}},
			Edges: []kasoku.Edge{{From: "application userapi :8080", To: "x", At: kasoku.Listener{Network: "tcp", Address: "127.0.0.1:3306", Private: true},
				Protocol: "mysql", Seen: 4, Weak: true, Found: []kasoku.Reason{{By: kasoku.ByConnection, Text: "4 connections"}}}},
			Unknown: []kasoku.Unseen{{What: "who listens", Why: "hidden", Show: "sudo"}},
		},
		Profiles: []kasoku.Profile{{Host: "lab1", Program: "userapi", Address: "http://127.0.0.1:6060/debug/pprof/", Kind: kasoku.ProfileCPU, Unit: "nanoseconds",
			Interval: kasoku.Interval{From: 6 * time.Second, To: 16 * time.Second}, Total: 8_000_000_000, Stacks: 412, Data: []byte{0x1f, 0x8b, 8, 0}, Note: "cut",
			Functions: []kasoku.ProfileFunction{{Name: "main.hash", File: "/src/app/main.go", Line: 12, Flat: 6_000_000_000, Cum: 7_000_000_000}}}},
		Traces: []kasoku.Trace{{Host: "lab1", Interval: kasoku.Interval{From: 5 * time.Second, To: 15 * time.Second},
			Members: []string{"application userapi :8080"}, Attach: 9 * time.Millisecond, CPU: 70 * time.Millisecond, Events: 9_000,
			Lost: 1, Notes: []string{"TLS"}, Refused: "no",
			Counts: kasoku.TraceCounts{Requests: 300, Unanswered: 2, Mixed: 3, Statements: 700, Tied: 600,
				Partial: 40, Outside: 50, Unresolved: 6, Setup: 4, After: 5},
			Endpoints: []kasoku.TracedEndpoint{{Method: "GET", Route: "/users", Requests: 300,
				Time: time.Second, Database: time.Millisecond,
				PoolWait: 2 * time.Millisecond, Waits: 3, Idle: 4 * time.Millisecond}},
			Calls: []kasoku.TracedCall{{Method: "GET", Route: "/users", QueryID: "3B",
				Fingerprint: "select * from users", Requests: 300, With: 299,
				Calls: 600, Least: 0, Most: 3, Time: time.Second}},
			Externals: []kasoku.TracedExternal{{Method: "GET", Route: "/users", To: "GET rates/:id",
				Requests: 300, Calls: 30, Time: time.Second, Held: 10,
				HeldTime: time.Millisecond}},
			Syncs: []kasoku.TracedSync{{Member: "database mariadbd :3306", File: "/var/lib/mysql/ib_logfile0",
				Count: 9, Time: time.Second, Most: time.Millisecond}}}},
		Messages: []kasoku.Message{{Host: "lab1", Path: "/var/log/app.log", Kind: kasoku.MessageNginx, Pattern: "Error <n>: Too many connections", Level: "error", Code: "1040",
			Count: 6_612, Bytes: 500_000, Sample: "Error 1040: Too many connections", First: 31 * time.Second, Last: 61 * time.Second,
			Seconds: map[int]uint64{31: 220, 32: 221}}},
		RowChecks: []kasoku.RowCheck{{Host: "lab1", Table: "users", Before: 5, After: 3_055, Successes: 3_050}},
		Warnings:  []kasoku.Warning{{Host: "lab1", Code: "one-run", Text: "one run a side", Hint: "kasoku run --repeat 6"}},
		Diagnosis: sampleDiagnosis(),
		Summary: &kasoku.Summary{Source: "load", Requests: 30_300, Succeeded: 9_450, PerSec: 305, Asked: 1000, P50: 331 * time.Millisecond,
			P99: 1116 * time.Millisecond, CPU: 70 * time.Second, LoadTime: 60 * time.Second, Bottleneck: "mysqld 1.84 of 2 cores"},
		Phases: []kasoku.Phase{{Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{From: time.Second, To: 61 * time.Second}, Why: "30,300 requests"}},
		Configs: []kasoku.Config{{Host: "lab1", Kind: "mysql", Name: "/etc/mysql/my.cnf", Text: "[mysqld]\nmax_connections = 151\n", Mode: 0o644,
			UID: 1, GID: 2, Masked: 3, Note: "cut"}},
	}
	for n := 1; n <= 60; n++ {
		rec.Seconds = append(rec.Seconds, sampleSecond(n))
	}
	rec.Series = sampleSeries()
	return rec
}

// sampleOfVersion is what the kept file of a version holds of the sample.
func sampleOfVersion(v int64) *kasoku.Recording {
	rec := sampleRecording()
	if v < 9 {
		rec.Run.Base = ""
	}
	if v < 2 {
		rec.Summary, rec.Phases, rec.Configs = nil, nil, nil
		rec.Run.Group, rec.Run.Repeat, rec.Run.Observers = "", 0, ""
		rec.Run.Price, rec.Run.Score = kasoku.Price{}, nil
		rec.Run.Hosts[0].ClockNote = ""
	}
	if v < 3 {
		rec.Slowest, rec.Transactions, rec.Plans, rec.Tables, rec.Advice = nil, nil, nil, nil, nil
		e, q := &rec.Endpoints[0], &rec.Queries[0]
		e.Squares, e.MinBytes, e.MaxBytes, e.RequestBytes, e.Upstream, e.UpstreamCount, e.Bots = 0, 0, 0, 0, 0, 0, 0
		q.Raw, q.Schema, q.Squares, q.Seconds, q.Distinct, q.Repeated, q.Streak, q.Streaks = "", "", 0, nil, 0, 0, 0, 0
	}
	if v < 4 {
		for i := range rec.Steps {
			rec.Steps[i].PerSecTo = 0
		}
		l := rec.Load
		l.Pacing, l.Shards, l.Connections, l.Resent, l.Redirected, l.StoppedAt = "", 0, 0, 0, 0, 0
	}
	if v < 5 {
		rec.Joins, rec.Callers, rec.LockWaits, rec.Deadlocks = nil, nil, nil, nil
		e, q := &rec.Endpoints[0], &rec.Queries[0]
		e.Connects, e.ConnectCount, e.MaxRequestBytes, e.BotsPassed, e.BotsUpstream, e.Paths, e.Varied, e.Variants = 0, 0, 0, 0, 0, 0, 0, 0
		q.BytesSent, q.SingleRow = 0, 0
		for s, n := range q.Seconds {
			n.Rows = 0
			q.Seconds[s] = n
		}
		rec.Messages[0].Kind = ""
		rec.Diagnosis.Findings[0].Fixes[0].Edits = nil
	}
	if v < 6 {
		rec.Profiles = nil
	}
	if v < 7 && rec.Run.Score != nil {
		rec.Run.Score.Requests, rec.Run.Score.Failures = 0, 0
	}
	if v < 8 {
		rec.Service = nil
	}
	if v < 13 {
		rec.Traces = nil
	}
	if v < 12 && rec.Service != nil {
		rec.Service.Members[0].Blocks = nil
	}
	for i := range rec.Seconds {
		if v < 17 {
			rec.Seconds[i].Expected = 0
		}
	}
	if v < 18 {
		rec.Endpoints[0].BySecond, rec.Queries[0].BySecond = nil, nil
	}
	if v < 16 {
		rec.Warnings[0].Host = ""
	}
	if v < 15 {
		rec.Queries[0].Numbers = nil
	}
	if v < 14 && rec.Service != nil {
		rec.Service.Members[0].Limits.CPUs = ""
	}
	for i := range rec.Tables {
		if v < 10 {
			rec.Tables[i].Columns = nil
		}
		if v < 11 {
			rec.Tables[i].Checks = nil
		}
	}
	return rec
}

func sampleDiagnosis() *kasoku.Diagnosis {
	return &kasoku.Diagnosis{
		Verdict: "At 1,000 req/s, 69.5 % of requests fail: MariaDB refuses connections beyond 151.",
		Rules:   10,
		Findings: []kasoku.Finding{{
			ID: "POOL-02", Object: kasoku.Object{Kind: "variable", Name: "max_connections"}, Title: "MariaDB refuses connections",
			Clause: "MariaDB refuses all beyond 151", Severity: kasoku.Problem,
			Confidence: kasoku.Confidence{Level: kasoku.High, Holds: 5, Of: 5},
			Impact:     kasoku.Impact{Share: 0.695, Of: "of requests at 1,000 req/s", Shared: []string{"POOL-01"}},
			Evidence: []kasoku.Evidence{
				{Source: "app.log", Text: "Error 1040: Too many connections", Note: "first 14:02:39.412", Value: "× 6,612", Number: 6612, Strong: true},
				{Source: "status", Text: "Connections", Note: "0 → 9,979", Value: "+9,979", Number: 9979,
					Series:   []kasoku.Key{{Host: "lab1", Source: "mysql", Name: "Connections"}},
					Interval: kasoku.Interval{From: 31 * time.Second, To: 61 * time.Second}},
			},
			Cause: "The pool has no upper limit.",
			Fixes: []kasoku.Fix{{Text: "Cap the pool below max_connections.", Where: "where the pool is opened", Code: "+ db.SetMaxOpenConns(100)", Risk: kasoku.RiskAppRestart, Lang: "go",
				Edits: []kasoku.Edit{{Kind: kasoku.EditVariable, Do: "SET GLOBAL max_connections = 300", Undo: "SET GLOBAL max_connections = DEFAULT", Conf: "max_connections = 300", Context: "http", Lines: "gzip on;"}}}},
			Expect: "success above 99.9 %", Verify: "no 1040 in app.log", Explains: []string{"MES-07"},
			Interval: kasoku.Interval{From: 31 * time.Second, To: 61 * time.Second},
		}},
		Silences: []kasoku.Silence{{ID: "HW-05", Reason: "CPU was at 1.8 of 4 cores", Near: 0.45}},
	}
}

func sampleSecond(n int) kasoku.LoadSecond {
	s := kasoku.LoadSecond{Second: n, Step: 1, Target: "POST /users", Asked: 10, Codes: map[int]uint64{200: 10},
		BytesIn: 400, BytesOut: 900, Latency: histogramOf(8*time.Millisecond, 9*time.Millisecond),
		SendDelay: histogramOf(60 * time.Microsecond), Service: histogramOf(8 * time.Millisecond)}
	if n > 30 {
		s.Step, s.Asked = 2, 1000
		s.Codes = map[int]uint64{200: 305, 500: 661, 0: 34}
		s.Expected = 20
		s.Errors = map[string]uint64{"500 Internal Server Error": 661, "timeout": 34}
		s.Latency = histogramOf(24*time.Millisecond, 331*time.Millisecond, 1116*time.Millisecond)
	}
	return s
}

func sampleSeries() []kasoku.Series {
	key := func(source, name, instance string) kasoku.Key {
		return kasoku.Key{Host: "lab1", Source: source, Name: name, Instance: instance}
	}
	out := []kasoku.Series{
		{Key: key("host", "cpu.user", ""), Kind: kasoku.Counter, Unit: "s"},
		{Key: key("host", "cpu.user", "cpu0"), Kind: kasoku.Counter, Unit: "s"},
		{Key: key("host", "load.1", ""), Kind: kasoku.Gauge, Unit: "ratio"},
		{Key: key("mysql", "Connections", ""), Kind: kasoku.Counter, Unit: "count"},
		{Key: key("mysql", "Threads_connected", ""), Kind: kasoku.Gauge, Unit: "count"},
	}
	for n := 1; n <= 63; n++ {
		at := time.Duration(n)*time.Second + time.Duration(n%7)*time.Millisecond
		for i, v := range []float64{float64(n*n) / 100, float64(n*n/2) / 100, 1 / float64(n), float64(n * n * 3), float64(min(n*4, 152))} {
			if out[i].Key.Source == "mysql" && n >= 34 && n < 36 {
				continue
			}
			out[i].Points = append(out[i].Points, kasoku.Point{At: at, Value: v})
		}
	}
	return out
}

// TestSampleIsInEveryTable keeps the sample useful.
func TestSampleIsInEveryTable(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, sampleRecording()); err != nil {
		t.Fatal(err)
	}
	for _, table := range allTables() {
		n := query[int](t, path, fmt.Sprintf("SELECT count(*) FROM %s", table.name))
		if n == 0 && table.name != "tail" {
			t.Errorf("table %s has no row", table.name)
		}
	}
	if d := difference(mustOpen(t, path), sampleRecording()); d != "" {
		t.Error(d)
	}
}
