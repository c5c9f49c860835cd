package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/diagnose/rules/durability"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/lock"
	"github.com/kasoku/kasoku/diagnose/rules/measurement"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
)

// committing makes a ladder whose 11,100 requests take 10 ms each and whose slow log
// has a cheap read and one commit for each request.
func committing(each time.Duration) *build {
	b := ladder().accessLog()
	b.Endpoints[0].Total = 111 * time.Second
	b.Endpoints[0].Count = 11_100
	b.setting("innodb_flush_log_at_trx_commit", "1").setting("sync_binlog", "0").setting("log_bin", "OFF")
	b.Logs = []kasoku.LogWindow{{Kind: "slowlog", Records: 22_200}}
	b.Queries = []kasoku.Query{
		{ID: "R", Verb: "SELECT", Fingerprint: "select a from orders where id = ?", Tables: []string{"orders"}, Calls: 11_100, RowsExamined: 11_100, Total: 11_100 * 100 * time.Microsecond},
		{ID: "C", Verb: "COMMIT", Fingerprint: "commit", Calls: 11_100, Total: 11_100 * each},
	}
	b.counter("Innodb_data_fsyncs", 100, 1000, 10_000).counter("Binlog_cache_use", 0, 0, 0)
	b.counter("Innodb_row_lock_waits", 0, 0, 0).counter("Innodb_row_lock_time", 0, 0, 0)
	return b.gauge("conn.replicas", 0, 0, 0, 0)
}

func TestCommitSync(t *testing.T) {
	r := durability.CommitSync{}
	committing := func(each time.Duration) *build { return syncing(committing(each), 500*time.Microsecond) }
	f := speaks(t, r, committing(2*time.Millisecond).alone(), kasoku.High, "Commits wait for the disk for 19.0 %", "11,100 commits waited 1.90 ms each")
	if len(f.Fixes[0].Edits) != 1 || f.Fixes[0].Edits[0].Do != "SET GLOBAL innodb_flush_log_at_trx_commit = 2" || f.Fixes[0].Risk != kasoku.RiskDurability || f.Object.Name != "innodb_flush_log_at_trx_commit" {
		t.Errorf("%+v", f)
	}
	keepsQuiet(t, r, committing(500*time.Microsecond).alone(), false, "the threshold is 5.0 %")
	relaxed := committing(2*time.Millisecond).setting("innodb_flush_log_at_trx_commit", "2")
	keepsQuiet(t, r, relaxed.alone(), false, "no log is synchronised")
	relaxed.setting("log_bin", "ON").setting("sync_binlog", "1")
	if f := speaks(t, r, relaxed.alone(), kasoku.High); f.Object.Name != "sync_binlog" || len(f.Fixes[0].Edits) != 1 {
		t.Errorf("%+v", f)
	}
	keepsQuiet(t, r, ladder().alone(), true, "slow log")

	// Writes outside of transactions commit themselves; those inside do not.
	b := committing(0)
	b.Queries[1] = kasoku.Query{ID: "I", Verb: "INSERT", Fingerprint: "insert into orders values(?+)", Calls: 11_100, SingleRow: 11_100, Total: 11_100 * 2 * time.Millisecond}
	speaks(t, r, b.alone(), kasoku.High, "insert into orders")
	b.Transactions = []kasoku.Transaction{{Shape: []string{"R", "I"}, Count: 11_100}}
	keepsQuiet(t, r, b.alone(), false, "0 commits")
}

// syncing gives a run a disk that takes so long for a write, and for a flush.
func syncing(b *build, each time.Duration) *build {
	for name, grown := range map[string]float64{"disk.writes": 1e4, "disk.flushes": 1e4, "disk.busy": 5,
		"disk.write_time": 1e4 * each.Seconds(), "disk.flush_time": 1e4 * each.Seconds()} {
		b.counts(kasoku.Key{Source: diagnose.Host, Name: name, Instance: "sda"}, 0, 0, grown)
	}
	return b
}

