package mysql_test

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRecycle ends idle sessions, and leaves those alone that are in a transaction.
func TestRecycle(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.stock (id INT PRIMARY KEY)")
		r, err := mysql.New(t.Context(), sandboxtest.DB(t, s, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		busy, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer busy.Close()
		idle, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer idle.Close()
		for _, statement := range []string{"BEGIN", "INSERT INTO shop.stock VALUES (1)"} {
			if _, err := busy.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := idle.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := mysql.NewClients(r).Recycle(t.Context(), 500*time.Millisecond)
		if err != nil || got.Ended < 1 || got.Left != 1 {
			t.Errorf("%+v, %v; want the idle one ended, one left", got, err)
		}
		if _, err := busy.ExecContext(t.Context(), "COMMIT"); err != nil {
			t.Errorf("the transaction: %v", err)
		}
		if _, err := idle.ExecContext(t.Context(), "DO 1"); err == nil {
			t.Error("the idle session goes on")
		}
		if got, err = mysql.NewClients(r).Recycle(t.Context(), 500*time.Millisecond); err != nil || got.Ended != 1 || got.Left != 0 {
			t.Errorf("%+v, %v; want the last one ended", got, err)
		}
	})
}

// TestSettle waits for a session's statement to end, not for one that began long before, nor
// for ever.
func TestSettle(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		r, err := mysql.New(t.Context(), sandboxtest.DB(t, s, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		clients := mysql.NewClients(r)
		count := func(where string) (n int) {
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE "+where).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		run := func(statement string) (done chan error) {
			done = make(chan error, 1)
			go func() { _, err := db.ExecContext(t.Context(), statement); done <- err }()
			sandboxtest.Until(t, statement, func() bool { return count("INFO = '"+statement+"'") == 1 })
			return done
		}
		done := run("DO SLEEP(0.3)")
		if ok, err := clients.Settle(t.Context(), time.Second, time.Minute); !ok || err != nil || count("INFO = 'DO SLEEP(0.3)'") > 0 {
			t.Errorf("settled %t, %v", ok, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		long := run("DO SLEEP(4)")
		if ok, err := clients.Settle(t.Context(), time.Second, 5*time.Millisecond); ok || err != nil {
			t.Errorf("settled %t, %v, with a statement that sleeps", ok, err)
		}
		sandboxtest.Until(t, "a statement of two seconds", func() bool { return count("INFO = 'DO SLEEP(4)' AND TIME >= 2") == 1 })
		if ok, err := clients.Settle(t.Context(), 0, time.Minute); !ok || err != nil || count("INFO = 'DO SLEEP(4)'") == 0 {
			t.Errorf("settled %t, %v, beside one that began long before", ok, err)
		}
		if err := <-long; err != nil {
			t.Error(err)
		}
	})
}

// TestRecycleOwn leaves the sessions of other readers alone, of whatever process, and
// connections that were marked as kasoku's.
func TestRecycleOwn(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin"}}, func(t *testing.T, s *sandbox.Server) {
		var readers []*mysql.Reader
		for range 3 {
			r, err := mysql.New(t.Context(), sandboxtest.DB(t, s, ""))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			readers = append(readers, r)
		}
		db := sandboxtest.DB(t, s, "")
		marked, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer marked.Close()
		if err := mysql.MarkOwn(t.Context(), marked); err != nil {
			t.Fatal(err)
		}
		other, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		var id uint64
		if err := other.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		if got, err := mysql.NewClients(readers[0]).Recycle(t.Context(), time.Second); err != nil || got.Left != 0 {
			t.Errorf("%+v, %v; want none left", got, err)
		}
		if _, err := marked.ExecContext(t.Context(), "DO 1"); err != nil {
			t.Errorf("the marked connection: %v", err)
		}
		if _, err := other.ExecContext(t.Context(), "DO 1"); err == nil {
			t.Errorf("session %d goes on", id)
		}
		for i, r := range readers {
			before := r.Statements()
			if _, err := mysql.NewClients(r).Begun(t.Context()); err != nil || r.Statements() != before+1 {
				t.Errorf("reader %d sent %d statements, %v; want 1 on the same session", i, r.Statements()-before, err)
			}
		}
	})
}

// TestSlowTable reads the slow log's table, and empties it.
func TestSlowTable(t *testing.T) {
	s := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--skip-log-bin", "--log-output=FILE,TABLE", "--slow-query-log=1", "--long-query-time=0"}})
	db := sandboxtest.DB(t, s, "")
	r, err := mysql.New(t.Context(), sandboxtest.DB(t, s, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := time.Now()
	db.SetMaxOpenConns(1) // a statement is logged when it was answered, and before the next
	sandboxtest.Exec(t, db, "SELECT 'a slow one', SLEEP(0.02)", "SET GLOBAL slow_query_log = 0")
	found := 0
	err = mysql.NewSlowTable(r).Each(t.Context(), before.Add(-time.Second), before.Add(time.Minute), 100, func(e *mysql.TableEntry) {
		if string(e.Statement) == "SELECT 'a slow one', SLEEP(0.02)" {
			found++
			if late := e.Start.Sub(before); late < -time.Millisecond || late > time.Minute || e.QueryTime < 20*time.Millisecond || e.RowsSent != 1 || e.ThreadID == 0 {
				t.Errorf("%+v, %s after it was sent", e, late)
			}
		}
	})
	if err != nil || found != 1 {
		t.Errorf("%d entries, %v", found, err)
	}
	if empty, err := mysql.NewSlowTable(r).IsEmpty(t.Context()); empty || err != nil {
		t.Errorf("empty %v, %v", empty, err)
	}
	if err := mysql.NewSlowTable(r).Clear(t.Context()); err != nil {
		t.Error(err)
	}
	if empty, err := mysql.NewSlowTable(r).IsEmpty(t.Context()); !empty || err != nil {
		t.Errorf("empty %v, %v", empty, err)
	}
}
