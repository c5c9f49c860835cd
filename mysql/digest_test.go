package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestDigests switches the consumers of statement digests on and reads what a
// few statements did.
func TestDigests(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--performance-schema=ON", "--skip-log-bin"}}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		r := newReader(t, sandboxtest.DB(t, srv, ""))
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, a VARCHAR(9))")
		c := mysql.NewConsumers(r)
		plan, err := c.Plan(t.Context())
		if err != nil || len(plan.Changes) != 0 || len(plan.Needs) < 100 {
			t.Errorf("on a fresh server: %d of %d are to be changed: %+v, %v", len(plan.Changes), len(plan.Needs), plan.Changes, err)
		}
		sandboxtest.Exec(t, db, "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME IN ('statements_digest', 'global_instrumentation')",
			"UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', TIMED = 'NO' WHERE NAME IN ('statement/sql/insert', 'statement/abstract/Query')")
		before, err := mysql.NewSummaries(r).Digests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := mysql.NewSwitch(r)
		if plan, err = c.Plan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(t.Context(), plan.Changes); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range s.Changes() {
			names = append(names, c.Name+" "+c.Before+" "+c.During)
		}
		want := []string{"setup_consumers.global_instrumentation NO YES", "setup_consumers.statements_digest NO YES",
			"setup_instruments.statement/abstract/Query NO,NO YES,YES", "setup_instruments.statement/sql/insert NO,NO YES,YES"}
		if !slices.Equal(names, want) {
			t.Errorf("changed %q", names)
		}
		testDigestCounts(t, r, srv, before)
		if err := s.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := c.Plan(t.Context())
		if err != nil || len(again.Changes) != len(plan.Changes) || again.Changes[0] != plan.Changes[0] {
			t.Errorf("after it was put back: %+v, %v", again, err)
		}
	})
}

func testDigestCounts(t *testing.T, r *mysql.Reader, srv *sandbox.Server, before *mysql.Digests) {
	app := sandboxtest.DB(t, srv, "shop")
	own := newReader(t, sandboxtest.DB(t, srv, "shop")) // kasoku's own are in no digest
	for i := range 7 {
		sandboxtest.Exec(t, app, fmt.Sprintf("INSERT INTO t (id, a) VALUES (%d, 'x')", i))
		readStatus(t, own)
	}
	prepared(t, app, 3)
	executions := map[bool]uint64{true: 3}[srv.Kind == sandbox.KindMySQL97]
	added, restarted := counted(t, r, before, 7+executions)
	if restarted || added.Lost != 0 {
		t.Errorf("restarted %t, lost %d", restarted, added.Lost)
	}
	found, executed := false, uint64(0)
	for k, d := range added.Classes {
		switch {
		case strings.HasPrefix(d.Text, "INSERT INTO `t`"):
			found = true
			var calls uint64
			for _, b := range d.Buckets {
				calls += b.Calls
			}
			if d.Calls != 7 || d.RowsAffected != 7 || d.Total <= 0 || k.Schema != "shop" || calls != map[bool]uint64{true: 7}[srv.Kind == sandbox.KindMySQL97] {
				t.Errorf("%+v %+v, %d in buckets", k, d, calls)
			}
		case strings.HasPrefix(d.Text, "EXECUTE SELECT"):
			executed += d.Calls
		case strings.Contains(d.Text, "SHOW GLOBAL STATUS"), strings.Contains(d.Text, "events_statements_summary_by_digest"):
			t.Errorf("one of our own: %+v", d)
		}
	}
	if !found || executed != executions {
		t.Errorf("INSERT found %t; %d prepared statements, want %d, in %+v", found, executed, executions, added.Classes)
	}
}

// counted returns what was added once the server has counted that many statements
// on table t: it answers a statement before it counts it.
func counted(t *testing.T, r *mysql.Reader, before *mysql.Digests, statements uint64) (added *mysql.Digests, restarted bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C {
		after, err := mysql.NewSummaries(r).Digests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		added, restarted = after.Since(before)
		var n uint64
		for _, d := range added.Classes {
			if strings.HasPrefix(d.Text, "INSERT INTO `t`") || strings.HasPrefix(d.Text, "EXECUTE SELECT") {
				n += d.Calls
			}
		}
		if n >= statements || time.Now().After(deadline) {
			return added, restarted
		}
	}
}

// prepared runs a statement over the binary protocol.
func prepared(t *testing.T, db *sql.DB, times int) {
	t.Helper()
	s, err := db.PrepareContext(t.Context(), "SELECT a FROM t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range times {
		var a string
		if err := s.QueryRowContext(t.Context(), i).Scan(&a); err != nil {
			t.Fatal(err)
		}
	}
}

// Without performance_schema, as MariaDB starts by default, digests are refused
// with what to do.
func TestDigests_Off(t *testing.T) {
	srv := sandboxtest.MariaDB(t, sandbox.Options{})
	r := newReader(t, sandboxtest.DB(t, srv, ""))
	_, err1 := mysql.NewConsumers(r).Plan(t.Context())
	_, err2 := mysql.NewSummaries(r).Digests(t.Context())
	for _, err := range []error{err1, err2} {
		if !errors.Is(err, mysql.ErrNoSchema) || err.Error() != "statement digests: performance_schema is off" || !strings.Contains(hint(err), "performance_schema=ON") {
			t.Errorf("%v, hint %q", err, hint(err))
		}
	}
}