// TestCommitSync_NoDisk: writes that take long for something else than the disk: their rows,
// the CPU, initialize.
func TestCommitSync_NoDisk(t *testing.T) {
	r := durability.CommitSync{}
	insert := func(calls uint64, each time.Duration) *build {
		b := committing(0)
		b.Queries[1] = kasoku.Query{ID: "I", Verb: "INSERT", Fingerprint: "insert into orders values(?+)", Calls: calls,
			SingleRow: calls, Total: time.Duration(calls) * each}
		return b
	}
	bulk := insert(200, 60*time.Millisecond)
	speaks(t, r, bulk.alone(), kasoku.Medium, "200 commits")
	bulk.Queries[1].SingleRow = 0
	keepsQuiet(t, r, bulk.alone(), false, "0 commits")
	bulk.Queries[1].HasAffected, bulk.Queries[1].RowsAffected = true, 200_000
	keepsQuiet(t, r, bulk.alone(), false, "0 commits")
	bulk.Queries[1].RowsAffected = 200
	keepsQuiet(t, r, syncing(bulk, 500*time.Microsecond).alone(), false, "most of it is no wait for the disk")

	busy := insert(11_100, 3*time.Millisecond).cpu(0.1, 1.85)
	keepsQuiet(t, r, busy.alone(), false, "the host's CPU is 97.5 % busy")
	keepsQuiet(t, r, syncing(busy, 100*time.Microsecond).alone(), false, "the host's CPU is 97.5 % busy")
	speaks(t, r, syncing(busy, 500*time.Microsecond).alone(), kasoku.High, "Commits wait")
	speaks(t, r, syncing(insert(11_100, 3*time.Millisecond), 100*time.Microsecond).alone(), kasoku.Medium, "Commits wait")

	// Where neighbours fill the CPU, what the disk itself takes remains.
	beside := func(each time.Duration) *diagnose.Case {
		b := insert(11_100, 3*time.Millisecond).cpu(0.1, 1.85).program("10 mysqld", 0.5, 1e9).program("20 shop", 0.4, 1e8)
		return syncing(b.program("91 other", 0.9, 1e8), each).measured().alone()
	}
	speaks(t, r, beside(250*time.Microsecond), kasoku.Medium, "Commits wait", "for which statements wait, too")
	keepsQuiet(t, r, beside(10*time.Microsecond), false, "")

	first := insert(11_100, 2*time.Millisecond)
	first.Phases = []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: kasoku.Interval{To: 3 * time.Second}}}
	first.Queries[1].Seconds = map[int]kasoku.QuerySecond{1: {Calls: 11_000, Total: 22 * time.Second}, 20: {Calls: 100, Total: 200 * time.Millisecond}}
	keepsQuiet(t, r, first.alone(), false, "the threshold is 5.0 %")
}

func TestBinlog(t *testing.T) {
	r := durability.Binlog{}
	keepsQuiet(t, r, committing(2*time.Millisecond).alone(), false, "is off")
	on := func() *build {
		return committing(2*time.Millisecond).setting("log_bin", "ON").setting("sync_binlog", "1").counter("Binlog_cache_use", 100, 1000, 10_000)
	}
	f := speaks(t, r, on().alone(), kasoku.Medium, "no replica was connected", "11,100 transactions")
	if e := f.Fixes[1].Edits; len(e) != 1 || e[0].Do != "" || e[0].Conf != "skip-log-bin" {
		t.Errorf("%+v", e)
	}
	keepsQuiet(t, r, on().setting("sync_binlog", "0").alone(), false, "wait for 0 % of")
	keepsQuiet(t, r, on().gauge("conn.replicas", 2, 2, 2, 2).alone(), false, "2 replicas read")
	keepsQuiet(t, r, on().counter("Binlog_cache_use", 1, 2, 3).alone(), false, "the threshold is 100")
}

func TestSlowDisk(t *testing.T) {
	r := durability.SlowDisk{}
	disk := func(b *build, write float64) *build {
		for name, grown := range map[string]float64{"disk.writes": 1000, "disk.write_time": 1000 * write, "disk.busy": 36} {
			b.counts(kasoku.Key{Source: diagnose.Host, Name: name, Instance: "sda"}, 0, 0, grown)
		}
		return b
	}
	slow := func() *build { return committing(2*time.Millisecond).setting("innodb_flush_log_at_trx_commit", "2") }
	f := speaks(t, r, disk(slow(), 0.02).alone(), kasoku.High, "Writes wait for the disk sda, 20.0 ms each")
	if f.Object != (kasoku.Object{Kind: "disk", Name: "sda"}) {
		t.Error(f.Object)
	}
	keepsQuiet(t, r, disk(slow(), 0.001).alone(), false, "a disk takes 1.00 ms")
	keepsQuiet(t, r, disk(committing(2*time.Millisecond), 0.02).alone(), false, "that comes first")
	keepsQuiet(t, r, slow().alone(), true, "disks were not recorded")
	// A slow disk beside one that may be the database's is a neighbour's, or a backup's.
	beside := func(bytes float64) *build {
		b := disk(slow(), 0.02)
		for name, grown := range map[string]float64{"disk.writes": 1000, "disk.write_time": 0.2, "disk.busy": 2, "disk.write_bytes": bytes} {
			b.counts(kasoku.Key{Source: diagnose.Host, Name: name, Instance: "nvme0n1"}, 0, 0, grown)
		}
		return b.counts(kasoku.Key{Source: diagnose.Host, Name: "disk.write_bytes", Instance: "sda"}, 0, 0, 1e8)
	}
	keepsQuiet(t, r, beside(1e8).alone(), false, "a disk takes 0.20 ms")
	own := beside(1e6).serves("10 mysqld")
	own.counts(kasoku.Key{Source: diagnose.Process, Name: "io.write_bytes", Instance: "10 mysqld"}, 0, 0, 1e8)
	speaks(t, r, own.alone(), kasoku.High, "Writes wait for the disk sda") // the other took too little to be it
}

