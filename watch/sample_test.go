package watch

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// sample is a run of 320 s: quiet, from 100 s on a load, from 200 s on more of it,
// which fails in part. It is made by arithmetic alone.
func sample() *kasoku.Recording {
	const length = 320
	rec := &kasoku.Recording{Run: kasoku.Run{
		Project: "userapi", Label: "before", Started: time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC), Length: length * time.Second, State: kasoku.Finished,
		Hosts: []kasoku.Host{{Name: "lab1", Cores: 2, MemoryBytes: 4 << 30}},
	}, Settings: []kasoku.Setting{{Scope: "mysql", Name: "max_connections", Value: "151"}}}
	w := NewWindow(rec.Run, rec.Settings, time.Hour)
	for s := 0; s <= length; s++ {
		for _, f := range frames(s) {
			if f.Source == "mysql" && s >= 150 && s < 155 {
				continue // it did not answer
			}
			_ = w.Frame(&f)
		}
	}
	rec.Series = w.rec.Series
	rec.Gaps = []kasoku.Gap{{Host: "lab1", Source: "mysql", Interval: kasoku.Interval{From: 150 * time.Second, To: 155 * time.Second}, Reason: "Too many connections"}}
	rec.Events = []kasoku.Event{{At: 90 * time.Second, Host: "lab1", Kind: "mark", Text: "deployed"}}
	rec.Steps = []kasoku.Step{
		{Number: 1, PerSec: 100, Interval: kasoku.Interval{From: 100 * time.Second, To: 200 * time.Second}},
		{Number: 2, PerSec: 1000, Interval: kasoku.Interval{From: 200 * time.Second, To: length * time.Second}},
	}
	for s := 100; s < length; s++ {
		rec.Seconds = append(rec.Seconds, loadSecond(s))
	}
	rec.Queries = []kasoku.Query{{ID: "A", Fingerprint: "insert into users (name, email) values(?+)", Seconds: map[int]kasoku.QuerySecond{}},
		{ID: "B", Fingerprint: "select * from users where email = ?", Seconds: map[int]kasoku.QuerySecond{}}}
	for s := 100; s < length; s++ {
		n := uint64(wave(s, 100, 309))
		rec.Queries[0].Seconds[s] = kasoku.QuerySecond{Calls: n, Total: time.Duration(n) * 2 * time.Millisecond}
		rec.Queries[1].Seconds[s] = kasoku.QuerySecond{Calls: n / 2, Total: time.Duration(n) * time.Millisecond, Rows: n / 2}
	}
	rec.Endpoints = []kasoku.Endpoint{{Method: "POST", Route: "/users", Seconds: map[int]kasoku.EndpointSecond{}}}
	for s := 100; s < length; s++ {
		rec.Endpoints[0].Seconds[s] = kasoku.EndpointSecond{Count: uint64(wave(s, 100, 1000)), Failed: uint64(wave(s, 0, 691))}
	}
	rec.Diagnosis = &kasoku.Diagnosis{Findings: findings()}
	return rec
}

func findings() []kasoku.Finding {
	at := kasoku.Interval{From: 200 * time.Second, To: 320 * time.Second}
	return []kasoku.Finding{
		{ID: "POOL-01", Title: "The app opens a new connection for almost every request", Impact: kasoku.Impact{Share: 0.68, Of: "of requests at 1,000 req/s"}, Interval: at,
			Confidence: kasoku.Confidence{Level: kasoku.High, Holds: 3, Of: 3}, Cause: "The pool keeps two idle connections, database/sql's default.",
			Evidence: []kasoku.Evidence{{Source: "status", Text: "Connections", Value: "+5,987", Note: "for 6,000 requests"}, {Source: "app.log", Text: "bad \x1b[31mline\x1b[0m\r of a log", Value: "× 3"}},
			Fixes:    []kasoku.Fix{{Text: "Keep as many idle connections as there are open ones.", Code: "db.SetMaxIdleConns(100)\n", Risk: kasoku.RiskAppRestart}}},
		{ID: "POOL-02", Title: "MariaDB refuses connections at max_connections = 151", Impact: kasoku.Impact{Share: 0.65}, Interval: at, Confidence: kasoku.Confidence{Level: kasoku.High}},
	}
}

// wave is a little more or less than low, from 200 s on than high; 0 before 100 s.
func wave(s int, low, high float64) float64 {
	v := low
	switch {
	case s < 100:
		return 0
	case s >= 200:
		v = high
	}
	return math.Round(v * (1 + 0.1*math.Sin(float64(s)/7)))
}

func loadSecond(s int) kasoku.LoadSecond {
	asked, failed := uint64(100), uint64(0)
	took := 10 * time.Millisecond
	step := 1
	if s >= 200 {
		asked, failed, took, step = 1000, uint64(wave(s, 0, 650)), 325*time.Millisecond, 2
	}
	l := kasoku.LoadSecond{Second: s, Step: step, Asked: asked, Codes: map[int]uint64{200: asked - failed}, Latency: histogram.New()}
	if failed > 0 {
		l.Codes[500] = failed
	}
	l.Latency.RecordN(took, asked*98/100)
	l.Latency.RecordN(3*took, asked-asked*98/100)
	return l
}

