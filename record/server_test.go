package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestDatabases holds recordings to their promises on each kind of server. The
// parts share a server and follow one another; the last one restarts it.
func TestDatabases(t *testing.T) {
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))",
			"CREATE USER watcher@localhost IDENTIFIED BY 'right'")
		for _, part := range []struct {
			name string
			test func(*testing.T, *sandbox.Server, *sql.DB)
		}{
			{"refused", wrongPassword}, {"whole", slowLogWhole}, {"partial", slowLogPartial},
			{"stopped", slowLogStopped}, {"secrets", noSecrets}, {"statements", keepsStatements}, {"rights", fewRights}, {"restart", restarted},
		} {
			t.Run(part.name, func(t *testing.T) { part.test(t, s, db) })
		}
	})
}

// globals are the server's settings, without those that are a clock.
func globals(t testing.TB, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SHOW GLOBAL VARIABLES")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		out[name] = value
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(out, func(name, _ string) bool {
		return slices.Contains([]string{"gtid_executed", "gtid_purged", "gtid_binlog_pos", "timestamp"}, name)
	})
	return out
}

// unchanged fails when a setting is not what it was.
func unchanged(t testing.TB, db *sql.DB, before map[string]string) {
	t.Helper()
	after := globals(t, db)
	for name, was := range before {
		if is := after[name]; is != was {
			t.Errorf("%s was %q and is %q", name, was, is)
		}
	}
}

// insert writes rows over one connection.
func insert(ctx context.Context, db *sql.DB, n int) error {
	for i := range n {
		if _, err := db.ExecContext(ctx, "INSERT INTO shop.items (name) VALUES (?)", fmt.Sprint("item ", i)); err != nil {
			return err
		}
	}
	return nil
}