func TestLockQueue(t *testing.T) {
	r := lock.Queue{}
	keepsQuiet(t, r, committing(0).alone(), false, "0 waits for locks")
	keepsQuiet(t, r, ladder().alone(), true, "Innodb_row_lock_waits was not recorded")
	queue := func() *build {
		b := committing(0).counter("Innodb_row_lock_waits", 0, 0, 1000).counter("Innodb_row_lock_time", 0, 0, 20_000)
		b.LockWaits = []kasoku.LockWait{{Table: "shop.orders", Index: "PRIMARY", Waiting: "update orders set a = ? where id = ?", WaitingID: "W",
			Blocking: "select a from orders where id = ? for update", BlockingID: "B", Samples: 8, Waiters: 5, Oldest: 60 * time.Millisecond, First: 30 * time.Second, Last: 38 * time.Second}}
		b.Callers = []kasoku.Caller{{QueryID: "B", Method: "POST", Route: "/export", Class: kasoku.CallerHigh}, {QueryID: "W", Method: "PUT", Route: "/orders/:id"}}
		return b
	}
	f := speaks(t, r, queue().alone(), kasoku.High, "of rows of orders", "select a from orders where id = ? for update", "60.0 ms", "It is of POST /export", "20.0 ms each")
	if f.Object != (kasoku.Object{Kind: "table", Name: "orders"}) || f.Impact.Share < 0.17 || f.Impact.Share > 0.19 {
		t.Errorf("%+v", f)
	}
	few := func(millis float64) *build { return queue().counter("Innodb_row_lock_time", 0, 0, millis) }
	isRemark(t, r, few(2000).alone()) // 1.8 % of 111 s
	keepsQuiet(t, r, few(900).alone(), false, "1,000 waits for locks of rows took 0.8 % of the requests' time; the thresholds are 20 and 1.0 %")
	idle := queue()
	idle.LockWaits[0].Blocking, idle.LockWaits[0].BlockingID, idle.LockWaits[0].Oldest = "", "", 0
	speaks(t, r, idle.alone(), kasoku.Medium, "runs no statement", "Those that wait are of PUT /orders/:id", "below 1 s")
	// Where neighbours leave no CPU holders may wait for that, unless one was seen at work.
	full := func(b *build) *build {
		b.program("77 shop", 0.4, 1<<20).program("78 mariadbd", 0.5, 1<<20)
		return b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user"}, 20, 20, 20).
			counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 1, 1, 1)
	}
	keepsQuiet(t, r, full(idle).alone(), false, "2 cores are 95.2 % busy, 1.00 by programs outside of the service")
	speaks(t, r, full(queue()).alone(), kasoku.High, "of rows of orders")
	own := full(queue())
	own.LockWaits = idle.LockWaits
	own.program("77 shop", 1.4, 1<<20) // its own load
	speaks(t, r, own.alone(), kasoku.Medium, "something else before it commits, or waits for CPU")
	own.program("77 shop", 0.9, 1<<20) // neighbours have 0.50 of the 1.90 cores that are busy
	speaks(t, r, own.alone(), kasoku.Medium, "something else before it commits, or waits for CPU")
	idle.counter("Innodb_row_lock_time", 0, 0, 90_000)
	speaks(t, r, idle.alone(), kasoku.Medium, "something else before it commits, or waits for CPU")
	blind := queue()
	blind.LockWaits = nil
	blind.Queries = append(blind.Queries, kasoku.Query{Verb: "UPDATE", Tables: []string{"stock"}, Total: time.Second})
	if f := speaks(t, r, blind.alone(), kasoku.Medium, "stock"); f.Object.Name != "stock" {
		t.Error(f.Object)
	}

	// Only the pool grew, and the queue with it.
	before, after := queue(), queue().latency(3, 20*time.Millisecond, 0)
	before.counter("Innodb_row_lock_time", 0, 0, 8_000)
	before.Settings = append(before.Settings, kasoku.Setting{Scope: "app", Name: "db.maxOpen", Value: "10"})
	after.Settings = append(after.Settings, kasoku.Setting{Scope: "app", Name: "db.maxOpen", Value: "100"})
	speaks(t, r, diagnose.NewCase(after.Recording, before.Recording), kasoku.High, "A larger pool is worse", "10 → 100", "Put db.maxOpen back to 10")
	after.setting("max_connections", "900")
	if f := speaks(t, r, diagnose.NewCase(after.Recording, before.Recording), kasoku.High); f.Title != "Requests queue for locks of rows of orders" {
		t.Error(f.Title)
	}
}

