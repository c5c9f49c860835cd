package record

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestOwnStatements: of a run by digests of a server on which one other program asks one thing,
// that is all: no statement of the recorder, of its guard, or of a second recorder counts, and
// none of what they do to the server's counters.
func TestOwnStatements(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{Vars: map[string]string{"performance_schema": "ON"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY)")
		o := quick(t)
		o.MySQL, o.Digests, o.SlowLog, o.For = s.DSN("", ""), true, true, 4*time.Second
		o.Prepare = during(func() error {
			for range 5 {
				if _, err := db.ExecContext(t.Context(), "SELECT COUNT(*) FROM shop.items"); err != nil {
					return err
				}
			}
			return nil
		})
		rec := mustRecord(t, o)
		for _, q := range rec.Queries {
			if !strings.Contains(q.Sample, "items") || q.Calls != 5 {
				t.Errorf("%d × %s", q.Calls, q.Sample)
			}
		}
		if len(rec.Queries) == 0 {
			t.Error("no statement")
		}
		const ticks, underWay = 40, 10 // a look at the sessions is three questions, and may be read after the server
		for _, name := range []string{"Created_tmp_tables", "Created_tmp_disk_tables", "Select_full_join", "Sort_scan"} {
			for i := range rec.Series {
				if x := &rec.Series[i]; x.Key.Source == "mysql" && x.Key.Name == name {
					if grown, ok := x.Delta(kasoku.Interval{From: time.Second / 2, To: o.For}); !ok || grown > underWay {
						t.Errorf("%s grew by %v in %d ticks", name, grown, ticks)
					}
				}
			}
		}
	})
}
