package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/driver"
	"github.com/kasoku/kasoku/diagnose/rules/durability"
	"github.com/kasoku/kasoku/diagnose/rules/lock"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
)

// shared lets programs outside of the service have connections to the database.
func (b *build) shared() *build {
	b.measured()
	b.Service.Members[2].Others = 3
	return b
}

// withoutTrail leaves what counters alone say of a run.
func (b *build) withoutTrail() *build {
	b.Saves, b.Queries = nil, nil
	return b
}

// TestSharedServer: the counters of a server that others use too are not the app's.
func TestSharedServer(t *testing.T) {
	for _, r := range []diagnose.Rule{pool.IdlePool{}, pool.Refused{}, pool.TwoLimits{}} {
		own, _ := r.Check(story().measured().alone())
		found, _ := r.Check(story().shared().alone())
		if len(own) != 1 || len(found) != 1 {
			t.Fatalf("%s: %+v %+v", r.ID(), own, found)
		}
		f := found[0]
		said := strings.ToLower(f.Title + " " + f.Clause + " " + f.Cause)
		for _, wrong := range []string{"the app ", "the driver", "the program", "the idle limit",
			"each select", "each insert", "each statement", "each parametrised", "shop"} {
			if strings.Contains(said, wrong) || f.Object.Name == "shop" {
				t.Errorf("%s, %s, says %q of a shared server: %s", r.ID(), f.Object, wrong, said)
			}
		}
		const note = "programs outside of the service use this server too"
		if r.ID() != "POOL-02" && (f.Confidence.Level == kasoku.High || !strings.Contains(f.Confidence.Note, note)) {
			t.Errorf("%s: confidence %+v", r.ID(), f.Confidence)
		}
	}
	speaks(t, driver.Prepare{}, story().measured().alone(), kasoku.High, "")
	keepsQuiet(t, driver.Prepare{}, story().shared().alone(), true, "whose prepares")
	fires(t, driver.ORMSave{}, story().withoutTrail().measured(), kasoku.Medium, "An ORM save")
	keepsQuiet(t, driver.ORMSave{}, story().withoutTrail().shared().alone(), true, "whose UPDATEs and INSERTs")
	speaks(t, driver.ORMSave{}, story().shared().alone(), kasoku.High, "An ORM save") // the slow log's trail
}

// known has the run's slow log hold what connections of the service sent, of what the server counted;
// prepares below 0 are not in the log, as MariaDB's.
func (b *build) known(own, all, connections uint64, ownPrepares, prepares int) *build {
	k := kasoku.Known{Own: own, Statements: all, Connections: connections}
	if prepares >= 0 {
		k.HasPrepares, k.OwnPrepares, k.Prepares = true, uint64(ownPrepares), uint64(prepares)
	}
	b.Settings = append(b.Settings, k.Settings("")...)
	return b
}

// TestPrepare_Known: what a slow log has of the service's own connections bounds what others did.
func TestPrepare_Known(t *testing.T) {
	r := driver.Prepare{}
	// 12,450 prepares and executions in all, 9,150 in the focus; 29,050 statements, 21,350 there.
	agent := func() *build { return story().shared().known(29_000, 29_050, 3, 12_440, 12_450) }
	f := speaks(t, r, agent().alone(), kasoku.High, "at most 50")
	if !strings.Contains(f.Cause, "9,140 of 30,500") {
		t.Error(f.Cause)
	}
	f = speaks(t, r, story().shared().known(29_000, 29_050, 3, 0, -1).alone(), kasoku.Medium, "at most 50")
	if !strings.Contains(f.Confidence.Note, "taken for granted") {
		t.Error(f.Confidence)
	}
	if !strings.Contains(f.Cause, "9,100 of 30,500") {
		t.Error(f.Cause)
	}
	for name, b := range map[string]*build{
		"the others may have prepared half": story().shared().known(29_000, 29_050, 3, 7800, 12_450),
		"nor are prepares in the log":       story().shared().known(24_000, 29_050, 3, 0, -1),
		"they may have run all":             story().shared().known(1000, 29_050, 3, 12_450, 12_450),
	} {
		if found, silent := r.Check(b.alone()); len(found) > 0 || len(silent) != 1 || !silent[0].Blind {
			t.Errorf("%s: %+v %+v", name, found, silent)
		}
	}
	few := story().shared().known(1000, 29_050, 3, 0, -1) // the server's own counter is below the threshold
	for _, name := range []string{"Com_stmt_prepare", "Com_stmt_execute"} {
		few.counter(name, 0, 0, 90)
	}
	keepsQuiet(t, r, few.alone(), false, "90 times")
}