func TestDeadlocks(t *testing.T) {
	r := lock.Deadlocks{}
	keepsQuiet(t, r, committing(0).alone(), false, "0 deadlocks")
	b := committing(0)
	b.Deadlocks = []kasoku.Deadlock{{At: 33 * time.Second, Table: "shop.orders", Statements: []string{"update orders set a = ?", "delete from orders where id = ?"}, Indexes: []string{"PRIMARY"}, Count: 12}}
	f := speaks(t, r, b.alone(), kasoku.Medium, "12 deadlocks roll transactions back", "delete from orders where id = ? rolled back", "update orders set a = ? goes on")
	if f.Object != (kasoku.Object{Kind: "table", Name: "orders"}) {
		t.Error(f.Object)
	}
	b.said("error", "1213", "Error 1213: Deadlock found when trying to get lock", false, 40)
	speaks(t, r, b.alone(), kasoku.High, "40 deadlocks")
	speaks(t, r, b.shared().alone(), kasoku.High, "40 deadlocks") // by its own log
	b = committing(0).counter("Innodb_deadlocks", 0, 0, 4)
	keepsQuiet(t, r, b.alone(), false, "4 deadlocks")
	// As many requests as deadlocks make a defect of; below, a remark, and of fewer than five
	// one that quotes the error.
	severity := func(b *build, want kasoku.Severity, parts ...string) {
		t.Helper()
		if f := speaks(t, r, b.alone(), kasoku.Low, parts...); f.Severity != want {
			t.Errorf("%s: %s", f.Title, f.Severity)
		}
	}
	of := func(deadlocks float64) *build { return committing(0).counter("Innodb_deadlocks", 0, 0, deadlocks) }
	severity(of(12), kasoku.Problem, "12 deadlocks") // of 11,100 requests
	severity(of(11), kasoku.Info, "11 deadlocks")
	b = of(11)
	b.Transactions = []kasoku.Transaction{{Count: 2000}}
	severity(b, kasoku.Problem, "11 deadlocks")
	b = of(1)
	b.said("error", "1213", "Error 1213: Deadlock found when trying to get lock", false, 1).Messages[0].Seconds[30] = 1
	if f := speaks(t, r, b.alone(), kasoku.Medium, "1 deadlock rolls a transaction back", "Error 1213"); f.Severity != kasoku.Info {
		t.Errorf("%s: %s", f.Title, f.Severity)
	}
	keepsQuiet(t, r, ladder().alone(), true, "Innodb_deadlocks was not recorded")
}

// isRemark fails unless a rule finds one thing, and says that it costs little.
func isRemark(t *testing.T, r diagnose.Rule, c *diagnose.Case) {
	t.Helper()
	found, silent := r.Check(c)
	if len(found) != 1 || found[0].Severity != kasoku.Info {
		t.Errorf("%s: want one remark, got %+v %+v", r.ID(), found, silent)
	}
}

// pooled publishes a pool of which requests waited that long in step 3.
func pooled(b *build, limit, waited float64) *build {
	key := func(name string) kasoku.Key {
		return kasoku.Key{Source: evidence.SourceExpvar, Name: name, Instance: "db"}
	}
	b.counts(key("WaitDuration"), 0, 0, waited).counts(key("WaitCount"), 0, 0, 5000)
	b.add(key("MaxOpenConnections"), kasoku.Gauge, func(int) float64 { return limit })
	return b.add(key("InUse"), kasoku.Gauge, func(int) float64 { return limit })
}

