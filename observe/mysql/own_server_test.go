package mysql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestOwnWork: what kasoku's own sessions add to a server's counters counts nowhere; what others
// add counts whole, also beside it.
func TestOwnWork(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		s, db := open(t, srv), sandboxtest.DB(t, srv, "")
		locks, d := mysql.NewLocks(openAs(t, srv, ""), s, lower), mysql.NewDetail(openAs(t, srv, ""), s, lower)
		t.Cleanup(func() {
			for _, err := range []error{locks.Release(), d.Release()} {
				if err != nil {
					t.Error(err)
				}
			}
		})
		tick := func() map[string]kasoku.Sample {
			t.Helper()
			var f kasoku.Frame
			for _, source := range []interface {
				Collect(context.Context, *kasoku.Frame) error
			}{locks, d.Replication, d.Digests, d.Tables} {
				if err := source.Collect(t.Context(), &f); err != nil {
					t.Fatal(err)
				}
			}
			return collect(t, s)
		}
		tick()
		before := tick()
		const ticks = 20
		var now map[string]kasoku.Sample
		for range ticks {
			now = tick()
		}
		counters := strings.Fields("Handler_write Handler_tmp_write Handler_read_first Handler_read_key Created_tmp_tables Created_tmp_disk_tables Select_scan Select_full_join Sort_scan Sort_rows Handler_read_rnd_next")
		for _, name := range counters {
			if grown := now[name].Value - before[name].Value; grown != 0 {
				t.Errorf("%s grew by %v in %d ticks of a server that nobody else asks", name, grown, ticks)
			}
		}
		const calls = 7
		for range calls {
			if _, err := db.ExecContext(t.Context(), "DO (SELECT COUNT(*) FROM (SELECT a, COUNT(*) n FROM (SELECT 1 a UNION SELECT 2) x GROUP BY a ORDER BY n, a) y)"); err != nil {
				t.Fatal(err)
			}
			tick()
		}
		after := tick()
		for _, name := range []string{"Created_tmp_tables", "Select_scan"} {
			if grown := after[name].Value - now[name].Value; grown < calls || int(grown)%calls != 0 {
				t.Errorf("%s grew by %v for %d statements of another", name, grown, calls)
			}
		}
	})
}
