package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// TestDigests: where no slow log is read, the queries come from statement
// digests, and the run says so.
func TestDigests(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin", "--performance-schema=ON"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))",
			"UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
		app := pool(t, s)
		for _, slow := range []bool{false, true} {
			o := quick(t)
			o.MySQL, o.SlowLog, o.Digests = s.DSN("", "shop"), slow, true
			o.Guard = &Guard{Dir: filepath.Join(t.TempDir(), "state")}
			o.Prepare = func(ctx context.Context, _ Watch) error {
				if slow {
					return insert(ctx, pool(t, s), 25)
				}
				for range 25 {
					if _, err := app.ExecContext(ctx, "INSERT INTO items (name) VALUES ('x')"); err != nil {
						return err
					}
				}
				return nil
			}
			rec := mustRecord(t, o)
			// Counted by the slow log, a prepared statement is two entries, of which one inserts.
			if n := inserts(rec); n != 25 {
				t.Errorf("slow log %t: %d inserts", slow, n)
			}
			if said := warned(rec, "digests"); (said.Text == "") != slow {
				t.Errorf("slow log %t: warning %q", slow, said.Text)
			}
			for _, q := range rec.Queries {
				if !slow && (q.Sample == "" || (q.Latency.Count() > 0) != (s.Kind == sandbox.KindMySQL97)) || q.Host == "" || len(q.ID) != 32 {
					t.Errorf("slow log %t: %+v", slow, q)
				}
			}
			var consumer kasoku.Change
			for _, c := range rec.Changes {
				if !c.Restored {
					t.Errorf("change %+v", c)
				}
				if c.Name == "setup_consumers.statements_digest" {
					consumer = c
				}
			}
			if consumer.Before != "NO" || consumer.During != "YES" || consumer.Object == "" {
				t.Errorf("changes %+v", rec.Changes)
			}
			if left, err := os.ReadDir(o.Guard.Dir); err != nil || len(left) != 0 {
				t.Errorf("left in the journal: %v, %v", left, err)
			}
		}
	})
}

// TestDigests_PoolOpenBefore: sessions that were open before the run write nothing to the slow
// log; what the server counts all the same is the run's, with a plan where it keeps a sample.
func TestDigests_PoolOpenBefore(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin", "--performance-schema=ON",
		"--performance-schema-consumer-statements-digest=ON"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))")
		app := pool(t, s)
		o := quick(t)
		o.MySQL, o.SlowLog, o.AccessLog = s.DSN("", "shop"), true, filepath.Join(t.TempDir(), "access.log")
		if err := os.WriteFile(o.AccessLog, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		o.Prepare = func(ctx context.Context, _ Watch) error {
			if _, err := pool(t, s).ExecContext(ctx, "DELETE FROM items WHERE id = 0"); err != nil { // the log has it
				return err
			}
			for range 40 {
				if _, err := app.ExecContext(ctx, "UPDATE items SET name = 'x' WHERE name = 'secret'"); err != nil {
					return err
				}
			}
			return nil
		}
		rec := mustRecord(t, o)
		var calls uint64
		for _, q := range rec.Queries {
			if q.Verb == "UPDATE" && slices.Contains(q.Tables, "items") {
				calls += q.Calls
			}
			if q.Raw != "" {
				t.Errorf("the run keeps a statement as it was sent: %q", q.Raw)
			}
		}
		if calls != 40 || warned(rec, "digests").Text == "" || warned(rec, "slow-log-partial").Text == "" {
			t.Errorf("%d of 40 statements, warnings %+v", calls, rec.Warnings)
		}
		if planned := len(rec.Plans) > 0 && rec.Plans[0].Text != ""; planned != (s.Kind == sandbox.KindMySQL97) {
			t.Errorf("plans %+v", rec.Plans)
		}
	})
}

// TestDigests_Off: a MariaDB as it starts by default has no digests; the run
// goes on and says what to do.
func TestDigests_Off(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	o := quick(t)
	o.MySQL, o.Digests = s.DSN("", ""), true
	rec := mustRecord(t, o)
	w := warned(rec, "no-digests")
	if !strings.Contains(w.Text, "performance_schema is off") || !strings.Contains(w.Hint, "performance_schema=ON") || len(rec.Queries) != 0 {
		t.Errorf("warning %+v, queries %+v", w, rec.Queries)
	}
}

// TestKeepLeft: the file of a run whose recorder died learns what became of its
// changes; one that is gone needs nothing.
func TestKeepLeft(t *testing.T) {
	o := quick(t)
	mustRecord(t, o)
	left := guard.Left{Run: o.Path, Flavor: mysql.MariaDB, Changes: []mysql.Changed{{Name: "slow_query_log", Before: "OFF", During: "ON", Restored: true}}}
	if err := KeepLeft(left); err != nil {
		t.Fatal(err)
	}
	rec, err := store.Open(o.Path)
	if err != nil || len(rec.Changes) != 1 || rec.Changes[0] != (kasoku.Change{Object: "mariadb", Name: "slow_query_log", Before: "OFF", During: "ON", Restored: true}) {
		t.Errorf("%+v, %v", rec.Changes, err)
	}
	if err := errors.Join(os.Remove(o.Path), KeepLeft(left), KeepLeft(guard.Left{})); err != nil {
		t.Error(err)
	}
}

// TestGuard_Missing: a guard that cannot be started costs a warning, not the run.
func TestGuard_Missing(t *testing.T) {
	o := quick(t)
	o.For, o.Command = 0, []string{"true"}
	o.Guard = &Guard{}
	o.Guard.Program.Path = "/no/such/program"
	rec := mustRecord(t, o)
	if w := warned(rec, "no-guard"); !strings.Contains(w.Text, "start guard") || !strings.Contains(w.Hint, "kasoku restore") {
		t.Errorf("%+v", w)
	}
	// One that ends early is reported, too.
	o = quick(t)
	o.For, o.Command, o.Guard = 0, []string{"true"}, &Guard{}
	o.Guard.Program.Path = "false"
	rec = mustRecord(t, o)
	if w := warned(rec, "no-guard"); !strings.Contains(w.Text, "guard: ") {
		t.Errorf("%+v", w)
	}
}

// TestAskService_Own: what guards the run's changes asks the database, and is no program outside of
// the service for whose connections none is recycled.
func TestAskService_Own(t *testing.T) {
	o := quick(t)
	if o.own = []int{7}; !slices.Equal(askService(o).Own, o.own) {
		t.Errorf("asked without the guard: %+v", askService(o))
	}
}
