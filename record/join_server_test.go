package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// shelf is a small service: a look-up that two endpoints share, a list that asks
// once for each of its rows, a transaction, and an endpoint that asks nothing.
type shelf struct {
	db      *sql.DB
	comment bool // statements name their route
}

const shelfRows = 8 // of the list

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	var err error
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/books/"):
		route := "GET /books/{id}"
		err = errors.Join(s.one(ctx, route, "SELECT name FROM readers WHERE id = ?", rand.IntN(100)),
			s.one(ctx, route, "SELECT title FROM books WHERE id = ?", strings.TrimPrefix(path, "/books/")))
	case path == "/list":
		err = s.list(ctx)
	case path == "/borrow":
		err = s.borrow(ctx)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	time.Sleep(time.Duration(1+rand.IntN(3)) * time.Millisecond) // what else a service does
	fmt.Fprintln(w, "ok")
}

func (s *shelf) said(route, statement string) string {
	if !s.comment {
		return statement
	}
	return "/*route='" + strings.ReplaceAll(strings.ReplaceAll(route, " ", "%20"), "/", "%2F") + "'*/ " + statement
}

func (s *shelf) one(ctx context.Context, route, statement string, arg any) error {
	var text string
	return s.db.QueryRowContext(ctx, s.said(route, statement), arg).Scan(&text)
}

func (s *shelf) list(ctx context.Context) error {
	const route = "GET /list"
	if err := s.one(ctx, route, "SELECT name FROM readers WHERE id = ?", rand.IntN(100)); err != nil {
		return err
	}
	rows, err := s.db.QueryContext(ctx, s.said(route, "SELECT id FROM books ORDER BY id LIMIT ?"), shelfRows)
	if err != nil {
		return err
	}
	var ids []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := s.one(ctx, route, "SELECT author FROM authors WHERE book = ?", id); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *shelf) borrow(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, s.said("POST /borrow", "UPDATE loans SET n = n + 1 WHERE book = ?"), rand.IntN(100)); err != nil {
		return err
	}
	return tx.Commit()
}

// shelfTables makes the tables of a shelf.
func shelfTables(t *testing.T, db *sql.DB) {
	t.Helper()
	sandboxtest.Exec(t, db, "CREATE DATABASE shelf")
	for table, column := range map[string]string{"readers": "name VARCHAR(20)", "books": "title VARCHAR(20)"} {
		sandboxtest.Exec(t, db, "CREATE TABLE shelf."+table+" (id INT PRIMARY KEY, "+column+")")
	}
	sandboxtest.Exec(t, db, "CREATE TABLE shelf.authors (book INT PRIMARY KEY, author VARCHAR(20))", "CREATE TABLE shelf.loans (book INT PRIMARY KEY, n INT)")
	for _, table := range []string{"readers (id, name)", "books (id, title)", "authors (book, author)", "loans (book, n)"} {
		values := make([]string, 100)
		for i := range values {
			values[i] = fmt.Sprintf("(%d, '%d')", i, i)
		}
		sandboxtest.Exec(t, db, "INSERT INTO shelf."+table+" VALUES "+strings.Join(values, ","))
	}
}

// visit sends requests to the service until the context ends.
func visit(ctx context.Context, url string, visitors int) {
	var wg sync.WaitGroup
	for range visitors {
		wg.Go(func() {
			for ctx.Err() == nil {
				method, path := "GET", "/health"
				switch rand.IntN(4) {
				case 0:
					path = fmt.Sprintf("/books/%d", rand.IntN(100))
				case 1:
					path = "/list"
				case 2:
					method, path = "POST", "/borrow"
				}
				req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, url+path, nil)
				if err != nil {
					return
				}
				if resp, err := http.DefaultClient.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				pause(ctx, time.Duration(5+rand.IntN(15))*time.Millisecond)
			}
		})
	}
	wg.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// TestWhoIssues records a service that nginx passes to, and holds what the run says of who
// issues which query to what the service does.
func TestWhoIssues(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin"}}, func(t *testing.T, server *sandbox.Server) {
		db := sandboxtest.DB(t, server, "")
		shelfTables(t, db)
		kinds := []string{JoinAuto, "comments"}
		if server.Kind == sandbox.KindMariaDB {
			kinds = append(kinds, JoinTable)
		}
		for _, kind := range kinds {
			t.Run(kind, func(t *testing.T) {
				before := globals(t, db)
				rec := recordShelf(t, server, kind)
				unchanged(t, db, before)
				checkShelf(t, rec, kind)
			})
		}
	})
}

func recordShelf(t *testing.T, server *sandbox.Server, kind string) *kasoku.Recording {
	app := &shelf{comment: kind == "comments"}
	upstream := httptest.NewServer(app)
	defer upstream.Close()
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Upstream: upstream.Listener.Addr().String()})
	o := quick(t)
	o.MySQL, o.SlowLog, o.AccessLog, o.For, o.NoPlans = server.DSN("", "shelf"), true, web.AccessLog, 4*time.Second, true
	if app.comment {
		o.For = 2 * time.Second // counted, so few will do
	}
	if kind == JoinTable {
		o.Join = JoinTable
	}
	var err error
	if app.db, err = mysqlflags.OpenDSN(server.DSN("", "shelf")); err != nil {
		t.Fatal(err)
	}
	defer app.db.Close()
	app.db.SetMaxOpenConns(10)
	app.db.SetMaxIdleConns(10)
	// The pool is open and idle before the slow log is switched on.
	conns := make([]*sql.Conn, 4)
	for i := range conns {
		if conns[i], err = app.db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range conns {
		_ = c.Close()
	}
	o.RecycleConnections, o.Reconnects, o.Service.URL = true, true, web.URL()+"/list"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	o.Prepare = func(context.Context, Watch) error {
		wg.Go(func() { visit(ctx, web.URL(), 4) })
		return nil
	}
	rec := mustRecord(t, o)
	stop()
	wg.Wait()
	return rec
}