func TestSmallPool(t *testing.T) {
	r := pool.SmallPool{}
	keepsQuiet(t, r, committing(0).alone(), true, "no program publishes its pool")
	keepsQuiet(t, r, pooled(committing(0), 10, 1).alone(), false, "the thresholds are 1,110 and 1.0 %")
	isRemark(t, r, pooled(committing(0), 10, 4).alone())
	f := speaks(t, r, pooled(committing(0), 10, 60).alone(), kasoku.High,
		"Requests wait for one of 10 connections", "5,000 waits", "Let the pool open 15 connections")
	if f.Object != (kasoku.Object{Kind: "pool", Name: "connections"}) || f.Impact.Share < 0.5 {
		t.Errorf("%+v", f)
	}
	keepsQuiet(t, r, pooled(committing(0), 10, 60).counter("Innodb_row_lock_time", 0, 0, 40_000).alone(), false, "held up by locks")
	keepsQuiet(t, r, pooled(committing(0), 10, 60).cpu(0.1, 1.85).alone(), false, "which more connections would share")
	// Beside neighbours the service uses less than the host, and its statements wait for CPU.
	beside := pooled(committing(0), 10, 60).counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user"}, 20, 20, 20)
	beside.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 1, 1, 1)
	beside.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: "77 shop"}, 3, 3, 3)
	beside.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.system", Instance: "77 shop"}, 0, 0, 0)
	speaks(t, r, beside.alone(), kasoku.High, "Requests wait for one of 10 connections")
	beside.Queries = append(beside.Queries, kasoku.Query{Verb: "SELECT", Tables: []string{"stock"}, Calls: 1000, Total: 400 * time.Second})
	keepsQuiet(t, r, beside.alone(), false, "statements run at once on 2 cores that are 95.2 % busy")
}

// TestSmallPool_Idle: connections that are taken without a statement are said where the log has all statements, on the
// database's own host and with CPU left; beside locks of rows where those that hold them run none either.
func TestSmallPool_Idle(t *testing.T) {
	r := pool.SmallPool{}
	const words = "of the time for which they were taken no statement was logged"
	of := func(change func(b *build)) kasoku.Finding {
		t.Helper()
		b := pooled(committing(0), 10, 60).measured()
		change(b)
		found, silent := r.Check(b.alone())
		if len(found) != 1 {
			t.Errorf("%+v", silent)
			return kasoku.Finding{}
		}
		return found[0]
	}
	idle := func(want bool, change func(b *build)) {
		t.Helper()
		f := of(change)
		if strings.Contains(f.Cause, words) != want || strings.Contains(f.Fixes[0].Text, "Give the connection back") != want ||
			len(f.Explains) > 0 {
			t.Errorf("%s %v", f.Cause, f.Explains)
		}
	}
	idle(true, func(*build) {})
	idle(false, func(b *build) { b.Warnings = []kasoku.Warning{{Code: "slow-log-partial"}} })
	idle(false, func(b *build) { b.Warnings = []kasoku.Warning{{Code: "slow-log-braked"}} })
	idle(false, func(b *build) { b.apart(1, 1) })
	idle(false, func(b *build) { b.Service = nil })
	idle(false, func(b *build) { b.Service.Members = b.Service.Members[:2] })
	idle(false, func(b *build) { // neighbours use what is left
		b.cpu(0.1, 1.85).program("20 shop", 0.2, 1e8).program("94 cc1plus", 1.6, 1e9).measured()
	})
	idle(false, func(b *build) { b.Queries[0].Calls = 400_000 }) // the way there and back

	locked := func(b *build) *build {
		b.counter("Innodb_row_lock_time", 0, 0, 40_000)
		b.Queries = append(b.Queries, kasoku.Query{ID: "L", Verb: "SELECT", Tables: []string{"stock"}, Calls: 1000,
			Fingerprint: "select n from stock where id = ? for update", Total: 50 * time.Second})
		return b
	}
	quiet := func(change func(b *build)) {
		t.Helper()
		b := locked(pooled(committing(0), 10, 60).measured())
		change(b)
		keepsQuiet(t, r, b.alone(), false, "held up by locks")
	}
	open := func(total time.Duration) []kasoku.Transaction {
		return []kasoku.Transaction{{Shape: []string{"L"}, Verbs: "SELECT", Count: 1000, Total: total}}
	}
	explains := func(change func(b *build)) {
		t.Helper()
		f := of(func(b *build) { change(locked(b)) })
		if !strings.Contains(f.Cause, words) || !slices.Equal(f.Explains, []string{"LCK-01"}) {
			t.Errorf("%s %v", f.Cause, f.Explains)
		}
	}
	quiet(func(*build) {})
	quiet(func(b *build) { b.Transactions = open(90 * time.Second) })
	quiet(func(b *build) { b.Transactions = open(200 * time.Second); b.Transactions[0].ReadOnly = true })
	quiet(func(b *build) {
		b.LockWaits = []kasoku.LockWait{{Samples: 10}, {Samples: 10, Blocking: "update stock"}}
	})
	quiet(func(b *build) { b.Transactions = open(200 * time.Second); b.Service.Members[2].Others = 3 })
	quiet(func(b *build) { b.Queries[2].Total = 300 * time.Second; b.Transactions = open(900 * time.Second) }) // not idle
	explains(func(b *build) { b.Transactions = open(200 * time.Second) })
	explains(func(b *build) { b.LockWaits = []kasoku.LockWait{{Samples: 20}, {Samples: 2, Blocking: "update stock"}} })
	explains(func(b *build) { b.Queries[2].Total = 40 * time.Second }) // all of it a wait, too long for ten connections
}

