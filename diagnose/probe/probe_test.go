package probe

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// shelf is a small service: shelves of books, whose authors are looked up one by one.
type shelf struct{ db *sql.DB }

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/orders":
		err = s.exec(r.Context(), "INSERT INTO orders (note) VALUES ('x')")
	case r.URL.Path == "/shelves":
		err = s.exec(r.Context(), "SELECT id, name FROM shelves ORDER BY id")
	case strings.HasPrefix(r.URL.Path, "/shelves/"):
		err = s.books(r.Context(), strings.TrimPrefix(r.URL.Path, "/shelves/"))
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *shelf) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}

// books reads a shelf and, for each book, its author: N+1.
func (s *shelf) books(ctx context.Context, id string) error {
	n, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id, author FROM books WHERE shelf = ?", n)
	if err != nil {
		return err
	}
	defer rows.Close()
	var authors []int
	for rows.Next() {
		var book, author int
		if err := rows.Scan(&book, &author); err != nil {
			return err
		}
		authors = append(authors, author)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, a := range authors {
		if err := s.exec(ctx, "SELECT name FROM authors WHERE id = ?", a); err != nil {
			return err
		}
	}
	return nil
}

// startShelf makes the tables and starts the service: shelf n holds n books.
func startShelf(t *testing.T, s *sandbox.Server, params string) *httptest.Server {
	t.Helper()
	admin := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, admin, "CREATE DATABASE bookshop", "CREATE TABLE bookshop.shelves (id INT PRIMARY KEY, name VARCHAR(20))",
		"CREATE TABLE bookshop.authors (id INT PRIMARY KEY, name VARCHAR(20))", "CREATE TABLE bookshop.orders (id INT PRIMARY KEY AUTO_INCREMENT, note VARCHAR(20))",
		"CREATE TABLE bookshop.books (id INT PRIMARY KEY AUTO_INCREMENT, shelf INT, author INT, KEY (shelf))")
	var books []string
	for n := 1; n <= 9; n++ {
		sandboxtest.Exec(t, admin, fmt.Sprintf("INSERT INTO bookshop.shelves VALUES (%d, 'shelf')", n), fmt.Sprintf("INSERT INTO bookshop.authors VALUES (%d, 'someone')", n))
		for a := 1; a <= n; a++ {
			books = append(books, fmt.Sprintf("(%d, %d)", n, a))
		}
	}
	sandboxtest.Exec(t, admin, "INSERT INTO bookshop.books (shelf, author) VALUES "+strings.Join(books, ","))
	db, err := mysqlflags.OpenDSN(s.DSN("", "bookshop") + params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	web := httptest.NewServer(&shelf{db})
	t.Cleanup(web.Close)
	return web
}

func targets(base string) []load.Target {
	var out []load.Target
	for n := 4; n <= 9; n++ {
		out = append(out, load.Target{Method: "GET", URL: fmt.Sprintf("%s/shelves/%d", base, n)})
	}
	return append(out, load.Target{Method: "GET", URL: base + "/shelves"}, load.Target{Method: "POST", URL: base + "/orders"})
}

func TestProbe(t *testing.T) {
	turn.Wait(t)
	for _, params := range []string{"", "?interpolateParams=true"} {
		sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
			web := startShelf(t, s, params)
			admin := sandboxtest.DB(t, s, "")
			for _, table := range []bool{false, true} {
				t.Run(fmt.Sprintf("table=%t", table), func(t *testing.T) { probeOnce(t, s, admin, web.URL, table) })
			}
		})
	}
}

