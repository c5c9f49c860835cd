package record

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestReplica: how far a replica lags, that its applier stops, and the use of its
// tables are in the run's file; for a user without rights, a gap says what is missing.
func TestReplica(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	vars := map[string]string{"log_bin": "binlog", "server_id": "1", "performance_schema": "ON"}
	s := sandboxtest.MariaDB(t, sandbox.Options{Vars: vars})
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE shop", "CREATE TABLE shop.stock (id INT PRIMARY KEY)", "INSERT INTO shop.stock VALUES (1)")
	r := sandboxtest.Replica(t, s, sandbox.Options{Vars: map[string]string{"performance_schema": "ON"}})
	db := sandboxtest.DB(t, r, "")
	sandboxtest.Exec(t, db, "SELECT * FROM shop.stock", "CREATE USER poor@'127.0.0.1'")
	o := quick(t)
	o.MySQL, o.For, o.Interval = r.DSN("root", ""), 300*time.Millisecond, 100*time.Millisecond
	o.Prepare = func(ctx context.Context, _ Watch) error {
		<-time.After(500 * time.Millisecond) // some ticks see it follow
		_, err := db.ExecContext(ctx, "STOP REPLICA SQL_THREAD")
		return err
	}
	rec := mustRecord(t, o)
	key := func(source, name, instance string) kasoku.Key {
		return kasoku.Key{Source: source, Name: name, Instance: instance}
	}
	lag, applies := rec.Find(key("replication", "lag", "")), rec.Find(key("replication", "sql.running", ""))
	if lag == nil || applies == nil || applies.Points[0].Value != 1 || applies.Points[len(applies.Points)-1].Value != 0 || len(lag.Points) >= len(applies.Points) {
		t.Errorf("lag %+v, applier %+v", lag, applies)
	}
	stopped := false
	for _, e := range rec.Events {
		stopped = stopped || e.Kind == "replication" && strings.Contains(e.Text, "SQL No")
	}
	if !stopped {
		t.Errorf("%+v", rec.Events)
	}
	if rec.Find(key("tables", "rows.read", "shop.stock")) == nil || len(rec.FindAll("digests", "calls")) == 0 {
		t.Error("no digests, or no use of tables")
	}

	poor := quick(t)
	poor.MySQL, poor.For = r.DSN("poor", ""), 300*time.Millisecond
	rec = mustRecord(t, poor)
	said := ""
	for _, g := range rec.Gaps {
		if g.Source == "replication" {
			said += g.Reason
		}
	}
	if !strings.Contains(said, "GRANT REPLICA MONITOR") {
		t.Errorf("gaps %+v", rec.Gaps)
	}
}