// TestSmallPool_Late: a load that grows fills a pool at its end; one in ten requests of three seconds is
// enough, and neither a moment nor as many waits over all seconds is.
func TestSmallPool_Late(t *testing.T) {
	over := func(seconds int) *diagnose.Case { // 900 waits, fewer than one in ten of the run's requests
		b := pooled(committing(0), 10, 60)
		b.Series = slices.DeleteFunc(b.Series, func(s kasoku.Series) bool { return s.Key.Name == "WaitCount" })
		return b.add(kasoku.Key{Source: evidence.SourceExpvar, Name: "WaitCount", Instance: "db"}, kasoku.Counter,
			func(s int) float64 { return 900 * min(max(float64(s-39+seconds)/float64(seconds), 0), 1) }).alone()
	}
	for seconds, want := range map[int]bool{2: false, 3: true, 8: true, 10: false} {
		if found, silent := (pool.SmallPool{}).Check(over(seconds)); (len(found) == 1) != want {
			t.Errorf("in %d seconds: %+v %+v", seconds, found, silent)
		}
	}
}

func TestAppCPU(t *testing.T) {
	r := host.AppCPU{}
	keepsQuiet(t, r, ladder().alone(), true, "no process")
	app := func(cores, db float64) *build {
		b := ladder().cpu(0.05, cores+db)
		for name, v := range map[string]float64{"77 shop": cores, "78 mariadbd": db} {
			b.serves(name).counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: name}, 0, 0, 10*v)
			b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.system", Instance: name}, 0, 0, 0)
			b.add(kasoku.Key{Source: diagnose.Process, Name: "rss", Instance: name}, kasoku.Gauge, func(int) float64 { return 1 << 20 })
		}
		return b.latency(3, 500*time.Millisecond, 0)
	}
	f := speaks(t, r, app(1.6, 0.3).alone(), kasoku.High, "The application, shop, uses", "mariadbd 0.30")
	if f.Object != (kasoku.Object{Kind: "process", Name: "shop"}) {
		t.Error(f.Object)
	}
	keepsQuiet(t, r, app(0.9, 1.0).alone(), false, "shop used 47")
	keepsQuiet(t, r, app(0.6, 0.1).alone(), false, "busy")
}

