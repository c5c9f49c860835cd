package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func collect(t *testing.T, s *mysql.Source) map[string]kasoku.Sample {
	t.Helper()
	m, err := try(t, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func try(t *testing.T, s *mysql.Source) (map[string]kasoku.Sample, error) {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		return nil, err
	}
	m := map[string]kasoku.Sample{}
	for _, sample := range f.Samples {
		m[sample.Name] = sample
	}
	return m, nil
}

func open(t *testing.T, srv *sandbox.Server) *mysql.Source {
	t.Helper()
	s := mysql.New(sandboxtest.DB(t, srv, ""))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// What a server says is read, under a load that makes gauges rise and fall; no
// counter may fall.
func TestServer(t *testing.T) {
	var all []kasoku.Sample
	var kinds int // of servers that ran
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		kinds++
		s := open(t, srv)
		before := collect(t, s)
		for _, name := range strings.Fields("up Threads_connected Max_used_connections Connections Questions Com_insert " +
			"Innodb_row_lock_time Connection_errors_max_connections conn.sleep conn.query conn.other trx.active trx.oldest") {
			if _, ok := before[name]; !ok {
				t.Fatalf("no %s", name)
			}
		}
		work(t, sandboxtest.DB(t, srv, ""))
		var busy map[string]kasoku.Sample
		until(t, "the open transaction", func() bool {
			busy = collect(t, s)
			return busy["trx.active"].Value > before["trx.active"].Value
		})
		f := func(name string, least float64) {
			t.Helper()
			if got := busy[name].Value - before[name].Value; got < least {
				t.Fatalf("%s grew by %v, at least %v expected", name, got, least)
			}
		}
		f("Com_insert", 20)
		f("Connections", 1)
		f("Questions", 20)
		f("conn.sleep", 1)
		for name, b := range before {
			if a, ok := busy[name]; b.Kind == kasoku.Counter && (!ok || a.Value < b.Value) {
				t.Errorf("counter %s fell from %v to %v", name, b.Value, a.Value)
			}
		}
		all = slices.AppendSeq(all, maps.Values(asleep(t, srv, s)))
		if len(s.Warnings())+len(s.Events()) != 0 {
			t.Fatal(s.Warnings())
		}
	})
	if kinds == 2 { // each has some that the other has not
		observetest.Sampled(t, &mysql.Declared, all, nil)
	}
}

// asleep returns what a server says while a session is in a statement.
func asleep(t *testing.T, srv *sandbox.Server, s *mysql.Source) (got map[string]kasoku.Sample) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var session sync.WaitGroup
	session.Go(func() { _, _ = sandboxtest.DB(t, srv, "").ExecContext(ctx, "DO SLEEP(60)") }) // it is cancelled
	until(t, "a session in a statement", func() bool {
		got = collect(t, s)
		_, ok := got[mysql.ConnState]
		return ok
	})
	cancel()
	session.Wait()
	return got
}

// until asks five times a second: InnoDB renews its list of transactions only
// when it was not asked for during a tenth of a second.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// work leaves a transaction open and an idle session.
func work(t *testing.T, db *sql.DB) {
	t.Helper()
	sandboxtest.Exec(t, db, "CREATE DATABASE w", "CREATE TABLE w.a (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=InnoDB")
	for i := range 20 {
		sandboxtest.Exec(t, db, fmt.Sprintf("INSERT INTO w.a (v) VALUES (%d)", i))
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.Exec("UPDATE w.a SET v = v + 1"); err != nil {
		t.Fatal(err)
	}
}

// A server that dies is a failure with a hint; one that comes back is read
// again, and the restart is an event.
func TestServerRestarts(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		s := open(t, srv)
		collect(t, s)
		if err := srv.Kill(); err != nil {
			t.Fatal(err)
		}
		_, err := try(t, s)
		if err == nil {
			t.Fatal("a dead server was read")
		}
		if h, ok := hint(err); !ok {
			t.Fatalf("no hint: %v (%s)", err, h)
		}
		if err := srv.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, "the server", func() bool {
			_, err := try(t, s)
			return err == nil
		})
		e := s.Events()
		if len(e) != 1 || e[0].Kind != "restart" || !strings.HasPrefix(e[0].Text, "server restarted") {
			t.Fatalf("%+v", e)
		}
	})
}

func hint(err error) (string, bool) {
	for ; err != nil; err = unwrap(err) {
		if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
			return h.Hint(), true
		}
	}
	return "", false
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

// A user without PROCESS gets the status, and a warning for the rest.
func TestServerWithoutPrivilege(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		root := sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, root, "CREATE USER poor@'127.0.0.1'")
		db, err := mysqlflags.OpenDSN(srv.DSN("poor", ""))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		s := mysql.New(db)
		defer s.Close()
		for range 2 {
			m := collect(t, s)
			if _, ok := m["conn.sleep"]; ok || m["Questions"].Value == 0 {
				t.Fatal("wrong series")
			}
		}
		if w := s.Warnings(); len(w) != 1 {
			t.Fatalf("%+v", w)
		}
	})
}

// BenchmarkCollect needs a MariaDB server.
func BenchmarkCollect(b *testing.B) {
	srv := sandboxtest.MariaDB(b, sandbox.Options{})
	s := mysql.New(sandboxtest.DB(b, srv, ""))
	defer s.Close()
	var f kasoku.Frame
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			b.Fatal(err)
		}
	}
}