// frames are those of a second.
func frames(s int) []kasoku.Frame {
	at := time.Duration(s)*time.Second + 3*time.Millisecond
	frame := func(source string) *kasoku.Frame { return &kasoku.Frame{Host: "lab1", Source: source, At: at} }
	host := frame("host")
	for i, share := range []float64{0.7, 0.3} {
		core := fmt.Sprintf("cpu%d", i)
		host.Counter("cpu.user", core, "s", share*grown(s, 0.05, 0.4, 1.2))
		host.Counter("cpu.system", core, "s", share*grown(s, 0.02, 0.2, 0.6))
		host.Counter("cpu.iowait", core, "s", share*grown(s, 0, 0.05, 0.1))
	}
	host.Counter("cpu.user", "", "s", grown(s, 0.05, 0.4, 1.2))
	host.Counter("cpu.system", "", "s", grown(s, 0.02, 0.2, 0.6))
	host.Counter("cpu.iowait", "", "s", grown(s, 0, 0.05, 0.1))
	host.Counter("psi.cpu.some", "", "s", grown(s, 0, 0.05, 0.4))
	host.Counter("psi.io.some", "", "s", grown(s, 0, 0.02, 0.05))
	host.Gauge("mem.total", "", "bytes", 4<<30)
	host.Gauge("mem.available", "", "bytes", 3e9-1e6*float64(s))
	host.Counter("disk.busy", "vda", "s", grown(s, 0.01, 0.1, 0.4))
	host.Counter("disk.reads", "vda", "count", grown(s, 1, 5, 20))
	host.Counter("disk.writes", "vda", "count", grown(s, 5, 50, 96))
	host.Counter("disk.read_bytes", "vda", "bytes", grown(s, 1e3, 1e5, 1e6))
	host.Counter("disk.write_bytes", "vda", "bytes", grown(s, 1e4, 1e6, 2e6))
	host.Counter("disk.read_time", "vda", "s", grown(s, 0.001, 0.01, 0.02))
	host.Counter("disk.write_time", "vda", "s", grown(s, 0.01, 0.1, 0.4))
	host.Counter("net.rx_bytes", "eth0", "bytes", grown(s, 1e3, 1e5, 1e6))
	host.Counter("net.tx_bytes", "eth0", "bytes", grown(s, 1e3, 2e5, 2e6))
	host.Counter("net.rx_packets", "eth0", "count", grown(s, 10, 500, 5000))
	host.Counter("net.tx_packets", "eth0", "count", grown(s, 10, 500, 5000))
	host.Gauge("procs.running", "", "count", 1+wave(s, 2, 9))
	host.Counter("tcp.retrans", "", "count", 0)
	host.Counter("tcp.listen_drops", "", "count", grown(s, 0, 0, 3))
	proc := frame("process")
	for i, name := range []string{"1204 userapi", "988 mariadbd", "1187 kasoku", "1 systemd"} {
		part := []float64{0.6, 0.35, 0.05, 0}[i]
		proc.Counter("cpu.user", name, "s", part*grown(s, 0.05, 0.4, 1.1))
		proc.Counter("cpu.system", name, "s", part*grown(s, 0.02, 0.2, 0.5))
		proc.Gauge("rss", name, "bytes", []float64{41.2e6, 318e6, 14.2e6, 12e6}[i])
		proc.Gauge("threads", name, "count", []float64{12, 160, 9, 1}[i])
		proc.Gauge("fds", name, "count", []float64{534, 161, 38, 60}[i])
		proc.Counter("io.read_bytes", name, "bytes", 0)
		proc.Counter("io.write_bytes", name, "bytes", part*grown(s, 1e3, 1e5, 1e6))
	}
	group := frame("cgroup")
	group.Counter("cpu.usage", "system.slice/userapi.service", "s", grown(s, 0.04, 0.4, 1.0))
	group.Gauge("memory.current", "system.slice/userapi.service", "bytes", 60e6)
	group.Counter("cpu.usage", "system.slice/mariadb.service", "s", grown(s, 0.01, 0.2, 0.6))
	group.Gauge("memory.current", "system.slice/mariadb.service", "bytes", 400e6)
	db := frame("mysql")
	db.Counter("Questions", "", "count", grown(s, 2, 300, 620))
	db.Counter("Com_insert", "", "count", grown(s, 0, 100, 309))
	db.Counter("Com_select", "", "count", grown(s, 1, 50, 150))
	db.Gauge("Threads_running", "", "count", 1+wave(s, 1, 11))
	db.Gauge("Threads_connected", "", "count", 2+wave(s, 20, 135))
	db.Counter("Innodb_rows_read", "", "count", grown(s, 0, 500, 15000))
	db.Counter("Innodb_row_lock_waits", "", "count", grown(s, 0, 0, 2))
	db.Counter("Innodb_buffer_pool_reads", "", "count", grown(s, 0, 1, 3))
	db.Counter("Connections", "", "count", grown(s, 1, 98, 307))
	web := frame("nginx")
	web.Counter("requests", "", "count", grown(s, 1, 100, 1000))
	web.Gauge("active", "", "count", 1+wave(s, 3, 300))
	self := frame("self")
	self.Counter("cpu.user", "", "s", 0.002*float64(s))
	self.Counter("cpu.system", "", "s", 0.001*float64(s))
	self.Gauge("rss", "", "bytes", 21e6)
	return []kasoku.Frame{*host, *proc, *group, *db, *web, *self}
}

// grown is a counter that grows so fast before 100 s, before 200 s and after.
func grown(s int, idle, low, high float64) (v float64) {
	for i := 1; i <= s; i++ {
		switch {
		case i < 100:
			v += idle
		case i < 200:
			v += low * (1 + 0.2*math.Sin(float64(i)/5))
		default:
			v += high * (1 + 0.1*math.Sin(float64(i)/3))
		}
	}
	return v
}