// pool opens connections of its own, so that they begin when it is called.
func pool(t testing.TB, s *sandbox.Server) *sql.DB {
	t.Helper()
	db, err := mysqlflags.OpenDSN(s.DSN("", "shop"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func wrongPassword(t *testing.T, s *sandbox.Server, _ *sql.DB) {
	f := func(dsn, text, wantHint string) {
		t.Helper()
		o := quick(t)
		o.MySQL = dsn
		res, err := Record(t.Context(), o)
		if err == nil || res != nil {
			t.Fatalf("recorded: %v", res)
		}
		if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "s3cret") || !strings.Contains(hint(err), wantHint) {
			t.Errorf("error %q, hint %q", err, hint(err))
		}
	}
	f(fmt.Sprintf("watcher:s3cret@tcp(%s)/", s.Addr()), "Access denied", "wrong user or password")
	f(s.DSN("", "no_such_database"), "no_such_database", "SHOW DATABASES")
	f("watcher:s3cret@tcp(127.0.0.1:1)/", "connection refused", "nothing listens there")
	f("watcher:s3cret@tcp(no-such-host.invalid:3306)/", "no-such-host.invalid", "host name")
	f("watcher:s3cret@unix(/no/such/mysqld.sock)/", "/no/such/mysqld.sock", "no such socket")
}

func slowLogWhole(t *testing.T, s *sandbox.Server, db *sql.DB) {
	before := globals(t, db)
	o := quick(t)
	o.MySQL, o.SlowLog, o.CountRows = s.DSN("", "shop"), true, []string{"items"}
	o.Prepare = func(ctx context.Context, _ Watch) error { return insert(ctx, pool(t, s), 40) }
	rec := mustRecord(t, o)
	unchanged(t, db, before)
	if w := warned(rec, "slow-log-partial"); w.Text != "" {
		t.Errorf("warning %q", w.Text)
	}
	if !slices.ContainsFunc(rec.Advice, func(a kasoku.Advice) bool { return a.Variable != "" && a.Proposed != a.Value && a.ConfLine != "" }) {
		t.Errorf("no advice for a server with its first settings: %+v", rec.Advice)
	}
	if n := inserts(rec); n != 40 {
		t.Errorf("%d inserts in the slow log, want 40", n)
	}
	if len(rec.Changes) == 0 {
		t.Error("no changes are reported")
	}
	for _, c := range rec.Changes {
		if !c.Restored || c.Before == c.During || before[c.Name] != c.Before {
			t.Errorf("change %+v, was %q", c, before[c.Name])
		}
	}
	for _, set := range rec.Settings {
		if set.Name == "slow_query_log" && set.Value != before["slow_query_log"] {
			t.Errorf("slow_query_log is reported as %q, was %q before the run", set.Value, before["slow_query_log"])
		}
	}
}

func inserts(rec *kasoku.Recording) (n uint64) {
	for _, q := range rec.Queries {
		if q.Verb == "INSERT" {
			n += q.Calls
		}
	}
	return n
}

// slowLogPartial: sessions that were open before write nothing to the slow log,
// and the run says so.
func slowLogPartial(t *testing.T, s *sandbox.Server, db *sql.DB) {
	before := globals(t, db)
	early := pool(t, s)
	o := quick(t)
	o.MySQL, o.SlowLog = s.DSN("", "shop"), true
	o.Prepare = func(ctx context.Context, _ Watch) error { return insert(ctx, early, 60) }
	rec := mustRecord(t, o)
	unchanged(t, db, before)
	w := warned(rec, "slow-log-partial")
	if !strings.Contains(w.Text, "sessions that were open before") || !strings.Contains(w.Hint, "start the recording before the application") || !strings.Contains(w.Hint, "--recycle-connections") {
		t.Errorf("warning %q, hint %q; %d inserts in the slow log", w.Text, w.Hint, inserts(rec))
	}
}

// slowLogStopped: a run that is stopped in the middle puts back all the same.
func slowLogStopped(t *testing.T, s *sandbox.Server, db *sql.DB) {
	before := globals(t, db)
	o := quick(t)
	o.MySQL, o.SlowLog, o.For = s.DSN("", "shop"), true, time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	o.OnProgress = func(p Progress) {
		if p.Phase == PhaseRecord {
			if during := globals(t, db); during["slow_query_log"] != "ON" {
				t.Errorf("slow_query_log is %q during the run", during["slow_query_log"])
			}
			cancel(errors.New("interrupt"))
		}
	}
	res, err := Record(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	unchanged(t, db, before)
	if r := res.Recording.Run; r.State != kasoku.Incomplete || r.StopReason != "interrupt" {
		t.Errorf("state %s, reason %q", r.State, r.StopReason)
	}
}

// fewRights: a user who may not switch the slow log on gets a run without it,
// and a hint what to grant.
func fewRights(t *testing.T, s *sandbox.Server, db *sql.DB) {
	before := globals(t, db)
	o := quick(t)
	o.MySQL, o.SlowLog = fmt.Sprintf("watcher:right@tcp(%s)/", s.Addr()), true
	rec := mustRecord(t, o)
	unchanged(t, db, before)
	if w := warned(rec, "no-slow-log"); !strings.Contains(w.Hint, "GRANT") {
		t.Errorf("warning %q, hint %q", w.Text, w.Hint)
	}
}

// restarted: a server that goes away in the middle leaves a gap and an event;
// what was measured before and after is kept.
func restarted(t *testing.T, s *sandbox.Server, db *sql.DB) {
	before := globals(t, db)
	o := quick(t)
	o.MySQL, o.SlowLog, o.For = s.DSN("", ""), true, time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var once sync.Once
	var wait sync.WaitGroup
	o.OnProgress = func(p Progress) {
		if p.Phase != PhaseRecord || p.Elapsed < 300*time.Millisecond {
			return
		}
		once.Do(func() {
			wait.Go(func() {
				err := s.Kill()
				if err == nil {
					err = s.Restart(context.WithoutCancel(t.Context()))
				}
				if err != nil {
					t.Error(err)
				}
				back := time.Now()
				// The source asks again a second after a failure, later on a busy host.
				for db.PingContext(ctx) != nil || time.Since(back) < 4*time.Second {
					select {
					case <-ctx.Done():
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
				cancel(errors.New("seen enough"))
			})
		})
	}
	res, err := Record(ctx, o)
	wait.Wait()
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, hint(err))
	}
	unchanged(t, db, before)
	rec := res.Recording
	gap, event := false, false
	for _, g := range rec.Gaps {
		gap = gap || g.Source == "mysql" && g.Reason != ""
	}
	for _, e := range rec.Events {
		event = event || e.Kind == "restart"
	}
	if !gap || !event {
		t.Errorf("gaps %+v\nevents %+v", rec.Gaps, rec.Events)
	}
	up := rec.FindAll("mysql", "up")
	if len(up) != 1 || len(up[0].Points) < 3 || up[0].Points[len(up[0].Points)-1].At < rec.Run.Length-2*time.Second {
		t.Errorf("the server's samples: %+v of %s", up, rec.Run.Length)
	}
	for _, c := range rec.Changes {
		if !c.Restored && c.Note == "" {
			t.Errorf("change %+v does not say why it was not put back", c)
		}
	}
}
