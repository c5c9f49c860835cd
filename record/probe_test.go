package record

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestProbeAtTheEnd: a run that may asks its endpoints alone, and its callers are
// confirmed.
func TestProbeAtTheEnd(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	admin := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, admin, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO shop.items VALUES (1, 'a'), (2, 'b')")
	var db *sql.DB
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			if _, err := db.ExecContext(r.Context(), "SELECT name FROM items WHERE id = 1"); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}
	}))
	defer web.Close()
	before := globals(t, admin)
	db = sandboxtest.DB(t, s, "shop")
	engine, err := nethttp.New(nethttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := load.Target{Method: "GET", URL: web.URL + "/items"}
	res, err := Record(t.Context(), Options{
		Path: filepath.Join(t.TempDir(), "a.kasoku"),
		Database: Database{MySQL: s.DSN("", ""), SlowLog: true,
			Probe: &Probe{Requests: 5}},
		Course: Course{Load: &Load{Targets: []load.Target{target}, Engine: engine, Each: time.Second, Next: Climb(20)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	unchanged(t, admin, before)
	if n := len(res.Recording.Callers); n != 1 {
		t.Fatalf("%d callers: %+v; warnings %+v", n, res.Recording.Callers, res.Recording.Warnings)
	}
	c := res.Recording.Callers[0]
	if c.Endpoint() != "GET /items" || c.PerRequest != 3 || c.Class != kasoku.CallerConfirmed || c.Source != kasoku.FromProbe || c.Requests != 5 || c.Host == "" {
		t.Errorf("caller %+v", c)
	}
}