func TestSerialClient(t *testing.T) {
	r := host.SerialClient{}
	keepsQuiet(t, r, ladder().alone(), false, "has a schedule")
	// 60 requests a second of 15 ms are 0.9 under way on average, and often two at once.
	web := ladder().accessLog()
	web.Load, web.Steps, web.Seconds = nil, nil, nil
	web.Endpoints[0].Total = 27 * time.Second // in 30 seconds
	keepsQuiet(t, r, web.alone(), false, "whether two of them overlap")
	// A program beside its database, without requests.
	program := func(queries ...float64) *build {
		b := ladder()
		b.Load, b.Steps, b.Seconds, b.Endpoints = nil, nil, nil, nil
		return b.gauge("conn.query", 1, queries...).counter("Questions", 1000, 10_000, 20_000)
	}
	keepsQuiet(t, r, program(1, 1, 1).shared().alone(), true, "whose statements")
	ours := func(calls uint64, took time.Duration) *build { // of 42 s
		b := program(1, 1, 1).shared()
		b.Queries = []kasoku.Query{{Verb: "SELECT", Calls: calls, Total: took}}
		return b
	}
	speaks(t, r, ours(30_000, 30*time.Second).alone(), kasoku.High, "one statement after another")
	keepsQuiet(t, r, ours(30_000, 10*time.Second).alone(), false, "in 23.8 %") // the others' are the rest
	keepsQuiet(t, r, ours(1000, 30*time.Second).alone(), false, "23.8 statements a second")
	if f := speaks(t, r, program(1, 1, 1).alone(), kasoku.High, "one statement after another"); f.Object.Name != "the client" {
		t.Errorf("%s is no sender: no command is known", f.Object.Name)
	}
	named := program(1, 1, 1)
	named.Run.Command = &kasoku.Command{Args: []string{"/opt/import.py", "all.csv"}}
	if f := speaks(t, r, named.alone(), kasoku.High, "one statement after another"); f.Object.Name != "import.py" {
		t.Error(f.Object)
	}
	keepsQuiet(t, r, program(1, 1, 8).alone(), false, "8 at once")
	keepsQuiet(t, r, program(0, 0, 0).alone(), false, "28.6 % of 42 samples") // a site with little to do is serial by chance
	// One connection that sends all that is logged is serial whatever the samples saw.
	logged := func(connections, calls uint64, took time.Duration) *build {
		b := program(0, 0, 0)
		b.Queries = []kasoku.Query{{Verb: "INSERT", Calls: calls, Total: took}}
		b.Settings = append(b.Settings, kasoku.SentOver("", connections))
		return b
	}
	f := speaks(t, r, logged(1, 30_000, 20*time.Second).alone(), kasoku.High, "one statement after another")
	if f.Evidence[0].Text != "connections that sent statements" {
		t.Errorf("%+v", f.Evidence[0])
	}
	keepsQuiet(t, r, logged(2, 30_000, 20*time.Second).alone(), false, "samples")
	keepsQuiet(t, r, logged(1, 20_000, 20*time.Second).alone(), false, "samples") // a third is not logged
	keepsQuiet(t, r, logged(1, 30_000, 5*time.Second).alone(), false, "which took 11.9 % of the time")
	// So many a second fill the time with their ways there and back.
	quick := func(calls uint64) *build {
		b := logged(1, calls, 5*time.Second)
		for i := range b.Series {
			if s := &b.Series[i]; s.Key.Name == "Questions" {
				for k := range s.Points {
					s.Points[k].Value *= float64(calls) / 30_000
				}
			}
		}
		return b
	}
	speaks(t, r, quick(600_000).alone(), kasoku.High, "one statement after another")
	keepsQuiet(t, r, quick(300_000).alone(), false, "which took 11.9 % of the time")
	busy := program(1, 1, 1).counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user"}, 20, 20, 20)
	busy.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 2, 2, 2)
	keepsQuiet(t, r, busy.alone(), false, "9.1 % of the CPU not used by the service")
	some := program(1, 1, 1).counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user"}, 20, 20, 20)
	isRemark(t, r, some.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 5, 5, 5).alone())
}

func TestSameWait(t *testing.T) {
	r := measurement.SameWait{}
	a, b := committing(8*time.Millisecond), committing(7*time.Millisecond)
	keepsQuiet(t, r, a.alone(), true, "no baseline")
	speaks(t, r, diagnose.NewCase(a.Recording, b.Recording), kasoku.High, "wait for the disk at commits", "69.0 % → 79.0 %")
	keepsQuiet(t, r, diagnose.NewCase(a.Recording, committing(5*time.Millisecond).Recording), false, "the threshold is 50.0 %")
	keepsQuiet(t, r, diagnose.NewCase(a.Recording, committing(8*time.Millisecond).setting("innodb_flush_log_at_trx_commit", "2").Recording), false, "do not wait for the same thing")
	keepsQuiet(t, r, diagnose.NewCase(a.Recording, ladder().Recording), true, "not recorded in both")
}

