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
		if f.Confidence.Level == kasoku.High || !strings.Contains(f.Confidence.Note, note) {
			t.Errorf("%s: confidence %+v", r.ID(), f.Confidence)
		}
	}
	speaks(t, driver.Prepare{}, story().measured().alone(), kasoku.High, "")
	keepsQuiet(t, driver.Prepare{}, story().shared().alone(), true, "whose prepares")
	fires(t, driver.ORMSave{}, story().withoutTrail().measured(), kasoku.Medium, "An ORM save")
	keepsQuiet(t, driver.ORMSave{}, story().withoutTrail().shared().alone(), true, "whose UPDATEs and INSERTs")
	speaks(t, driver.ORMSave{}, story().shared().alone(), kasoku.High, "An ORM save") // the slow log's trail
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
