package sample

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
)

// wobble makes seconds differ a little, always in the same way.
func wobble(i int) float64 { return 1 + 0.04*float64((i*7)%5-2)/2 }

// After returns the run with all fixes: every request succeeds.
func After() *kasoku.Recording {
	r := base("after", "main@9b07d3a")
	r.Run.ID = "20261120-142130-after"
	r.Run.Started = Started.Add(19*time.Minute + 19*time.Second)
	for i, s := range steps() {
		shape := []per{{p50: 10.0, p95: 14.1, p99: 18.6, max: 19.2}, {p50: 8.12, p95: 13.4, p99: 18.1, max: 21.9},
			{p50: 24.1, p95: 56.6, p99: 137, max: 213}}[i]
		r.Seconds = append(r.Seconds, load(i+1, even(s, shape), 500, "500 Internal Server Error")...)
	}
	r.Series = afterSeries()
	r.Settings = settings("300", "OFF")
	r.Queries = []kasoku.Query{
		query("A1B2", "INSERT INTO users (id, name, mail) VALUES (?, ?, ?)", 11100, 56600*time.Millisecond, 4.4, 12.3,
			31, 60),
		query("C3D4", "SET NAMES utf8mb4", 100, 39*time.Millisecond, 0.34, 1.84, 2.2, 3),
	}
	r.RowChecks = []kasoku.RowCheck{{Host: "lab1", Table: "users", Before: 0, After: 11100, Successes: 11100}}
	left := dbc01()
	r.Diagnosis = &kasoku.Diagnosis{
		Verdict:  "All requests succeed up to 1,000 req/s.",
		Findings: []kasoku.Finding{left},
		Silences: []kasoku.Silence{
			{ID: "POOL-01", Reason: "Connections grew 0.010 per request, the threshold is 0.2", Near: 0.05},
			{ID: "POOL-02", Reason: "no connection was refused", Near: 0.34},
			{ID: "DRV-01", Reason: "Com_stmt_prepare +0"},
		},
		Rules: 75,
	}
	return r
}

// even makes seconds of a step around one shape, all successful.
func even(s kasoku.Step, x per) []per {
	var rows []per
	for sec := int(s.Interval.From / time.Second); sec < int(s.Interval.To/time.Second); sec++ {
		w := wobble(sec)
		rows = append(rows, per{sec, int(s.PerSec), int(s.PerSec), x.p50 * w, x.p95 * w, x.p99 * w, x.max * w})
	}
	return rows
}

func afterSeries() []kasoku.Series {
	n := int(Length / time.Second)
	load, conns, made := make([]float64, n), level(n, 3), make([]float64, n)
	for i := range n {
		s := 0.0
		switch {
		case i >= 2 && i < 12:
			s = 0.01
		case i >= 15 && i < 25:
			s = 0.1
		case i >= 28 && i < 38:
			s, conns[i] = wobble(i), 101
		}
		load[i] = s
	}
	made[28] = 100
	app, db := scaled(load, 0.62), scaled(load, 0.36)
	own := scaled(load, 0.09)
	return []kasoku.Series{
		counter("host", hostkeys.CPUUser, "", "s", total(app, db, own)),
		counter("host", hostkeys.CPUSystem, "", "s", scaled(load, 0.02)),
		counter("mysql", mysql.ComStmtPrepare, "", "count", level(n, 0)),
		counter("mysql", mysql.ConnectionErrorsMaxConnections, "", "count", level(n, 0)),
		counter("mysql", mysql.Connections, "", "count", made), counter("mysql", mysql.InnodbOSLogFsyncs, "", "count",
			scaled(load, 314)),
		counter("mysql", mysql.Questions, "", "count", scaled(load, 1002)),
		gauge("mysql", mysql.ThreadsConnected, "", "count", conns), gauge("mysql", mysql.ThreadsRunning, "", "count",
			scaled(conns, 0.1)),
		counter("process", process.CPUUser, "2311 userapi", "s", scaled(app, 0.6)),
		counter("process", process.CPUSystem, "2311 userapi", "s", scaled(app, 0.4)),
		counter("process", process.CPUUser, "988 mariadbd", "s", scaled(db, 0.6)),
		counter("process", process.CPUSystem, "988 mariadbd", "s", scaled(db, 0.4)),
		counter("process", process.CPUUser, "2290 kasoku", "s", own),
		counter("self", observe.SelfCPUUser, "", "s", own), gauge("self", observe.SelfRSS, "", "bytes", level(n,
			14.4e6)),
		counter("self", "cost.host", "", "s", level(n, 0.0004)),
		counter("self", "cost.mysql", "", "s", level(n, 0.00114)), counter("self", "cost.process", "", "s",
			level(n, 0.0009)),
	}
}

// A Trial is a change tried alone on the run before.
type Trial struct {
	Change, Finding string
	Control         bool
	Run             *kasoku.Recording
}

// Trials returns the changes tried at 1,000 req/s, a control that does nothing among
// them.
func Trials() []Trial {
	return []Trial{
		{"db.SetMaxIdleConns(1000)", "POOL-01", false, Try("idle-1000", 0.9944, 41, 118, 402, 880)},
		{"max_connections = 1000", "POOL-02", false, Try("conns-1000", 1, 30.3, 88, 240, 610)},
		{"interpolateParams=true", "DRV-01", false, Try("interpolate", 0.33, 318, 690, 1092, 1790)},
		{"db.Create instead of db.Save", "DRV-04", false, Try("create", 0.61, 190, 480, 880, 1500)},
		{"db.SetMaxIdleConns(10000) after 1000", "POOL-03", true, Try("idle-10000", 0.303, 334, 701, 1122, 1822)},
	}
}

// Try returns a run of 10 s at 1,000 req/s in which a share of the requests
// succeeds, with its percentiles in ms.
func Try(label string, success, p50, p95, p99, most float64) *kasoku.Recording {
	r := base(label, "main@4f2c91e")
	r.Run.ID = "20261120-1410-" + label
	r.Run.Length = 12 * time.Second
	s := kasoku.Step{Number: 1, PerSec: 1000, Planned: 10 * time.Second, Interval: between(1, 11)}
	r.Steps = []kasoku.Step{s}
	rows := even(s, per{p50: p50, p95: p95, p99: p99, max: most})
	for i := range rows {
		rows[i].ok = int(1000*success*wobble(i) + 0.5)
		if success == 1 || rows[i].ok > 1000 {
			rows[i].ok = 1000
		}
	}
	r.Seconds = load(1, rows, 500, "500 Internal Server Error")
	return r
}
