// Package sandboxtest gives tests a real database server.
//
// A server lives until the end of the test. In short mode the test is skipped;
// otherwise a server that cannot be had fails it. Only MySQL 9.7, which not
// every system has, may be left out: KASOKU_NO_MYSQL97=1.
package sandboxtest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
)

// MariaDB returns a MariaDB server of the test's own.
func MariaDB(t testing.TB, o sandbox.Options) *sandbox.Server {
	t.Helper()
	return run(t, sandbox.MariaDB, o)
}

// MySQL97 returns a MySQL 9.7 server of the test's own, in the test's [turn]: it takes four
// times the CPU of MariaDB to start.
func MySQL97(t testing.TB, o sandbox.Options) *sandbox.Server {
	t.Helper()
	if os.Getenv("KASOKU_NO_MYSQL97") == "1" {
		t.Skip("MySQL 9.7 is left out: KASOKU_NO_MYSQL97=1")
	}
	turn.Wait(t)
	return run(t, sandbox.MySQL97, o)
}

// Replica returns a replica of a server, of the test's own; see [sandbox.Server.Replica]
// for what the source needs.
func Replica(t testing.TB, s *sandbox.Server, o sandbox.Options) *sandbox.Server {
	t.Helper()
	return run(t, s.Replica, o)
}

// Until waits until a condition holds, asked ten times a second, and fails the
// test when it does not within half a minute.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
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

// Each runs a test once on MariaDB and once on MySQL 9.7, as subtests named
// after the kind of server.
func Each(t *testing.T, o sandbox.Options, f func(t *testing.T, s *sandbox.Server)) {
	t.Helper()
	t.Run(sandbox.KindMariaDB, func(t *testing.T) { f(t, MariaDB(t, o)) })
	t.Run(sandbox.KindMySQL97, func(t *testing.T) { f(t, MySQL97(t, o)) })
}

// Both is as [Each], on both servers at once: for tests that wait for most of their time.
func Both(t *testing.T, o sandbox.Options, f func(t *testing.T, s *sandbox.Server)) {
	t.Helper()
	AtOnce(t, []string{sandbox.KindMariaDB, sandbox.KindMySQL97}, func(t *testing.T, i int) {
		f(t, []func(testing.TB, sandbox.Options) *sandbox.Server{MariaDB, MySQL97}[i](t, o))
	})
}

// AtOnce runs subtests of these names all at once, however few t.Parallel would let run, and waits for them.
func AtOnce(t *testing.T, names []string, f func(t *testing.T, i int)) {
	t.Helper()
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { t.Run(name, func(t *testing.T) { f(t, i) }) })
	}
	all.Wait()
}

// Unsafe are settings of a server that need not survive a power cut: nothing is
// synchronised. MariaDB's transactions are those of before 11.6.2, as on the stacks of labs:
// later ones end with error 1020 where MySQL's wait for a row.
func Unsafe() sandbox.Options {
	return sandbox.Options{Vars: map[string]string{
		"innodb_flush_log_at_trx_commit": "0", "innodb_doublewrite": "0", "skip_log_bin": "ON",
		"innodb_log_buffer_size": "64M", "loose_innodb_snapshot_isolation": "OFF",
	}}
}

// DB opens a database of the server as root; it is closed at the end of the test.
func DB(t testing.TB, s *sandbox.Server, database string) *sql.DB {
	t.Helper()
	db, err := mysqlflags.OpenDSN(s.DSN("", database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Exec runs statements and fails the test at the first that fails.
func Exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := db.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%.100s: %v", q, err)
		}
	}
}

func run(t testing.TB, start func(context.Context, sandbox.Options) (*sandbox.Server, error),
	o sandbox.Options) *sandbox.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a database server; not in short mode")
	}
	s, err := start(t.Context(), o)
	if err != nil {
		fail(t, err)
	}
	t.Cleanup(func() {
		// A shutdown takes MySQL two seconds. What is thrown away needs none; that
		// servers do stop is what service's own tests look at.
		if o.Dir == "" {
			if err := s.Kill(); err != nil {
				t.Errorf("kill: %v", err)
			}
		}
		// The test's own context is cancelled by now.
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

func fail(t testing.TB, err error) {
	t.Helper()
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		t.Fatalf("%v\nhint: %s", err, h.Hint())
	}
	t.Fatal(err)
}