// TestLockQueue_Others: samples of waits for the service's rows count where others use the server too.
func TestLockQueue_Others(t *testing.T) {
	r := lock.Queue{}
	queue := func(waits ...kasoku.LockWait) *build {
		b := committing(0).counter("Innodb_row_lock_waits", 0, 0, 1000).counter("Innodb_row_lock_time", 0, 0,
			200_000).shared()
		b.LockWaits = waits
		return b
	}
	w := kasoku.LockWait{Table: "shop.orders", Waiting: "update orders set a = ? where id = ?",
		Blocking: "select a from orders for update", Samples: 9, Waiters: 5}
	keepsQuiet(t, r, queue().alone(), true, "whose waits")
	f := speaks(t, r, queue(w).alone(), kasoku.High, "of rows of orders", "in at least 9,000 ms of the run")
	if strings.Contains(fmt.Sprint(f), "1,000") || strings.Contains(fmt.Sprint(f), "200 ms") {
		t.Errorf("counters of others: %+v", f)
	}
	w.Samples = 4
	keepsQuiet(t, r, queue(w).alone(), false, "4 waits")
	w.Samples, w.Longest = 9, 8*time.Second // that may be one wait
	keepsQuiet(t, r, queue(w).alone(), false, "1 waits")
	keepsQuiet(t, r, queue().counter("Innodb_row_lock_waits", 0, 0, 19).alone(), false, "19 waits") // all of the server's
}

// TestRefused_Others: whose connections were refused says the application's log alone.
func TestRefused_Others(t *testing.T) {
	r := pool.Refused{}
	quiet := story().shared()
	quiet.Messages = nil
	keepsQuiet(t, r, quiet.alone(), true, "whose refused connections")
	logged := story().shared()
	logged.Messages = logged.Messages[1:]
	keepsQuiet(t, r, logged.alone(), false, "the application's log has no Error 1040")
	keepsQuiet(t, pool.TwoLimits{}, logged.alone(), false, "only one limit is met")
}

// TestIdlePool_Known: connections of the service in the log are as sure as a server of its own.
func TestIdlePool_Known(t *testing.T) {
	sure := story().shared().known(29_000, 29_050, 3029, 0, -1)
	own, _ := pool.IdlePool{}.Check(story().measured().alone())
	f, _ := pool.IdlePool{}.Check(sure.alone())
	if len(own) != 1 || len(f) != 1 || f[0].Confidence.Level != own[0].Confidence.Level {
		t.Fatalf("%+v %+v", own, f)
	}
	f, _ = pool.IdlePool{}.Check(story().shared().known(29_000, 29_050, 300, 0, -1).alone())
	if len(f) != 1 || f[0].Confidence.Level == kasoku.High {
		t.Errorf("%+v", f)
	}
}

// TestIdlePool_Others: where most connections are of programs outside of the service, nothing is
// said of the application's.
func TestIdlePool_Others(t *testing.T) {
	sent := func(others, all int) *build {
		b := story().shared()
		b.Settings = append(b.Settings, kasoku.Tenants{Others: others, All: all}.Setting(""))
		return b
	}
	seen := func(own int) *build {
		b := story().shared()
		b.Service.Edges = []kasoku.Edge{{From: "shop", To: "mysqld", Seen: own}}
		return b
	}
	for _, r := range []diagnose.Rule{pool.IdlePool{}, pool.TwoLimits{}} {
		keepsQuiet(t, r, sent(60, 100).alone(), true, "most of its connections are theirs")
		keepsQuiet(t, r, seen(2).alone(), true, "most of its connections are theirs")
		for _, b := range []*build{sent(40, 100), seen(3)} {
			if found, _ := r.Check(b.alone()); len(found) != 1 {
				t.Errorf("%s: %+v", r.ID(), found)
			}
		}
	}
}

// TestPrepare_Part: of statements of which some are prepared "each" is not said.
func TestPrepare_Part(t *testing.T) {
	prepared := func(selects, executes float64) *build {
		b := ladder().counter("Com_select", 0, 0, selects).counter("Com_insert", 0, 0, 100).
			counter("Questions", 0, 0, selects+300)
		for _, name := range []string{"Com_stmt_prepare", "Com_stmt_execute", "Com_stmt_close"} {
			b.counter(name, 0, 0, executes)
		}
		return b
	}
	f := fires(t, driver.Prepare{}, prepared(9700, 2300), kasoku.High,
		"23.0 % of statements are prepared, run once and closed")
	if said := f.Title + f.Clause + f.Cause; strings.Contains(strings.ToLower(said), "each ") {
		t.Error(said)
	}
	fires(t, driver.Prepare{}, prepared(9700, 9300), kasoku.High, "Each SELECT is sent as prepare")
	// Those that a query cache answers are no SELECTs to the server's counters.
	b := prepared(2400, 2300).counter("Qcache_hits", 0, 0, 7300).counter("Questions", 0, 0, 10_000)
	f = fires(t, driver.Prepare{}, b, kasoku.High, "23.0 %")
	if strings.HasPrefix(f.Title, "Each") {
		t.Error(f.Title)
	}
}