func checkShelf(t *testing.T, rec *kasoku.Recording, kind string) {
	t.Helper()
	if len(rec.Joins) != 1 {
		t.Fatalf("%d joins; warnings %v", len(rec.Joins), rec.Warnings)
	}
	j := &rec.Joins[0]
	t.Logf("%s, %s: %d requests, %d statements, busy %.1f of %d, saturated %v, background %.0f, refused %q, CPU %s", j.Source, j.Resolution, j.Requests, j.Statements, j.Busy, j.Connections, j.Saturated, j.Background, j.Refused, j.CPU)
	for _, c := range j.Checks {
		t.Logf("%v %s: %s", c.Holds, c.Name, c.Text)
		if (c.Name == "logged statements" || c.Name == "requests given up" || c.Name == "clocks") && !c.Holds {
			t.Errorf("%s: %s", c.Name, c.Text)
		}
	}
	if !slices.ContainsFunc(rec.Changes, func(c kasoku.Change) bool { return c.Name == "idle sessions" && c.Restored }) {
		t.Errorf("idle sessions were not ended: %+v", rec.Changes)
	}
	names := map[string]string{}
	for _, q := range rec.Queries {
		names[q.ID] = q.Fingerprint
	}
	found := map[string]kasoku.Caller{}
	for _, c := range rec.Callers {
		t.Logf("%s %s: %s %.2f per request (%.2f to %.2f), %.0f %%, decisive %.2f, loop %v %s", c.Source, c.Class, c.Endpoint(), c.PerRequest, c.Least, c.Most, 100*c.Share, c.Decisive, c.Loop, names[c.QueryID])
		found[c.Endpoint()+": "+names[c.QueryID]] = c
	}
	for pair, times := range map[string]float64{
		"GET /books/:id: select name from readers where id = ?": 1, "GET /books/:id: select title from books where id = ?": 1,
		"GET /list: select name from readers where id = ?": 1, "GET /list: select id from books order by id limit ?": 1,
		"GET /list: select author from authors where book = ?":    shelfRows,
		"POST /borrow: update loans set n = n ? ? where book = ?": 1, "POST /borrow: commit": 1,
	} {
		c, ok := found[pair]
		if !ok {
			t.Errorf("%s is not reported", pair)
			continue
		}
		if c.PerRequest < 0.8*times || c.PerRequest > 1.25*times {
			t.Errorf("%s: %.2f per request, want %g", pair, c.PerRequest, times)
		}
		if confirmed := c.Class == kasoku.CallerConfirmed; confirmed != (kind == "comments") {
			t.Errorf("%s: %s", pair, c.Class)
		}
	}
	for _, c := range rec.Callers { // of four seconds chance may make something possible
		if c.Route == "/health" && (c.Class != kasoku.CallerPossible || c.Least > 0 || c.PerRequest > 0.1) {
			t.Errorf("/health asks nothing, but %+v", c)
		}
	}
}

// TestTableOverlaps: what recordings send to the slow log's table is gone when the last of them has
// ended, whichever that is; rows of the user's own stay.
func TestTableOverlaps(t *testing.T) {
	turn.Wait(t)
	server := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--skip-log-bin"}})
	db := sandboxtest.DB(t, server, "")
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rows := func() (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM mysql.slow_log").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ask := func() error {
		own, err := mysqlflags.OpenDSN(server.DSN("", ""))
		if err != nil {
			return err
		}
		defer own.Close()
		_, err = own.ExecContext(t.Context(), "SELECT 1 + 1")
		return err
	}
	for name, length := range map[string][2]time.Duration{"first ends first": {time.Second, 3 * time.Second}, "second ends first": {3 * time.Second, time.Second}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			options := func(n int) Options {
				o := quick(t)
				o.MySQL, o.SlowLog, o.AccessLog, o.For, o.NoPlans, o.Join = server.DSN("", ""), true, log, length[n], true, JoinTable
				o.Guard = &Guard{Dir: dir}
				return o
			}
			first, second := options(0), options(1)
			var wg sync.WaitGroup
			first.Prepare = during(func() error {
				wg.Go(func() { mustRecord(t, second) })
				return ask()
			})
			second.Prepare = during(func() error {
				err := ask()
				if rows() == 0 {
					t.Error("no row came: nothing was tried")
				}
				return err
			})
			mustRecord(t, first)
			wg.Wait()
			if n := rows(); n != 0 {
				t.Errorf("%d rows stay", n)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left over: %v, %v", left, err)
			}
		})
	}
	sandboxtest.Exec(t, db, "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL slow_query_log = 1", "SET GLOBAL long_query_time = 0")
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Exec(t, db, "SET GLOBAL long_query_time = 10", "SET GLOBAL log_output = 'FILE'")
	own := rows()
	o := quick(t)
	o.MySQL, o.SlowLog, o.AccessLog, o.Join = server.DSN("", ""), true, log, JoinTable
	if rec := mustRecord(t, o); !slices.ContainsFunc(rec.Warnings, func(w kasoku.Warning) bool { return w.Code == "no-slow-table" }) {
		t.Errorf("%v", rec.Warnings)
	}
	if n := rows(); n != own || own == 0 {
		t.Errorf("%d rows of the user's own were %d", n, own)
	}
}