func TestByDesign(t *testing.T) {
	r := measurement.ByDesign{}
	polls := func(from, to time.Duration, statements time.Duration) *build {
		b := committing(0).cpu(0.05, 0.1)
		for i := range b.Endpoints {
			b.Endpoints[i].Latency = spread(10*time.Millisecond, 11_100)
		}
		e := kasoku.Endpoint{Method: "GET", Route: "/news", Count: 100, Latency: spread(from, 80), Codes: map[int]uint64{200: 100}}
		e.Latency.RecordN(to, 20)
		e.Total = (80*from + 20*to)
		b.Endpoints = append(b.Endpoints, e)
		b.Queries = []kasoku.Query{{ID: "N", Verb: "SELECT", Calls: 100, Total: statements}}
		b.Callers = []kasoku.Caller{{QueryID: "N", Method: "GET", Route: "/news", PerRequest: 1}}
		return b
	}
	ms := time.Millisecond
	f := speaks(t, r, polls(500*ms, 510*ms, 100*ms).alone(), kasoku.Medium, "GET /news waits for neither statements nor CPU",
		"another service looks the same")
	if f.Severity != kasoku.Info || f.Object != (kasoku.Object{Kind: "endpoint", Name: "GET /news"}) {
		t.Errorf("%+v", f)
	}
	bounded := polls(500*ms, 510*ms, 100*ms)
	bounded.Settings = kasoku.Terms{Route: "GET /news", Limit: 400 * ms}.Settings()
	keepsQuiet(t, r, bounded.alone(), false, "its limit is 400 ms by [contract]")
	keepsQuiet(t, r, polls(300*ms, 600*ms, 100*ms).alone(), false, "GET /news takes")
	keepsQuiet(t, r, polls(500*ms, 510*ms, 20*time.Second).alone(), false, "its statements are")
	keepsQuiet(t, r, polls(500*ms, 510*ms, 0).cpu(0.1, 1.7).alone(), false, "busy")
	filled := polls(1500*ms, 1510*ms, 0).cpu(0.1, 1.7).program("20 shop", 0.1, 1e8).program("91 java", 1.7, 1e8).measured()
	keepsQuiet(t, r, filled.alone(), false, "a host was 90.0 % busy")
	keepsQuiet(t, r, polls(500*ms, 510*ms, 0).counter("Innodb_row_lock_time", 0, 0, 40_000).alone(), false, "GET /news")
	keepsQuiet(t, r, ladder().alone(), true, "no access log")

	// A wait by design is long, or has a name that says so.
	speaks(t, r, polls(1500*ms, 1510*ms, 100*ms).alone(), kasoku.Medium, "GET /news seems to wait by design")
	named := polls(500*ms, 510*ms, 100*ms)
	named.Endpoints[1].Route, named.Callers[0].Route = "/news/poll", "/news/poll"
	speaks(t, r, named.alone(), kasoku.Medium, "GET /news/poll seems to wait by design")
	// A hash of a password takes CPU, and always as much: of 50 s here up to 9 s.
	keepsQuiet(t, r, polls(500*ms, 510*ms, 100*ms).cpu(0.1, 0.8).alone(), false, "CPU of the service's programs may account for 17.9 %")
	// What a neighbour burns is no CPU of the service's requests; what the application burns is.
	burns := func(instance string) *build {
		b := polls(500*ms, 510*ms, 100*ms).cpu(0.1, 0.8).serves("77 shop")
		for _, name := range []string{"77 shop", "88 other"} {
			b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: name}, 0, 0, 0.1)
			b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.system", Instance: name}, 0, 0, 0)
		}
		return b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: instance}, 0, 0, 8)
	}
	speaks(t, r, burns("88 other").alone(), kasoku.Medium, "GET /news waits for neither statements nor CPU")
	keepsQuiet(t, r, burns("77 shop").alone(), false, "may account for 15.9 %")
	keepsQuiet(t, r, polls(500*ms, 510*ms, 100*ms).drop(diagnose.Host, "cpu.user", "").alone(), true, "cpu.user was not recorded")
}

func TestQueryCache(t *testing.T) {
	r := cache.QueryCache{}
	cached := func(kind string) *build { return ladder().setting("query_cache_type", kind) }
	compared := func(a, b *build) *diagnose.Case { return diagnose.NewCase(b.Recording, a.Recording) }
	keepsQuiet(t, r, cached("ON").alone(), true, "no baseline")
	f := speaks(t, r, compared(cached("ON"), cached("OFF")), kasoku.High, "A changed query cache shows no effect", "ON → OFF")
	if f.Fixes[0].Edits[0].Do != "SET GLOBAL query_cache_type = ON" {
		t.Errorf("%+v", f.Fixes)
	}
	speaks(t, r, compared(cached("ON"), cached("OFF").latency(3, 20*time.Millisecond, 0)), kasoku.High, "the run got worse")
	keepsQuiet(t, r, compared(cached("ON"), cached("OFF").latency(3, 5*time.Millisecond, 0)), false, "made a difference")
	keepsQuiet(t, r, compared(cached("ON"), cached("ON")), false, "was not changed")
	keepsQuiet(t, r, compared(cached("ON"), cached("OFF").setting("max_connections", "7")), false, "not all that changed: max_connections")
	keepsQuiet(t, r, compared(ladder(), ladder()), true, "no query cache")
}