// probeOnce holds one probe to its promise: exact counts, and nothing left changed.
func probeOnce(t *testing.T, s *sandbox.Server, admin *sql.DB, base string, table bool) {
	before := globals(t, admin)
	endpoints, skipped, err := FromTargets(targets(base), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if len(endpoints) != 2 || len(skipped) != 1 || skipped[0].Endpoint != "POST /orders" {
		t.Fatalf("asked %v, skipped %v", endpoints, skipped)
	}
	stop := jobs(t, s)
	res, err := Run(t.Context(), Options{DSN: s.DSN("", ""), Endpoints: endpoints, Table: table, Guard: guard.Options{Dir: filepath.Join(t.TempDir(), "journals")}, Recycle: &recycle.Options{Confirmed: true}})
	stop()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range globals(t, admin) {
		if before[name] != value {
			t.Errorf("%s was %q and is %q", name, before[name], value)
		}
	}
	if res.Requests != 24 {
		t.Errorf("%d requests, want 24", res.Requests)
	}
	got := map[string]kasoku.Caller{}
	for _, x := range res.Callers {
		i := slices.IndexFunc(res.Queries, func(q kasoku.Query) bool { return q.ID == x.QueryID })
		got[x.Endpoint()+" "+res.Queries[i].Tables[0]] = x
	}
	if len(got) != 3 {
		t.Errorf("%d pairs, want 3: %v", len(got), slices.Collect(maps.Keys(got)))
	}
	list, lookup := got["GET /shelves/:id books"], got["GET /shelves/:id authors"]
	if list.PerRequest != 1 || got["GET /shelves shelves"].PerRequest != 1 {
		t.Errorf("lists: %+v, %+v", list, got["GET /shelves shelves"])
	}
	if lookup.PerRequest != 6.5 || lookup.Least != 4 || lookup.Most != 9 || lookup.Class != kasoku.CallerConfirmed || lookup.Source != kasoku.FromProbe {
		t.Errorf("lookup: %+v", lookup)
	}
	if lookup.List != list.QueryID || math.Abs(lookup.Slope-1) > 1e-9 || lookup.Correlation < 0.999 {
		t.Errorf("list of the lookup %q, slope %v, correlation %v", lookup.List, lookup.Slope, lookup.Correlation)
	}
	if want := "GET /shelves/:id runs Q 6.5 times per request (probe, 12 requests, 4–9)"; Sentence(&lookup, "Q") != want {
		t.Errorf("sentence %q, want %q", Sentence(&lookup, "Q"), want)
	}
	if len(res.Background) == 0 || !strings.Contains(res.Background[0].Fingerprint, "sleep") {
		t.Errorf("background %+v", res.Background)
	}
	if len(res.Warnings) > 0 {
		t.Errorf("warnings %+v; %d logged of %v", res.Warnings, res.Logged, res.Questions)
	}
}

// jobs runs statements that belong to no request, until it is stopped.
func jobs(t *testing.T, s *sandbox.Server) (stop func()) {
	db := sandboxtest.DB(t, s, "bookshop")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(30 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				conn, err := db.Conn(ctx) // a session of its own each time, so that it logs
				if err != nil {
					return
				}
				_, _ = conn.ExecContext(ctx, "DO SLEEP(0)")
				_ = conn.Raw(func(any) error { return sql.ErrConnDone })
				_ = conn.Close()
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// globals are the settings of the slow log.
func globals(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SHOW GLOBAL VARIABLES WHERE Variable_name LIKE '%slow%' OR Variable_name IN ('long_query_time', 'log_output', 'min_examined_row_limit')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		out[name] = value
	}
	return out
}

// TestStale: a pool whose sessions are older than the change logs nothing, and the
// probe says so.
func TestStale(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	web := startShelf(t, s, "")
	for n := range 3 {
		resp, err := http.Get(fmt.Sprintf("%s/shelves/%d", web.URL, 4+n))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	endpoints, _, err := FromTargets(targets(web.URL), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{DSN: s.DSN("", ""), Endpoints: endpoints})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Callers) > 0 || len(res.Warnings) != 1 || res.Warnings[0].Code != Partial {
		t.Errorf("callers %+v, warnings %+v", res.Callers, res.Warnings)
	}
}
