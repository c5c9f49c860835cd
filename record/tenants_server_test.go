package record

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// querying is, in a child, a program that answers each request by a statement over a pool of
// two connections, and sends one every 5 ms unasked where $KASOKU_TEST_IDLE is not set.
func querying() {
	db, err := mysqlflags.OpenDSN(os.Getenv("KASOKU_TEST_DSN"))
	if err == nil {
		db.SetMaxIdleConns(2)
		db.SetMaxOpenConns(2)
		statement := os.Getenv("KASOKU_TEST_SQL")
		if os.Getenv("KASOKU_TEST_IDLE") == "" {
			go func() {
				for range time.Tick(5 * time.Millisecond) {
					_, _ = db.Exec(statement)
				}
			}()
		}
		err = http.ListenAndServe(os.Getenv("KASOKU_TEST_LISTEN"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, err := db.Exec(statement); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// tenant starts a program that asks a database, and returns where it answers.
func tenant(t *testing.T, dsn, statement string, more ...string) (address string) {
	t.Helper()
	address = freeAddress(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := command.Start(t.Context(), command.Spec{Path: exe, DieWithParent: true, Stderr: os.Stderr,
		Env: append([]string{"KASOKU_TEST_LISTEN=" + address, "KASOKU_TEST_DSN=" + dsn, "KASOKU_TEST_SQL=" + statement}, more...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	sandboxtest.Until(t, "the program answers", func() bool {
		resp, err := http.Get("http://" + address + "/")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return address
}

// TestRecord_Tenants: of a neighbour with a schema of its own on the same server the run has
// its share of the time and no statement; one that uses the service's schema is as before.
func TestRecord_Tenants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, user string
		apart, unix  bool
	}{
		"a schema of its own, the same user": {schema: "blog", apart: true},
		"a schema and a user of its own":     {schema: "blog", user: "blogger", apart: true},
		"one schema":                         {schema: "shop", user: "blogger"},
		"by Unix sockets":                    {schema: "blog", user: "blogger", apart: true, unix: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sandboxtest.MariaDB(t, sandbox.Options{Vars: map[string]string{"performance_schema": "ON"}})
			db := sandboxtest.DB(t, s, "")
			sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.own (id INT)", "INSERT INTO shop.own VALUES (1)")
			neighbourTable(t, db, c.schema, c.user)
			dsn := func(user, schema string) string {
				if !c.unix {
					return s.DSN(user, schema)
				}
				return strings.Replace(s.DSN(user, schema), "tcp("+s.Addr()+")", "unix("+s.Socket+")", 1)
			}
			app := tenant(t, dsn("", "shop"), "SELECT id FROM own WHERE id = 7", "KASOKU_TEST_IDLE=1")
			tenant(t, dsn(c.user, c.schema), "SELECT id FROM nbtable WHERE id = 7")

			for range 2 { // one waits for the other's lock
				tenant(t, dsn(c.user, c.schema), "SELECT id, SLEEP(0.4) FROM nbtable LIMIT 1 FOR UPDATE")
			}

			engine, err := nethttp.New(nethttp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "x.kasoku")
			_, err = Record(t.Context(), Options{Path: path, Capture: &capture.Options{Schema: true}, Database: Database{MySQL: s.DSN("", ""), SlowLog: true, RecycleConnections: true,
				Reconnects: true},
				Course: Course{Load: &Load{Targets: []load.Target{{Method: http.MethodGet, URL: "http://" + app + "/"}}, Engine: engine,
					Each: 4 * time.Second, Next: Climb(50)}}})
			if err != nil {
				t.Fatal(err)
			}
			rec, err := store.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			has := func(table string) bool {
				return slices.ContainsFunc(rec.Queries, func(q kasoku.Query) bool { return slices.Contains(q.Tables, table) })
			}
			said := slices.ContainsFunc(rec.Warnings, func(w kasoku.Warning) bool { return w.Code == "shared-server" })
			tenants, ok := kasoku.TenantsOf(rec)
			held := slices.ContainsFunc(rec.LockWaits, func(w kasoku.LockWait) bool { return w.Table == c.schema+".nbtable" })
			if held == c.apart {
				t.Errorf("waits for locks: %+v", rec.LockWaits)
			}
			if !has("own") || has("nbtable") == c.apart || said != c.apart || c.apart && !ok {
				t.Errorf("%+v\n%+v\n%+v %v", rec.Queries, rec.Warnings, tenants, ok)
			}
			if c.apart && (tenants.Others == 0 || tenants.Others > 6 || tenants.All < tenants.Others+1) {
				t.Errorf("connections %+v", tenants)
			}
			known, ok := kasoku.KnownOf(rec)
			if own := callsOf(rec, "own"); !ok || known.Own+known.Own/10 < own ||
				known.Own > own+own/10 || known.Statements < known.Own+100 {
				t.Errorf("%d calls of the service; known %+v", own, known)
			}
			all, err := json.Marshal(rec)
			if err != nil {
				t.Fatal(err)
			}
			if c.apart && bytes.Contains(all, []byte("nbtable")) {
				i := bytes.Index(all, []byte("nbtable"))
				t.Errorf("the run names the neighbour's table: %s", all[max(i-300, 0):min(i+100, len(all))])
			}
		})
	}
}

// callsOf returns how many statements of a run read a table.
func callsOf(rec *kasoku.Recording, table string) (calls uint64) {
	for _, q := range rec.Queries {
		if slices.Contains(q.Tables, table) {
			calls += q.Calls
		}
	}
	return calls
}

// neighbourTable makes a neighbour's table and, where it has a name, its user.
func neighbourTable(t *testing.T, db *sql.DB, schema, user string) {
	t.Helper()
	sandboxtest.Exec(t, db, "CREATE DATABASE IF NOT EXISTS "+schema, "CREATE TABLE "+schema+".nbtable (id INT)",
		"INSERT INTO "+schema+".nbtable SELECT seq FROM "+schema+".seq_1_to_3000")
	if user != "" {
		sandboxtest.Exec(t, db, "CREATE USER "+user+"@'%'", "GRANT ALL ON *.* TO "+user+"@'%'")
	}
}
