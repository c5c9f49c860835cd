package mysql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/service"
	"github.com/kasoku/kasoku/service/servicetest"
)

// samples collects once, and gives the values by "name instance".
func samples(t *testing.T, s interface {
	Collect(context.Context, *kasoku.Frame) error
}) map[string]float64 {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	m := map[string]float64{}
	for _, x := range f.Samples {
		m[strings.TrimSpace(x.Name+" "+x.Instance)] = x.Value
	}
	return m
}

func lower(s string) (string, string) { return strings.ToLower(s), "" }

func detail(t *testing.T, srv *service.Server, user string) *mysql.Detail {
	t.Helper()
	db, err := mysqlflags.OpenDSN(srv.DSN(user, ""))
	if err != nil {
		t.Fatal(err)
	}
	d := mysql.NewDetail(db, lower)
	t.Cleanup(func() {
		if err := d.Release(); err != nil {
			t.Error(err)
		}
		_ = db.Close()
	})
	return d
}

// Digests, tables and replication of a real source and its real replica.
func TestDetail_Server(t *testing.T) {
	opts := service.Options{Vars: map[string]string{"log_bin": "binlog", "server_id": "1", "performance_schema": "ON"}}
	servicetest.Each(t, opts, func(t *testing.T, srv *service.Server) {
		db := servicetest.DB(t, srv, "")
		servicetest.Exec(t, db, "CREATE DATABASE w", "CREATE TABLE w.a (id INT PRIMARY KEY, v INT, KEY by_v (v)) ENGINE=InnoDB")
		for i := range 20 {
			servicetest.Exec(t, db, fmt.Sprintf("INSERT INTO w.a VALUES (%d, %d)", i, i))
		}
		servicetest.Exec(t, db, "SELECT id FROM w.a WHERE v = 7")
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
		testReplicated(t, servicetest.Replica(t, srv, service.Options{}))
	})
}

func testReplicated(t *testing.T, r *service.Server) {
	t.Helper()
	d, db := detail(t, r, ""), servicetest.DB(t, r, "")
	var got map[string]float64
	servicetest.Until(t, "a known lag", func() bool {
		got = samples(t, d.Replication)
		_, known := got["lag"]
		return known
	})
	if got["io.running"] != 1 || got["sql.running"] != 1 || got["io.connecting"] != 0 || got["relay.space"] == 0 || got["pending"] != 0 {
		t.Errorf("%v", got)
	}
	servicetest.Exec(t, db, "STOP REPLICA SQL_THREAD")
	got = samples(t, d.Replication)
	if _, known := got["lag"]; known || got["sql.running"] != 0 || got["io.running"] != 1 {
		t.Errorf("stopped: %v", got)
	}
	if e := d.Replication.Events(); len(e) != 1 || e[0].Text != "replication stopped: IO Yes, SQL No" {
		t.Errorf("%+v", e)
	}
	servicetest.Exec(t, db, "CREATE USER poor@'127.0.0.1'")
	poor := detail(t, r, "poor")
	err := poor.Replication.Collect(t.Context(), &kasoku.Frame{})
	if h, _ := hint(err); !strings.Contains(h, "GRANT REPLICATION CLIENT") {
		t.Errorf("%v, hint %q", err, h)
	}
}

// MariaDB without performance_schema counts the use of tables with userstat on, and
// nothing else.
func TestDetail_UserStat(t *testing.T) {
	srv := servicetest.MariaDB(t, service.Options{})
	db := servicetest.DB(t, srv, "")
	d := detail(t, srv, "")
	for _, s := range []interface {
		Collect(context.Context, *kasoku.Frame) error
	}{d.Digests, d.Tables} {
		if got := samples(t, s); len(got) != 0 {
			t.Errorf("%v", got)
		}
	}
	servicetest.Exec(t, db, "SET GLOBAL userstat = 1", "CREATE DATABASE w", "CREATE TABLE w.a (id INT PRIMARY KEY)", "INSERT INTO w.a VALUES (1), (2)",
		"SELECT * FROM w.a WHERE id = 1")
	got := samples(t, detail(t, srv, "").Tables)
	if got["rows.written w.a"] != 2 || got["rows.read w.a"] < 1 || got["index.rows.read w.a.PRIMARY"] < 1 {
		t.Errorf("%v", got)
	}
}
