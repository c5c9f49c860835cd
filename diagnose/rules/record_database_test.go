//go:build extract

package rules

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A deskRun is one recorded run of the desk, and what is kept of it.
type deskRun struct {
	name     string
	desk     deskConfig
	targets  string // "POST /book 2,GET /seats": paths with how often each comes for once of the others
	rate     float64
	serial   int // clients that send one request after another, instead of a load by kasoku
	program  int // connections over which a program inserts row by row; the service is not started
	crowd    int // writers that keep the disk busy meanwhile
	vars     []string
	settings []kasoku.Setting
	baseline string
	keep     string
	want     string // of its firing cases
}

// TestRecordDesk makes the runs of the rules about commits, locks, pools and who
// waits for what:
//
//	go test -tags extract ./diagnose/rules -run TestRecordDesk -timeout 30m
//
// With -args -only queue only those whose names are given.
func TestRecordDesk(t *testing.T) {
	logged := sandbox.Options{Args: []string{"--log-bin", "--server-id=1", "--sync-binlog=1"}}
	plain := sandbox.Options{Args: []string{"--skip-log-bin"}}
	t.Run("logged", func(t *testing.T) {
		sandboxtest.Each(t, logged, func(t *testing.T, s *sandbox.Server) { recordDesk(t, s, loggedRuns()) })
	})
	t.Run("plain", func(t *testing.T) {
		sandboxtest.Each(t, plain, func(t *testing.T, s *sandbox.Server) { recordDesk(t, s, plainRuns()) })
	})
	t.Run("crowded", func(t *testing.T) {
		small := map[string]string{"innodb_buffer_pool_size": "16M", "skip_log_bin": "ON"}
		t.Run(sandbox.KindMariaDB, func(t *testing.T) {
			small := maps.Clone(small)
			small["innodb_log_file_size"] = "4M"
			s := sandboxtest.MariaDB(t, sandbox.Options{Vars: small})
			recordDesk(t, s, crowdedRuns())
		})
		t.Run(sandbox.KindMySQL97, func(t *testing.T) {
			small := maps.Clone(small)
			small["innodb_redo_log_capacity"] = "8M"
			s := sandboxtest.MySQL97(t, sandbox.Options{Vars: small})
			recordDesk(t, s, crowdedRuns())
		})
	})
	t.Run("cached", func(t *testing.T) {
		s := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--query-cache-type=1", "--query-cache-size=1M", "--skip-log-bin"}})
		recordDesk(t, s, cachedRuns())
	})
}

func recordDesk(t *testing.T, s *sandbox.Server, runs []deskRun) {
	done := map[string]*kasoku.Recording{}
	for _, r := range runs {
		if *only != "" && !named(r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			rec := measureDesk(t, s, r)
			done[r.name] = rec
			keepDesk(t, s, r, rec, done[r.baseline])
		})
	}
}

func keepDesk(t *testing.T, s *sandbox.Server, r deskRun, rec, baseline *kasoku.Recording) {
	server := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
	version, _ := rec.Setting("mysql", "version")
	c := diagnose.NewCase(rec, baseline)
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if w := wrongCase(c, id, kind); w != "" {
			t.Errorf("%s %s", want, w)
			continue
		}
		origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordDesk -args "+
			"-only %s\nservice: %+v, %s\n", rec.Run.Started.Format(time.DateOnly), c.Server(), version,
			strings.Trim(r.baseline+","+r.name, ","), r.desk, r.targets)
		if r.crowd > 0 {
			origin += fmt.Sprintf("beside it: %d writers that keep the disk busy\n", r.crowd)
		}
		if r.want != "" && kind == "fires" {
			origin += "want: " + r.want + "\n"
		}
		keepExtract(t, rec, baseline, id, kind+"/"+server+"-"+r.name, origin)
	}
}