// TestORMSave_OtherEngines: UPDATEs of tables that are not InnoDB's change rows.
func TestORMSave_OtherEngines(t *testing.T) {
	for _, version := range []string{"10.5.20-MariaDB", "9.7.0"} {
		b := func() *build {
			return story().withoutTrail().counter("Innodb_rows_updated", 0, 0, 0).setting("version", version)
		}
		fires(t, driver.ORMSave{}, b(), kasoku.Medium, "An ORM save")
		real := b().counter("Handler_update", 100, 1000, 3060)
		keepsQuiet(t, driver.ORMSave{}, real.alone(), false, "UPDATEs came with")
	}
}

// TestTwoLimits_Languages: PHP has no idle limit, and the finding is no surer than those that
// it puts in order.
func TestTwoLimits_Languages(t *testing.T) {
	b := story()
	b.Service.Members[0].Language = "php"
	f := fires(t, pool.TwoLimits{}, b, kasoku.High, "Connections are closed after one use")
	if strings.Contains(f.Cause, "dle limit") {
		t.Error(f.Cause)
	}
	fires(t, pool.TwoLimits{}, story(), kasoku.High, "The idle limit makes the app open")
	b = story().counter("Connections", 2, 20, 1200).counter("Aborted_clients", 0, 0, 1200)
	b.gauge("Threads_connected", 151, 151, 151, 151)
	idle, _ := pool.IdlePool{}.Check(b.alone())
	refused, _ := pool.Refused{}.Check(b.alone())
	both, _ := pool.TwoLimits{}.Check(b.alone())
	if len(idle) == 0 || len(refused) == 0 || len(both) == 0 {
		t.Fatal(idle, refused, both)
	}
	if both[0].Confidence.Level == kasoku.High || idle[0].Confidence.Level == kasoku.High {
		t.Errorf("POOL-01 %+v, POOL-02 %+v, POOL-04 %+v", idle[0].Confidence, refused[0].Confidence, both[0].Confidence)
	}
}

// TestBinlog_Readers: what a run of minutes does not see may need the log.
func TestBinlog_Readers(t *testing.T) {
	b := committing(2*time.Millisecond).setting("log_bin", "ON").setting("sync_binlog", "1").
		counter("Binlog_cache_use", 100, 1000, 10_000)
	f := speaks(t, durability.Binlog{}, b.alone(), kasoku.Medium, "no replica was connected during the run")
	said := fmt.Sprint(f)
	if strings.Contains(said, "no one reads") || !strings.Contains(f.Confidence.Note, "backups may copy the log") {
		t.Error(said)
	}
	if f.Fixes[0].Code != "SET GLOBAL sync_binlog = 0;" || !strings.Contains(f.Fixes[1].Note, "lines with log_bin") {
		t.Errorf("%+v", f.Fixes)
	}
}

// TestDeadlocks_Others: deadlocks of others, which the server counts as well, are none of the
// application's: those that its log has, and the one that the server shows of its tables, are.
func TestDeadlocks_Others(t *testing.T) {
	others := func() *build { return story().shared().counter("Innodb_deadlocks", 0, 0, 40) }
	r := lock.Deadlocks{}
	if own, _ := r.Check(story().measured().counter("Innodb_deadlocks", 0, 0, 40).alone()); len(own) != 1 {
		t.Errorf("of a server of its own: %+v", own)
	}
	keepsQuiet(t, r, others().alone(), false, "0 deadlocks")
	b := others()
	b.Deadlocks = []kasoku.Deadlock{{Table: "shop.stock", Count: 40}}
	keepsQuiet(t, r, b.alone(), false, "1 deadlocks")
}

// TestBinlog_Others: transactions of others that went into the log are none of the service's.
func TestBinlog_Others(t *testing.T) {
	b := func() *build {
		return committing(2*time.Millisecond).setting("log_bin", "ON").setting("sync_binlog", "1").
			counter("Binlog_cache_use", 100, 1000, 10_000_000)
	}
	own := speaks(t, durability.Binlog{}, b().measured().alone(), kasoku.Medium, "10,001,100 transactions")
	theirs := speaks(t, durability.Binlog{}, b().shared().alone(), kasoku.Medium, "")
	if own.Cause == theirs.Cause || strings.Contains(theirs.Cause, "10,001,100") {
		t.Error(theirs.Cause)
	}
}
