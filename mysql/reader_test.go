package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func newReader(t *testing.T, db *sql.DB) *mysql.Reader {
	t.Helper()
	r, err := mysql.New(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func readStatus(t *testing.T, r *mysql.Reader) *mysql.Status {
	t.Helper()
	s := new(mysql.Status)
	if err := r.ReadStatus(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReader(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Vars: map[string]string{"max_connections": "33"}}, func(t *testing.T, srv *sandbox.Server) {
		db := sandboxtest.DB(t, srv, "")
		r := newReader(t, sandboxtest.DB(t, srv, ""))
		t.Run("version", func(t *testing.T) { testVersion(t, r, srv.Kind) })
		t.Run("status", func(t *testing.T) { testStatus(t, r, db) })
		t.Run("allocations", func(t *testing.T) { testStatusAllocs(t, r) })
		t.Run("variables", func(t *testing.T) {
			v, err := r.Variables(t.Context())
			if err != nil || v["max_connections"] != "33" || len(v) < 400 {
				t.Errorf("%d variables, max_connections %q, %v", len(v), v["max_connections"], err)
			}
		})
		t.Run("sessions", func(t *testing.T) { testSessions(t, r, srv) })
		t.Run("transactions", func(t *testing.T) { testTransactions(t, r, db) })
		t.Run("tables", func(t *testing.T) { testTables(t, r, db) })
		t.Run("rights", func(t *testing.T) { testRights(t, srv, db) })
		t.Run("slow log", func(t *testing.T) { testSlowLog(t, r, srv, db) })
		t.Run("own statements", func(t *testing.T) { testOwnStatements(t, r, srv, db) })
		t.Run("foreign change", func(t *testing.T) { testForeignChange(t, r, db) })
		t.Run("lost connection", func(t *testing.T) { testLostConnection(t, r, db) })
		t.Run("restart", func(t *testing.T) { testRestart(t, r, srv) })
	})
}

func testVersion(t *testing.T, r *mysql.Reader, kind string) {
	switch kind {
	case sandbox.KindMariaDB:
		if r.Flavor() != mysql.MariaDB || !r.Version().AtLeast(10, 5, 0) {
			t.Errorf("%s %+v", r.Flavor(), r.Version())
		}
	case sandbox.KindMySQL97:
		if r.Flavor() != mysql.MySQL || !r.Version().AtLeast(9, 7, 0) {
			t.Errorf("%s %+v", r.Flavor(), r.Version())
		}
	}
	if up := time.Since(r.Boot()); up < 0 || up > 2*time.Minute {
		t.Errorf("booted %v ago", up)
	}
}

func testStatus(t *testing.T, r *mysql.Reader, db *sql.DB) {
	before := readStatus(t, r)
	for range 5 {
		sandboxtest.Exec(t, db, "SELECT 1")
	}
	after := readStatus(t, r)
	get := func(s *mysql.Status, name string) float64 {
		t.Helper()
		v, ok := s.Get(name)
		if !ok {
			t.Errorf("no %s", name)
		}
		return v
	}
	if d := get(after, "Com_select") - get(before, "Com_select"); d != 5 {
		t.Errorf("Com_select grew by %v", d)
	}
	// The reader's own statement is one of them.
	if d := get(after, "Questions") - get(before, "Questions"); d != 6 {
		t.Errorf("Questions grew by %v", d)
	}
	for _, name := range []string{"Threads_connected", "Connections", "Max_used_connections", "Innodb_row_lock_waits", "Connection_errors_max_connections"} {
		get(after, name)
	}
	if len(after.Values) < 250 || after.At.Sub(before.At) <= 0 {
		t.Errorf("%d values, at %v", len(after.Values), after.At)
	}
	texts, err := r.Status(t.Context())
	if err != nil || texts["Threads_connected"] == "" || len(texts) <= len(after.Values) {
		t.Errorf("%d texts, Threads_connected %q, %v", len(texts), texts["Threads_connected"], err)
	}
}

// testStatusAllocs bounds what one reading costs. The driver makes two small
// allocations a row, and there are about 500 rows.
func testStatusAllocs(t *testing.T, r *mysql.Reader) {
	s := readStatus(t, r)
	rows := len(s.Values)
	start, n := time.Now(), 0
	allocs := testing.AllocsPerRun(50, func() {
		n++
		if err := r.ReadStatus(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d values: %.0f allocations, %v a reading", rows, allocs, time.Since(start)/time.Duration(n))
	if allocs > 3*float64(rows)+100 {
		t.Errorf("%.0f allocations for %d values", allocs, rows)
	}
}

func testSessions(t *testing.T, r *mysql.Reader, srv *sandbox.Server) {
	db := sandboxtest.DB(t, srv, "")
	ctx := t.Context()
	var idle []*sql.Conn
	for range 3 {
		c, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	var base mysql.Sessions
	waitFor(t, "the logins to end", func() bool { // MySQL shows a session as Connect until then
		var err error
		if base, err = r.Sessions(ctx); err != nil {
			t.Fatal(err)
		}
		return base.Sleep >= 3
	})
	busy, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = idle[0].ExecContext(busy, "DO SLEEP(60)")
	}()
	waitFor(t, "the sleep to show", func() bool {
		s, err := r.Sessions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Query == 1 && s.Sleep >= 2 && s.Total() == s.Query+s.Sleep
	})
	cancel()
	<-done
	if base.Sleep < 3 || base.Query != 0 || base.By[0].Command != "Sleep" {
		t.Errorf("at rest: %+v", base)
	}
}

func testTransactions(t *testing.T, r *mysql.Reader, db *sql.DB) {
	ctx := t.Context()
	sandboxtest.Exec(t, db, "CREATE DATABASE trx", "CREATE TABLE trx.t (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO trx.t VALUES (1)")
	if got, err := r.Transactions(ctx); err != nil || got != (mysql.Transactions{}) {
		t.Errorf("none: %+v, %v", got, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE trx.t SET id = 2"); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, "UPDATE trx.t SET id = 3")
		second <- err
	}()
	waitFor(t, "the second to wait", func() bool {
		got, err := r.Transactions(ctx)
		return err == nil && got.Active == 2 && got.Waiting == 1
	})
	waitFor(t, "the first to grow old", func() bool {
		got, err := r.Transactions(ctx)
		return err == nil && got.Oldest >= time.Second && got.Oldest < time.Minute
	})
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func testTables(t *testing.T, r *mysql.Reader, db *sql.DB) {
	ctx := t.Context()
	sandboxtest.Exec(t, db, "CREATE DATABASE tabs", "CREATE TABLE tabs.`a b``c` (id INT PRIMARY KEY, x INT, KEY (x))", "INSERT INTO tabs.`a b``c` VALUES (1,1),(2,2)")
	tables, err := mysql.NewSchema(r).Tables(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, tab := range tables {
		if tab.Schema == "mysql" {
			t.Error("a table of the server's own")
		}
		if tab.Schema == "tabs" {
			found = tab.Name == "a b`c" && tab.Engine == "InnoDB" && tab.DataBytes > 0 && tab.IndexBytes > 0
		}
	}
	if !found {
		t.Errorf("%+v", tables)
	}
	if n, err := mysql.NewSchema(r).CountRows(ctx, "tabs.a b`c"); err != nil || n != 2 {
		t.Errorf("counted %d, %v", n, err)
	}
	if _, err := mysql.NewSchema(r).CountRows(ctx, "tabs.none"); err == nil || !strings.Contains(err.Error(), `count rows of "tabs.none"`) {
		t.Error(err)
	}
	if _, err := mysql.NewSchema(r).CountRows(ctx, "none"); mysqlflags.ErrorNumber(err) != 1046 { // ER_NO_DB_ERROR
		t.Error(err)
	}
}

func testRights(t *testing.T, srv *sandbox.Server, db *sql.DB) {
	sandboxtest.Exec(t, db, "CREATE USER weak@'%' IDENTIFIED BY ''", "CREATE USER weak@localhost IDENTIFIED BY ''")
	weak, err := mysqlflags.OpenDSN(srv.DSN("weak", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer weak.Close()
	r := newReader(t, weak)
	if _, err := r.Transactions(t.Context()); err == nil || !strings.Contains(hint(err), "GRANT PROCESS") {
		t.Errorf("%v, hint %q", err, hint(err))
	}
	if _, err := switchOn(t, r, mysql.Settings{}); err == nil || !strings.Contains(hint(err), "GRANT") {
		t.Errorf("%v, hint %q", err, hint(err))
	}
	if _, err := r.Variables(t.Context()); err != nil {
		t.Errorf("the connection should have survived: %v", err)
	}
	if n := r.Notices(); len(n) != 0 {
		t.Errorf("%v", n)
	}
	// A half-done On is undone: this user may set one of two variables.
	rights, err := r.Rights(t.Context())
	if err != nil || rights.Process || rights.SlowLog {
		t.Errorf("%+v, %v", rights, err)
	}
	root := newReader(t, sandboxtest.DB(t, srv, ""))
	if rights, err := root.Rights(t.Context()); err != nil || !rights.Process || !rights.SlowLog {
		t.Errorf("root: %+v, %v", rights, err)
	}
}

// switchOn switches the slow log on.
func switchOn(t *testing.T, r *mysql.Reader, want mysql.Settings) (*mysql.Switch, error) {
	t.Helper()
	plan, err := mysql.NewSlowLog(r, want).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := mysql.NewSwitch(r)
	return s, s.Apply(t.Context(), plan.Changes)
}

func testSlowLog(t *testing.T, r *mysql.Reader, srv *sandbox.Server, db *sql.DB) {
	ctx := t.Context()
	sandboxtest.Exec(t, db, "SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL log_output = 'TABLE'")
	before, err := r.Variables(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := switchOn(t, r, mysql.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range s.Changes() {
		names = append(names, c.Name)
		if c.Before != before[c.Name] || c.Restored || c.During == c.Before {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(names, " "); got != "log_output min_examined_row_limit long_query_time slow_query_log" {
		t.Errorf("changed %s", got)
	}
	slow := mysql.NewSlowLog(r, mysql.Settings{})
	again, err := slow.Plan(ctx)
	if err != nil || len(again.Changes) != 0 || len(again.Needs) < len(names) {
		t.Errorf("planned twice: %+v, %v", again, err)
	}
	if slow.File() != srv.SlowLog {
		t.Errorf("the log is %q", slow.File())
	}

	fresh := sandboxtest.DB(t, srv, "") // a session of before would not log
	sandboxtest.Exec(t, fresh, "CREATE DATABASE slow", "CREATE TABLE slow.t (id INT)", "INSERT INTO slow.t VALUES (4711)")
	var log []byte
	waitFor(t, "the statement in the log", func() bool { // it is written after the answer is sent
		log, err = os.ReadFile(srv.SlowLog)
		return err == nil && strings.Contains(string(log), "INSERT INTO slow.t VALUES (4711);")
	})
	if srv.Kind == sandbox.KindMariaDB && !strings.Contains(string(log), "Rows_affected: 1") {
		t.Errorf("no Rows_affected:\n%s", log)
	}

	if err := s.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	after, err := r.Variables(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Changes() {
		if !c.Restored || c.Note != "" || after[c.Name] != before[c.Name] {
			t.Errorf("%+v: now %q", c, after[c.Name])
		}
	}
	sandboxtest.Exec(t, db, "SET GLOBAL min_examined_row_limit = 0", "SET GLOBAL log_output = 'FILE'")
}

// testOwnStatements has every statement of the reader run while everything is
// logged, statements without an index too.
func testOwnStatements(t *testing.T, r *mysql.Reader, srv *sandbox.Server, db *sql.DB) {
	ctx := t.Context()
	sandboxtest.Exec(t, db, "SET GLOBAL log_queries_not_using_indexes = 1")
	s, err := switchOn(t, r, mysql.Settings{Extra: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*mysql.Reader{r, newReader(t, sandboxtest.DB(t, srv, "tabs"))} {
		readStatus(t, r)
		_, err1 := r.Variables(ctx)
		_, err2 := r.Sessions(ctx)
		_, err3 := r.Transactions(ctx)
		_, err4 := mysql.NewSchema(r).Tables(ctx)
		_, err5 := mysql.NewSchema(r).CountRows(ctx, "tabs.a b`c")
		_, err6 := r.Rights(ctx)
		if err := errors.Join(err1, err2, err3, err4, err5, err6, r.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := s.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(srv.SlowLog)
	if err != nil || strings.Contains(string(log), "/* kasoku") {
		t.Errorf("%v\n%s", err, log)
	}
	for _, c := range s.Changes() {
		if !c.Restored {
			t.Errorf("%+v", c)
		}
	}
	sandboxtest.Exec(t, db, "SET GLOBAL log_queries_not_using_indexes = 0")
}

func testForeignChange(t *testing.T, r *mysql.Reader, db *sql.DB) {
	s, err := switchOn(t, r, mysql.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Exec(t, db, "SET GLOBAL long_query_time = 0.5")
	if err := s.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Changes() {
		if foreign := c.Name == "long_query_time"; c.Restored == foreign || (c.Note != "") != foreign {
			t.Errorf("%+v", c)
		}
	}
	v, err := r.Variables(t.Context())
	if err != nil || v["long_query_time"] != "0.500000" || v["slow_query_log"] != "OFF" {
		t.Errorf("long_query_time %q, slow_query_log %q, %v", v["long_query_time"], v["slow_query_log"], err)
	}
	sandboxtest.Exec(t, db, "SET GLOBAL long_query_time = 10")
}

func testLostConnection(t *testing.T, r *mysql.Reader, db *sql.DB) {
	readStatus(t, r)
	r.Notices()
	rows, err := db.QueryContext(t.Context(), "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND COMMAND IN ('Sleep', 'Query')")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		_, _ = db.ExecContext(t.Context(), "KILL "+id) // one of them may have gone
	}
	// The server may still be about to close it, so the loss may show late.
	waitFor(t, "a notice", func() bool {
		readStatus(t, r)
		for _, n := range r.Notices() {
			if n.Kind == mysql.Reconnected && strings.HasPrefix(n.Text, "reconnected; the connection was lost: ") {
				return true
			}
			t.Errorf("%+v", n)
		}
		return false
	})
	if r.Restarts() != 0 {
		t.Error("taken for a restart")
	}
}

func testRestart(t *testing.T, r *mysql.Reader, srv *sandbox.Server) {
	ctx := t.Context()
	s, err := switchOn(t, r, mysql.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Kill(); err != nil {
		t.Fatal(err)
	}
	err = r.ReadStatus(ctx, new(mysql.Status))
	if err == nil || !strings.Contains(hint(err), "is the server running") {
		t.Errorf("a dead server: %v, hint %q", err, hint(err))
	}
	if err := s.Restore(ctx); err == nil {
		t.Error("restored on a dead server")
	}
	if err := srv.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	readStatus(t, r)
	n := r.Notices()
	if len(n) != 1 || n[0].Kind != mysql.Restarted || !strings.HasPrefix(n[0].Text, "server restarted: up for ") || r.Restarts() != 1 {
		t.Errorf("%+v", n)
	}
	if err := s.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Changes() {
		if now := c.Note; c.Restored || !strings.Contains(now, "the server was restarted") {
			t.Errorf("%+v", c)
		}
	}
}

func TestNew_Failure(t *testing.T) {
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := mysqlflags.FormatDSN("root", "geheim", "127.0.0.1:"+strconv.Itoa(port), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = mysql.New(t.Context(), db)
	if err == nil || hint(err) == "" || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v, hint %q", err, hint(err))
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(150 * time.Millisecond) // InnoDB renews its tables for 100 ms of rest only
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited 20 s for %s", what)
		}
	}
}