// measureDesk makes one run.
func measureDesk(t *testing.T, s *sandbox.Server, r deskRun) *kasoku.Recording {
	t.Helper()
	dir := t.TempDir()
	admin := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, admin, "DROP DATABASE IF EXISTS tickets", "CREATE DATABASE tickets")
	sandboxtest.Exec(t, sandboxtest.DB(t, s, "tickets"), deskTables...)
	sandboxtest.Exec(t, admin, append([]string{"SET GLOBAL innodb_flush_log_at_trx_commit = 1"}, r.vars...)...)
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	r.desk.Listen = fmt.Sprintf("127.0.0.1:%d", port)
	c := serviceConfig{DSN: s.DSN("root", "tickets"), AccessLog: filepath.Join(dir, "access.log"), Desk: &r.desk}
	engine, err := nethttp.New(nethttp.Options{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	appLog := filepath.Join(dir, "desk.log")
	o := record.Options{
		Path:     filepath.Join(dir, "run.kasoku"),
		Run:      kasoku.Run{Project: "rules", Label: "kept", Revision: "test"},
		Settings: r.settings,
		Database: record.Database{MySQL: c.DSN, SlowLog: true},
		Sources:  record.Sources{AccessLog: c.AccessLog, AppLog: appLog, PIDs: []int{s.Pid()}, Expvar: []string{"http://" + r.desk.Listen + "/debug/vars"}},
	}
	switch {
	case r.program > 0:
		o.For, o.Sources.AccessLog, o.Sources.AppLog, o.Sources.Expvar = 25*time.Second, "", "", nil
	case r.serial > 0:
		o.For = 7 * time.Second
	default:
		o.Load = &record.Load{Engine: engine, Each: 6 * time.Second, Next: record.Climb(r.rate)}
	}
	var stop func()
	var app int
	var clients sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	defer clients.Wait()
	defer end()
	for n := range r.crowd {
		file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("neighbour-%d", n)), os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		clients.Go(func() { neighbour(ctx, t, file) })
	}
	o.Prepare = func(_ context.Context, w record.Watch) error {
		for range r.program {
			db := sandboxtest.DB(t, s, "tickets")
			clients.Go(func() { insertRows(ctx, db) })
		}
		if r.program > 0 {
			return nil
		}
		url, pid, halt, err := startService(ctx, c, appLog)
		if err != nil {
			return err
		}
		stop, app = halt, pid
		w.Process(pid)
		targets := deskTargets(url, r.targets)
		for range r.serial {
			clients.Go(func() { oneByOne(ctx, targets[0]) })
		}
		if o.Load != nil {
			o.Load.Targets = targets
		}
		return nil
	}
	res, err := record.Record(t.Context(), o)
	end()
	if stop != nil {
		stop()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range res.Recording.Warnings {
		t.Log(w.Code, w.Text)
	}
	keepOnly(res.Recording, s.Pid(), app, os.Getpid())
	return res.Recording
}

func deskTargets(url, text string) (out []load.Target) {
	for part := range strings.SplitSeq(text, ",") {
		var method, path string
		n := 1
		fmt.Sscan(part, &method, &path, &n)
		for range n {
			out = append(out, load.Target{Method: method, URL: url + path})
		}
	}
	return out
}

// insertRows inserts one row after another until the context ends.
func insertRows(ctx context.Context, db *sql.DB) {
	for ctx.Err() == nil {
		if _, err := db.ExecContext(ctx, "INSERT INTO bookings (seat, note) VALUES (1, 'x')"); err != nil {
			return
		}
	}
}

// oneByOne sends one request after another until the context ends.
func oneByOne(ctx context.Context, target load.Target) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, target.Method, target.URL, nil)
		if err != nil {
			return
		}
		res, err := client.Do(req)
		if err != nil {
			return
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

// neighbour writes the same 256 MB of a file again and again, past the page cache,
// until the context ends.
func neighbour(ctx context.Context, t *testing.T, file *os.File) {
	defer file.Close()
	const block = 4 << 20 // O_DIRECT wants it aligned, which a mapping is
	page, err := syscall.Mmap(-1, 0, block, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Error(err)
		return
	}
	defer syscall.Munmap(page)
	for n := int64(0); ctx.Err() == nil; n++ {
		if _, err := file.WriteAt(page, n%64*block); err != nil {
			t.Error(err)
			return
		}
	}
}

const ms = time.Millisecond

func loggedRuns() []deskRun {
	d := deskConfig{Pool: 10, Writes: 3}
	return []deskRun{
		{name: "synced", desk: d,
			targets: "POST /book,GET /seats", rate: 80,
			keep: "DBC-01/fires DBC-02/fires DBC-03/silent", want: "variable "},
		{name: "synced-again", baseline: "synced", desk: d,
			targets: "POST /book,GET /seats", rate: 80, keep: "MES-03/fires", want: "the disk at commits"},
	}
}

func plainRuns() []deskRun {
	relaxed := []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 2"}
	desk := func(name string, c deskConfig, targets, keep, want string) deskRun {
		return deskRun{name: name, desk: c, vars: relaxed, targets: targets, rate: 100, keep: keep, want: want}
	}
	pool := func(n string) []kasoku.Setting {
		return []kasoku.Setting{{Scope: "app", Name: "pool.max_open", Value: n}}
	}
	return []deskRun{
		{name: "redo-synced", desk: deskConfig{Pool: 10, Writes: 3},
			targets: "POST /book,GET /seats", rate: 80,
			keep: "DBC-01/fires DBC-02/silent", want: "variable innodb_flush_log_at_trx_commit"},
		{name: "relaxed", desk: deskConfig{Pool: 10, Writes: 3}, vars: relaxed,
			targets: "POST /book,GET /seats", rate: 80,
			keep: "DBC-01/silent DBC-02/silent DBC-03/silent MES-14/silent LCK-01/silent LCK-02/silent POOL-06/silent"},
		{name: "not-synced", baseline: "redo-synced", desk: deskConfig{Pool: 10, Writes: 3}, vars: relaxed,
			targets: "POST /book,GET /seats", rate: 80, keep: "MES-03/silent"},
		{name: "reads", desk: deskConfig{Pool: 10},
			targets: "GET /seats", rate: 100,
			keep: "DBC-01/silent DBC-03/silent LCK-01/silent LCK-02/silent POOL-06/silent HW-03/silent HW-11/silent MES-14/silent"},
		{name: "reads-again", baseline: "reads", desk: deskConfig{Pool: 10},
			targets: "GET /seats", rate: 100, keep: "MES-03/silent"},

		{name: "queue", desk: deskConfig{Pool: 8, Hold: 20 * ms}, vars: relaxed, settings: pool("8"),
			targets: "POST /reserve", rate: 55, keep: "LCK-01/fires POOL-06/silent", want: "table seats"},
		{name: "longer-queue", baseline: "queue", desk: deskConfig{Pool: 60, Hold: 20 * ms}, vars: relaxed, settings: pool("60"),
			targets: "POST /reserve", rate: 55, keep: "LCK-01/fires", want: "A larger pool"},
		{name: "spread", desk: deskConfig{Pool: 20, Hold: 5 * ms, Rows: 1000}, vars: relaxed,
			targets: "POST /reserve", rate: 100, keep: "LCK-01/silent LCK-02/silent MES-14/silent HW-11/silent"},
		{name: "swapped", desk: deskConfig{Pool: 20, Hold: 5 * ms}, vars: relaxed,
			targets: "POST /swap", rate: 150, keep: "LCK-02/fires", want: "table seats"},

		desk("claimed", deskConfig{Pool: 20, Rows: 1000, Claim: "locked"}, "POST /claim,GET /seats", "LCK-03/fires",
			"table seats"),
		desk("claimed-at-once", deskConfig{Pool: 20, Rows: 1000}, "POST /claim,GET /seats", "LCK-03/silent", ""),
		desk("read-and-written", deskConfig{Pool: 20, Rows: 1000}, "POST /reserve,GET /seats",
			"LCK-03/silent LCK-04/silent", ""),
		desk("tables-locked", deskConfig{Pool: 20, Admit: "write", Hold: 2 * ms}, "POST /admit,GET /seats",
			"LCK-04/fires LCK-03/silent", "table bookings"),
		desk("tables-read", deskConfig{Pool: 20, Admit: "read", Hold: 2 * ms}, "POST /admit,GET /seats",
			"LCK-04/silent", ""),
		desk("named-lock", deskConfig{Pool: 20, Admit: "named", Hold: 2 * ms}, "POST /admit,GET /seats",
			"LCK-04/silent", ""),

		{name: "room-full", desk: deskConfig{Pool: 20, Room: 30}, targets: "POST /admit,GET /seats 2", rate: 30,
			keep: "APP-05/fires", want: "endpoint POST /admit"},
		{name: "room-left", desk: deskConfig{Pool: 20, Room: 100_000}, targets: "POST /admit,GET /seats 2", rate: 30,
			keep: "APP-05/silent"},
		{name: "room-full-busy", desk: deskConfig{Pool: 20, Room: 30, Spin: 20 * ms}, targets: "POST /admit,GET /quote 4",
			rate: 75, keep: "APP-05/silent"},

		{name: "small-pool", desk: deskConfig{Pool: 3, Think: 20 * ms}, vars: relaxed,
			targets: "GET /report", rate: 140, keep: "POOL-06/fires", want: "pool connections"},
		// Four connections are taken for 60 ms each, mostly without a statement, and for some of that by a lock.
		{name: "held-idle", desk: deskConfig{Pool: 4, Hold: 60 * ms, Rows: 5}, vars: relaxed,
			targets: "POST /reserve", rate: 70, keep: "POOL-06/fires", want: "pool connections"},
		{name: "pool-left", desk: deskConfig{Pool: 40, Think: 20 * ms}, vars: relaxed,
			targets: "GET /report", rate: 140, keep: "POOL-06/silent HW-03/silent MES-14/silent"},

		{name: "burning", desk: deskConfig{Pool: 5, Spin: 16 * ms},
			targets: "GET /quote 3,GET /seats", rate: 130, keep: "HW-03/fires", want: "process "},
		{name: "one-by-one", desk: deskConfig{Pool: 5, Think: 5 * ms},
			targets: "GET /report", serial: 1, keep: "HW-11/silent HW-03/silent"},
		{name: "row-by-row", program: 1, keep: "HW-11/fires", want: "process the client"},
		{name: "rows-by-four", program: 4, keep: "HW-11/silent"},
		{name: "four-at-once", desk: deskConfig{Pool: 5, Think: 5 * ms},
			targets: "GET /report", serial: 4, keep: "HW-11/silent"},

		{name: "polled", desk: deskConfig{Pool: 5, Poll: 250 * ms, Writes: 1},
			targets: "GET /news,GET /seats 4,POST /book", rate: 60,
			keep: "MES-14/fires HW-11/silent", want: "endpoint GET /news"},
		{name: "almost-flat", desk: deskConfig{Pool: 5, Poll: 120 * ms, Jitter: 150 * ms},
			targets: "GET /news,GET /seats 4", rate: 60, keep: "MES-14/under"},
		{name: "uneven", desk: deskConfig{Pool: 5, Poll: 100 * ms, Jitter: 400 * ms},
			targets: "GET /news,GET /seats 4", rate: 60, keep: "MES-14/silent"},
	}
}

// crowdedRuns write more than a small redo log holds, so that pages must reach a
// disk that others keep busy.
func crowdedRuns() []deskRun {
	vars := []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 2", "ALTER TABLE tickets.bookings MODIFY note MEDIUMTEXT NOT NULL"}
	d := deskConfig{Pool: 40, Writes: 2, Note: 60_000}
	return []deskRun{
		{name: "slow-disk", desk: d, vars: vars,
			targets: "POST /book,GET /seats", rate: 80, crowd: 8, keep: "DBC-03/fires", want: "disk "},
		{name: "disk-alone", desk: d, vars: vars, targets: "POST /book,GET /seats", rate: 80, keep: "DBC-03/silent"},
	}
}

func cachedRuns() []deskRun {
	on, off := []string{"SET GLOBAL query_cache_type = 1"}, []string{"SET GLOBAL query_cache_type = 0"}
	d := deskConfig{Pool: 10, Poll: 5 * ms}
	run := func(name, baseline string, vars []string, d deskConfig, keep string) deskRun {
		return deskRun{name: name, baseline: baseline, vars: vars, desk: d, targets: "GET /seats,GET /news", rate: 100, keep: keep}
	}
	return []deskRun{
		run("cache-on", "", on, d, ""),
		run("cache-off", "cache-on", off, d, "DBC-06/fires"),
		run("cache-off-too", "cache-on", off, d, "DBC-06/fires"),
		run("cache-same", "cache-on", on, d, "DBC-06/silent"),
		run("cache-and-more", "cache-on", append([]string{"SET GLOBAL innodb_flush_log_at_trx_commit = 2"}, off...), d, "DBC-06/silent"),
		run("cache-faster", "cache-on", off, deskConfig{Pool: 10, Poll: ms}, "DBC-06/silent"),
	}
}

// TestConstructDesk makes the cases just under a threshold from recorded ones.
//
//	go test -tags extract ./diagnose/rules -run TestConstructDesk
func TestConstructDesk(t *testing.T) {
	f := func(rule, from, how string, change func(rec, baseline *kasoku.Recording)) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", rule, "fires", from+".txtar"))
		if err != nil {
			t.Error(err)
			return
		}
		rec, baseline, err := extract.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		change(rec, baseline)
		if w := wrongCase(diagnose.NewCase(rec, baseline), rule, "under"); w != "" {
			t.Errorf("%s %s: %s", rule, from, w)
			return
		}
		keepExtract(t, rec, baseline, rule, "under/"+from, "constructed: from fires/"+from+".txtar by "+how+", with TestConstructDesk\n")
	}
	// slower gives all requests so much more time that a share becomes what is wanted.
	slower := func(to float64, share func(*diagnose.Case) float64) func(rec, _ *kasoku.Recording) {
		return func(rec, _ *kasoku.Recording) {
			by := share(diagnose.NewCase(rec, nil)) / to
			for i := range rec.Endpoints {
				rec.Endpoints[i].Total = time.Duration(by * float64(rec.Endpoints[i].Total))
			}
		}
	}
	commit := func(c *diagnose.Case) float64 { k, _ := evidence.CommitsOf(c); return k.Share }
	for _, server := range []string{"mariadb", "mysql"} {
		f("DBC-01", server+"-redo-synced", "making requests slower until commits are 4.5 % of their time", slower(0.045, commit))
		f("DBC-02", server+"-synced", "making requests slower until commits are 3.6 % of their time", slower(0.036, commit))
		f("DBC-03", server+"-slow-disk", "making requests slower until writes are 4.5 % of their time", slower(0.045, commit))
		f("LCK-01", server+"-queue", "making waits for locks shorter until they are 4.5 % of the requests' time", func(rec, _ *kasoku.Recording) {
			c := diagnose.NewCase(rec, nil)
			by := 0.045 * c.Statements().RequestTime().Seconds() / evidence.LockTime(c).Seconds()
			for _, s := range rec.FindAll(diagnose.MySQL, "Innodb_row_lock_time") {
				for i := range s.Points {
					s.Points[i].Value *= by
				}
			}
		})
		f("LCK-02", server+"-swapped", "taking all but four deadlocks away", func(rec, _ *kasoku.Recording) {
			rec.Messages = nil
			for _, s := range rec.FindAll(diagnose.MySQL, "Innodb_deadlocks") {
				for i := range s.Points {
					s.Points[i].Value = 0
				}
			}
			for i := range rec.Deadlocks {
				rec.Deadlocks[i].Count = 4
			}
		})
		f("LCK-03", server+"-claimed", "leaving 18 of its transactions", func(rec, _ *kasoku.Recording) {
			left := uint64(18)
			for i := range rec.Transactions {
				rec.Transactions[i].Count = min(rec.Transactions[i].Count, left)
				left -= rec.Transactions[i].Count
			}
		})
		f("APP-05", server+"-room-full", "leaving 4 of the transactions that were turned away",
			func(rec, _ *kasoku.Recording) {
				for i := range rec.Transactions {
					rec.Transactions[i].RolledBack = min(rec.Transactions[i].RolledBack, 4)
				}
			})
		f("LCK-04", server+"-tables-locked", "leaving 18 of its statements", func(rec, _ *kasoku.Recording) {
			for i := range rec.Queries {
				rec.Queries[i].Calls = min(rec.Queries[i].Calls, 18)
			}
		})
		f("POOL-06", server+"-small-pool", "making requests slower until the pool is 4.5 % of their time", slower(0.045, func(c *diagnose.Case) float64 { p, _ := evidence.PoolLoads(c); return p.Share }))
		f("HW-03", server+"-burning", "giving the database CPU of the application until that has 58 %", func(rec, _ *kasoku.Recording) {
			s, err := evidence.AppStack(diagnose.NewCase(rec, nil))
			if err != nil {
				t.Fatal(err)
			}
			service := s.App.Cores + s.Database.Cores
			scaleCPU(rec, s.App, 0.58*service/s.App.Cores)
			scaleCPU(rec, s.Database, 0.42*service/s.Database.Cores)
		})
		f("HW-11", server+"-row-by-row", "taking statements out of samples until 48 % of them have one", func(rec, _ *kasoku.Recording) {
			points := rec.Find(kasoku.Key{Source: diagnose.MySQL, Name: "conn.query"}).Points
			for i := range points {
				points[i].Value = float64((i * 12 / 25) - ((i - 1) * 12 / 25))
			}
		})
		f("MES-03", server+"-synced-again", "making requests slower until commits are 45 % of their time", func(rec, base *kasoku.Recording) {
			slower(0.45, commit)(rec, nil)
		})
	}
	f("DBC-06", "mariadb-cache-off", "scaling its latencies to 11.5 % less than those of the baseline", func(rec, baseline *kasoku.Recording) {
		by := 0.885 * baseline.Tally(0).Latency.Mean().Seconds() / rec.Tally(0).Latency.Mean().Seconds()
		for i := range rec.Seconds {
			rec.Seconds[i].Latency = scaled(rec.Seconds[i].Latency, by)
		}
	})
}

// deskTables are the desk's; there are 1,000 seats.
var deskTables = []string{
	"CREATE TABLE seats (seat INT PRIMARY KEY, holder INT NOT NULL DEFAULT 0, visits INT NOT NULL DEFAULT 0) ENGINE=InnoDB",
	"CREATE TABLE bookings (id BIGINT AUTO_INCREMENT PRIMARY KEY, seat INT NOT NULL, note VARCHAR(80) NOT NULL) ENGINE=InnoDB",
	"INSERT INTO seats (seat) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n",
}

// scaleCPU multiplies the CPU of a program's processes.
func scaleCPU(rec *kasoku.Recording, p diagnose.Program, by float64) {
	for _, k := range p.Keys {
		for _, k.Name = range []string{"cpu.user", "cpu.system"} {
			if s := rec.Find(k); s != nil {
				for i := range s.Points {
					s.Points[i].Value *= by
				}
			}
		}
	}
}
