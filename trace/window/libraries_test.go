package window

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestTruth_GoLibraries: what sqlx and GORM run, with statements that they prepare, keep and name by
// themselves, is tied to the request that ran it. Their modules are none of ours: tools/setup downloads them.
func TestTruth_GoLibraries(t *testing.T) {
	needRights(t)
	turn.Wait(t)
	db := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	sandboxtest.Exec(t, sandboxtest.DB(t, db, ""), "CREATE DATABASE IF NOT EXISTS orm",
		"CREATE OR REPLACE TABLE orm.things (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)",
		"INSERT INTO orm.things VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')")
	bin := filepath.Join(t.TempDir(), "ormserver")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
	build.Dir, build.Env = "testdata/ormserver", append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	paths := []string{"/sqlx/select", "/sqlx/named", "/sqlx/tx", "/gorm/find", "/gorm/loop", "/gorm/prepared", "/gorm/tx",
		"/gorm/together"}
	for _, inFlight := range inFlights() {
		for _, options := range []string{"", "?interpolateParams=true"} {
			t.Run(fmt.Sprint(inFlight, options), func(t *testing.T) {
				addr, pid := startServer(t, bin, "-dsn", db.DSN("", "orm")+options, "-pool", "8")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ended when it was watched
				defer cancel()
				wg := drive(ctx, t, keepAlive(inFlight), "http://"+addr, inFlight, paths...)
				var j judge
				seen := watch(t, &j, Target{PID: pid, Member: "ormserver"})
				cancel()
				wg.Wait()
				j.perfect(t, seen, 100)
				if j.jobs == 0 {
					t.Error("no statement of a job was seen")
				}
			})
		}
	}
}
