package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func shape(statement string) (fingerprint, id string) {
	var s sqlshape.Shaper
	f := s.Fingerprint([]byte(statement))
	return string(f), sqlshape.ID(f)
}

// locksOf returns both sources of a server, and how to let them look once.
func locksOf(t *testing.T, db *sql.DB) (*mysql.Locks, func() map[string]float64) {
	t.Helper()
	status := mysql.New(db)
	locks := mysql.NewLocks(db, status, shape)
	t.Cleanup(func() {
		if err := errors.Join(status.Close(), locks.Release()); err != nil {
			t.Error(err)
		}
	})
	look := func() map[string]float64 {
		t.Helper()
		var f kasoku.Frame
		if err := status.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		f.Reset()
		if err := locks.Collect(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		if len(f.Samples) > 0 {
			observetest.Sampled(t, &mysql.DeclaredLocks, f.Samples, nil)
		}
		m := map[string]float64{}
		for _, s := range f.Samples {
			m[s.Name] = s.Value
		}
		return m
	}
	return locks, look
}

// Two sessions wait for a row that a third one holds, which does nothing at the
// time. Both servers report the table, the index and the statement that waits; only
// MySQL knows the statement of the holder.
func TestLockWaits(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE w", "CREATE TABLE w.seats (id INT PRIMARY KEY, v INT) ENGINE=InnoDB", "INSERT INTO w.seats VALUES (1, 0), (2, 0)")
		start := time.Now()
		locks, look := locksOf(t, sandboxtest.DB(t, srv, ""))
		if got := look(); len(got) != 0 {
			t.Fatalf("it looked although no one waits: %v", got)
		}
		quiet := locks.Statements()
		look()
		if locks.Statements() != quiet {
			t.Fatal("a tick without waits asks the server")
		}
		holder := begin(t, db, "SELECT v FROM w.seats WHERE id = 1 FOR UPDATE", "SELECT 1")
		var waiters sync.WaitGroup
		for range 2 {
			waiters.Go(func() {
				if _, err := db.Exec("UPDATE w.seats SET v = 17 WHERE id = 1"); err != nil {
					t.Error(err)
				}
			})
		}
		until(t, "two waiters for a second", func() bool {
			w := locks.Waits("h", start)
			return look()["waiting"] == 2 && len(w) == 1 && w[0].Oldest > 0 && w[0].Samples > 2
		})
		if err := holder.Rollback(); err != nil {
			t.Fatal(err)
		}
		waiters.Wait()
		got := locks.Waits("h", start)
		if len(got) != 1 {
			t.Fatalf("%+v", got)
		}
		w := got[0]
		blocking := ""
		if srv.Kind == sandbox.KindMySQL97 {
			blocking = "select v from w.seats where id = ? for update"
		}
		if w.Table != "w.seats" || w.Index != "PRIMARY" || w.Waiting != "update w.seats set v = ? where id = ?" || w.Waiters != 2 ||
			w.Blocking != blocking || w.WaitingID == "" || (blocking == "") != (w.BlockingID == "") || w.Host != "h" || w.First <= 0 || w.Last < w.First {
			t.Errorf("%+v", w)
		}
		if later := locks.Waits("h", time.Now()); len(later) != 0 {
			t.Errorf("waits before the run: %+v", later)
		}
		if len(locks.Warnings()) > 0 {
			t.Error(locks.Warnings())
		}
	})
}

func begin(t *testing.T, db *sql.DB, statements ...string) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	for _, s := range statements {
		if _, err := tx.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return tx
}

// A deadlock during the run is reported with both statements, the one that was rolled
// back last; one before it is not.
func TestDeadlock(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE w", "CREATE TABLE w.seats (id INT PRIMARY KEY, v INT) ENGINE=InnoDB", "INSERT INTO w.seats VALUES (1, 0), (2, 0)")
		start := time.Now()
		locks, look := locksOf(t, sandboxtest.DB(t, srv, ""))
		look()
		if d, err := locks.Deadlock(t.Context(), "h", start); d != nil || err != nil {
			t.Fatal(d, err)
		}
		a := begin(t, db, "UPDATE w.seats SET v = 3 WHERE id = 1")
		b := begin(t, db, "UPDATE w.seats SET v = v * 5 WHERE id = 2")
		var group sync.WaitGroup
		var first error
		group.Go(func() { _, first = a.Exec("UPDATE w.seats SET v = 3 WHERE id = 2") })
		_, second := b.Exec("UPDATE w.seats SET v = v * 5 WHERE id = 1")
		group.Wait()
		if (mysqlflags.ErrorNumber(first) == 1213) == (mysqlflags.ErrorNumber(second) == 1213) {
			t.Fatal(first, second)
		}
		d, err := locks.Deadlock(t.Context(), "h", start)
		if err != nil || d == nil {
			t.Fatal(d, err)
		}
		victim := "update w.seats set v = ? where id = ?"
		if second != nil {
			victim = "update w.seats set v = v * ? where id = ?"
		}
		if d.Table != "w.seats" || d.Count != 1 || len(d.Statements) != 2 || d.Statements[1] != victim || d.Statements[0] == victim ||
			strings.Join(d.Indexes, " ") != "PRIMARY" || d.At > time.Since(start) {
			t.Errorf("%+v, victim %s", d, victim)
		}
		if d, err := locks.Deadlock(t.Context(), "h", time.Now().Add(time.Minute)); d != nil || err != nil {
			t.Errorf("a deadlock before the run: %+v, %v", d, err)
		}
	})
}

// A user without the rights costs what it cannot see, and a warning when there was
// something to see.
func TestLocksWithoutPrivilege(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		root := sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, root, "CREATE USER poor@'127.0.0.1'")
		db, err := mysqlflags.OpenDSN(srv.DSN("poor", ""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		locks, look := locksOf(t, db)
		for range 2 {
			if got := look(); len(got) > 0 {
				t.Fatal(got)
			}
		}
		if d, err := locks.Deadlock(t.Context(), "h", time.Now()); d != nil || err != nil {
			t.Fatal(d, err)
		}
		if w := locks.Warnings(); len(w) > 0 {
			t.Fatalf("nothing was missed: %+v", w)
		}
	})
}
