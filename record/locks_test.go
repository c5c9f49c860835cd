package record

import (
	"context"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestLocks: who waited for whom, and a deadlock, are in the run's file.
func TestLocks(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT) ENGINE=InnoDB", "INSERT INTO shop.stock VALUES (1, 0), (2, 0)")
	o := quick(t)
	o.MySQL, o.For, o.Interval = s.DSN("root", "shop"), 300*time.Millisecond, 100*time.Millisecond
	o.Prepare = func(ctx context.Context, _ Watch) error {
		a, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer a.Rollback()
		b, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer b.Rollback()
		if _, err := a.ExecContext(ctx, "UPDATE shop.stock SET n = 17 WHERE id = 1"); err != nil {
			return err
		}
		if _, err := b.ExecContext(ctx, "UPDATE shop.stock SET n = 17 WHERE id = 2"); err != nil {
			return err
		}
		waits := make(chan error, 1)
		go func() { // ends with the deadlock
			_, err := a.ExecContext(ctx, "UPDATE shop.stock SET n = 17 WHERE id = 2")
			waits <- err
		}()
		<-time.After(time.Second) // ten ticks, some of which see it
		_, err = b.ExecContext(ctx, "UPDATE shop.stock SET n = 17 WHERE id = 1")
		if first := <-waits; (first == nil) == (err == nil) {
			t.Errorf("no deadlock: %v, %v", first, err)
		}
		return nil
	}
	rec := mustRecord(t, o)
	const shape = "update shop.stock set n = ? where id = ?"
	if w := rec.LockWaits; len(w) != 1 || w[0].Table != "shop.stock" || w[0].Waiting != shape || w[0].WaitingID == "" || w[0].Samples == 0 || w[0].Host != rec.Run.Hosts[0].Name {
		t.Errorf("%+v", w)
	}
	if d := rec.Deadlocks; len(d) != 1 || d[0].Count != 1 || d[0].Table != "shop.stock" || len(d[0].Statements) != 2 || d[0].Statements[0] != shape || d[0].At > rec.Run.Length {
		t.Errorf("%+v", d)
	}
}
