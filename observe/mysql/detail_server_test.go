package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	mysqlread "github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/observetest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// samples collects once, and gives the values by "name instance".
func samples(t *testing.T, s interface {
	Collect(context.Context, *kasoku.Frame) error
}) map[string]float64 {
	t.Helper()
	m := map[string]float64{}
	for _, x := range frameOf(t, s) {
		m[strings.TrimSpace(x.Name+" "+x.Instance)] = x.Value
	}
	return m
}

// frameOf returns what one tick of a source has.
func frameOf(t *testing.T, s interface {
	Collect(context.Context, *kasoku.Frame) error
}) []kasoku.Sample {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	return f.Samples
}

func lower(s string) (string, string) { return strings.ToLower(s), "" }

func detail(t *testing.T, srv *sandbox.Server, user string) *mysql.Detail {
	t.Helper()
	d := mysql.NewDetail(openAs(t, srv, user), open(t, srv), lower)
	t.Cleanup(func() {
		if err := d.Release(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Digests, tables and replication of a real source and its real replica.
func TestDetail_Server(t *testing.T) {
	opts := sandbox.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1", "performance_schema": "ON"}}
	sandboxtest.Each(t, opts, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE w", "CREATE TABLE w.a (id INT PRIMARY KEY, v INT, KEY by_v (v)) ENGINE=InnoDB")
		for i := range 20 {
			sandboxtest.Exec(t, db, fmt.Sprintf("INSERT INTO w.a VALUES (%d, %d)", i, i))
		}
		sandboxtest.Exec(t, db, "SELECT id FROM w.a WHERE v = 7")
		d := detail(t, srv, "")
		got := samples(t, d.Digests)
		calls := 0.0
		for name, v := range got {
			if strings.HasPrefix(name, "calls insert into") {
				calls += v
			}
		}
		if calls != 20 || got["lost"] != 0 {
			t.Errorf("%v calls in %v", calls, got)
		}
		r, err := mysqlread.New(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if cut, _, err := mysqlread.NewSummaries(r).ActiveDigests(t.Context(), 0, 1); err != nil || len(cut.Classes) != 1 || cut.Cut < 2 {
			t.Errorf("%+v, %v", cut, err)
		}
		if all, _, err := mysqlread.NewSummaries(r).ActiveDigests(t.Context(), time.Minute, 100); err != nil || len(all.Classes) < 3 || slices.ContainsFunc(all.Classes, func(c mysqlread.DigestCount) bool {
			return strings.HasPrefix(c.Text, "INSERT INTO") && !c.New
		}) {
			t.Errorf("%+v, %v", all, err)
		}
		if again := samples(t, d.Digests); len(again) != 0 {
			t.Errorf("read again at once: %v", again)
		}
		got = samples(t, d.Tables)
		if got["rows.written w.a"] != 20 || got["rows.read w.a"] < 1 || got["index.rows.read w.a.by_v"] < 1 {
			t.Errorf("%v", got)
		}
		if got := samples(t, d.Replication); len(got) != 0 {
			t.Errorf("no replica: %v", got)
		}
		if n := d.Statements(); n < 6 || n > 20 {
			t.Errorf("%d statements", n)
		}
		again := detail(t, srv, "")
		observetest.Sampled(t, &mysql.DeclaredDigests, frameOf(t, again.Digests), nil)
		observetest.Sampled(t, &mysql.DeclaredTables, frameOf(t, again.Tables), nil)
		testRights(t, srv)
		testTagged(t, srv)
		testReplicated(t, sandboxtest.Replica(t, srv, sandbox.Options{}))
	})
}

// testRights has a user ask who may read nothing: MySQL refuses, and the hint names
// the right; MariaDB lets all users read these tables.
func testRights(t *testing.T, srv *sandbox.Server) {
	t.Helper()
	sandboxtest.Exec(t, sandboxtest.DB(t, srv, ""), "CREATE USER narrow@'127.0.0.1'")
	d := detail(t, srv, "narrow")
	for _, s := range []interface {
		Collect(context.Context, *kasoku.Frame) error
	}{d.Digests, d.Tables} {
		err := s.Collect(t.Context(), &kasoku.Frame{})
		if err == nil && srv.Kind == sandbox.KindMariaDB {
			continue
		}
		if h, _ := hint(err); !strings.Contains(h, "GRANT SELECT ON performance_schema") {
			t.Errorf("%v, hint %q", err, h)
		}
	}
}

// testTagged has the server log all that the sources send: each statement says whose
// it is, and none is in the slow log, which takes all.
func testTagged(t *testing.T, srv *sandbox.Server) {
	t.Helper()
	db := sandboxtest.DB(t, srv, "")
	sandboxtest.Exec(t, db, "CREATE USER tagged@'127.0.0.1'", "GRANT ALL ON *.* TO tagged@'127.0.0.1'",
		"SET GLOBAL log_output = 'TABLE'", "SET GLOBAL long_query_time = 0", "SET GLOBAL general_log = 1", "SET GLOBAL slow_query_log = 1")
	d, s := detail(t, srv, "tagged"), mysql.New(openAs(t, srv, "tagged"))
	defer s.Close()
	samples(t, d.Digests)
	samples(t, d.Tables)
	samples(t, d.Replication)
	samples(t, s)
	sandboxtest.Exec(t, db, "SET GLOBAL general_log = 0", "SET GLOBAL slow_query_log = 0")
	count := func(query string) (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const mine = " WHERE user_host LIKE '%tagged%' "
	all := "SELECT COUNT(*) FROM mysql.general_log" + mine + "AND command_type IN ('Query', 'Execute', 'Prepare')"
	if n := count(all); n < 10 {
		t.Errorf("%d statements seen", n)
	}
	if n := count(all + " AND argument NOT LIKE '%/* kasoku */%'"); n != 0 {
		t.Errorf("%d statements without a tag", n)
	}
	if n := count("SELECT COUNT(*) FROM mysql.slow_log" + mine); n != 0 {
		t.Errorf("%d statements in the slow log", n)
	}
}

func openAs(t *testing.T, srv *sandbox.Server, user string) *sql.DB {
	t.Helper()
	db, err := mysqlflags.OpenDSN(srv.DSN(user, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func testReplicated(t *testing.T, r *sandbox.Server) {
	t.Helper()
	d, db := detail(t, r, ""), sandboxtest.DB(t, r, "")
	var got map[string]float64
	sandboxtest.Until(t, "a known lag", func() bool {
		got = samples(t, d.Replication)
		_, known := got["lag"]
		return known
	})
	if got["io.running"] != 1 || got["sql.running"] != 1 || got["io.connecting"] != 0 || got["relay.space"] == 0 || got["pending"] != 0 {
		t.Errorf("%v", got)
	}
	sandboxtest.Exec(t, db, "STOP REPLICA SQL_THREAD")
	got = samples(t, d.Replication)
	if _, known := got["lag"]; known || got["sql.running"] != 0 || got["io.running"] != 1 {
		t.Errorf("stopped: %v", got)
	}
	if e := d.Replication.Events(); len(e) != 1 || e[0].Text != "replication stopped: IO Yes, SQL No" {
		t.Errorf("%+v", e)
	}
	change := "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 1"
	if r.Kind == sandbox.KindMariaDB {
		change = "CHANGE MASTER TO MASTER_DELAY = 1"
	}
	sandboxtest.Exec(t, db, "STOP REPLICA", change, "START REPLICA")
	sandboxtest.Until(t, "a known lag, delayed", func() bool { _, known := samples(t, d.Replication)["lag"]; return known })
	observetest.Sampled(t, &mysql.DeclaredReplication, frameOf(t, d.Replication), nil)
	_ = d.Replication.Events() // it stopped, and went on
	sandboxtest.Exec(t, db, "CREATE USER poor@'127.0.0.1'")
	poor := detail(t, r, "poor")
	err := poor.Replication.Collect(t.Context(), &kasoku.Frame{})
	if h, _ := hint(err); !strings.Contains(h, "GRANT REPLICATION CLIENT") {
		t.Errorf("%v, hint %q", err, h)
	}
}

// MariaDB without performance_schema counts the use of tables with userstat on, and
// nothing else.
func TestDetail_UserStat(t *testing.T) {
	srv := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, srv, "")
	d := detail(t, srv, "")
	for _, s := range []interface {
		Collect(context.Context, *kasoku.Frame) error
	}{d.Digests, d.Tables} {
		if got := samples(t, s); len(got) != 0 {
			t.Errorf("%v", got)
		}
	}
	sandboxtest.Exec(t, db, "SET GLOBAL userstat = 1", "CREATE DATABASE w", "CREATE TABLE w.a (id INT PRIMARY KEY)", "INSERT INTO w.a VALUES (1), (2)",
		"SELECT * FROM w.a WHERE id = 1")
	got := samples(t, detail(t, srv, "").Tables)
	if got["rows.written w.a"] != 2 || got["rows.read w.a"] < 1 || got["index.rows.read w.a.PRIMARY"] < 1 {
		t.Errorf("%v", got)
	}
}

// BenchmarkDetail is what the sources cost in ten seconds: one snapshot of digests
// and tables, and ten readings of the status of a replica.
func BenchmarkDetail(b *testing.B) {
	srv := sandboxtest.MySQL97(b, sandbox.Options{})
	sandboxtest.Exec(b, sandboxtest.DB(b, srv, ""), "CREATE DATABASE w", "CREATE TABLE w.a (id INT PRIMARY KEY, v INT, KEY by_v (v)) ENGINE=InnoDB")
	db := sandboxtest.DB(b, sandboxtest.Replica(b, srv, sandbox.Options{}), "")
	var f kasoku.Frame
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		d := mysql.NewDetail(db, mysql.New(db), lower)
		err := errors.Join(d.Digests.Collect(b.Context(), &f), d.Tables.Collect(b.Context(), &f))
		for range 10 {
			err = errors.Join(err, d.Replication.Collect(b.Context(), &f))
		}
		if err = errors.Join(err, d.Release()); err != nil {
			b.Fatal(err)
		}
	}
}
