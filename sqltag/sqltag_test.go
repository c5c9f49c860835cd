package sqltag_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/sqltag"
)

// A tape is a driver that keeps what it is asked to run.
type tape struct {
	mu  sync.Mutex
	ran []string
	old bool // it offers no more than a driver must
}

func (t *tape) Connect(context.Context) (driver.Conn, error) {
	if t.old {
		return &oldConn{t}, nil
	}
	return &tapeConn{oldConn{t}}, nil
}
func (t *tape) Driver() driver.Driver { return nil }

func (t *tape) run(query string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ran = append(t.ran, query)
}

func (t *tape) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ran[len(t.ran)-1]
}

type oldConn struct{ t *tape }

func (c *oldConn) Prepare(query string) (driver.Stmt, error) {
	c.t.run(query)
	return stmt{}, nil
}
func (*oldConn) Close() error              { return nil }
func (*oldConn) Begin() (driver.Tx, error) { return tx{}, nil }

type tapeConn struct{ oldConn }

func (c *tapeConn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	c.t.run(query)
	return driver.RowsAffected(1), nil
}

type stmt struct{}

func (stmt) Close() error                               { return nil }
func (stmt) NumInput() int                              { return -1 }
func (stmt) Exec([]driver.Value) (driver.Result, error) { return driver.RowsAffected(1), nil }
func (stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.New("no rows here") }

type tx struct{}

func (tx) Commit() error   { return nil }
func (tx) Rollback() error { return nil }

func exec(t testing.TB, ctx context.Context, db *sql.DB) {
	t.Helper()
	if _, err := db.ExecContext(ctx, "DELETE FROM t"); err != nil {
		t.Error(err)
	}
}

func TestRoutes(t *testing.T) {
	for _, old := range []bool{false, true} {
		tape := &tape{old: old}
		db := sql.OpenDB(sqltag.Connector(tape))
		defer db.Close()
		run := func(w http.ResponseWriter, r *http.Request) { exec(t, r.Context(), db) }
		mux := http.NewServeMux()
		mux.HandleFunc("GET /users/{id}", run)
		mux.HandleFunc("/any/", run)
		mux.HandleFunc("/plain", func(http.ResponseWriter, *http.Request) { exec(t, context.Background(), db) })
		mux.HandleFunc("/cleared", func(_ http.ResponseWriter, r *http.Request) { exec(t, sqltag.WithRoute(r.Context(), ""), db) })
		mux.HandleFunc("/tagged", func(_ http.ResponseWriter, r *http.Request) {
			if _, err := db.ExecContext(r.Context(), "/*route='job'*/ DELETE FROM t"); err != nil {
				t.Error(err)
			}
		})
		for _, tc := range []struct {
			h    http.Handler
			get  string
			want string
		}{
			{sqltag.Tag(mux), "/users/7", "/*route='GET%20%2Fusers%2F%7Bid%7D'*/ DELETE FROM t"},
			{sqltag.Tag(mux), "/any/thing", "/*route='GET%20%2Fany%2F'*/ DELETE FROM t"},
			{sqltag.Tag(mux), "/plain", "/*route='GET%20%2Fplain'*/ DELETE FROM t"},
			{sqltag.Tag(mux), "/cleared", "DELETE FROM t"},
			{sqltag.Tag(mux), "/tagged", "/*route='job'*/ DELETE FROM t"},
			{sqltag.Tag(http.HandlerFunc(run)), "/users/12/posts/8f3a99bc01", "/*route='GET%20%2Fusers%2F%3Aid%2Fposts%2F%3Aid'*/ DELETE FROM t"},
			{sqltag.TagBy(func(*http.Request) string { return "'*/ DROP" }, mux), "/any/", "/*route='%27%2A%2F%20DROP'*/ DELETE FROM t"},
			{sqltag.TagBy(func(*http.Request) string { return "" }, mux), "/any/", "DELETE FROM t"},
		} {
			tc.h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", tc.get, nil))
			if got := tape.last(); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.get, got, tc.want)
			}
		}
		exec(t, context.Background(), db)
		if got := tape.last(); got != "DELETE FROM t" {
			t.Errorf("after the requests: %s", got)
		}
	}
}

// TestInside: a middleware inside of a mux takes the pattern that the mux matched.
func TestInside(t *testing.T) {
	tape := &tape{}
	db := sql.OpenDB(sqltag.Connector(tape))
	defer db.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /a/{x}", sqltag.Tag(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { exec(t, r.Context(), db) })))
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/a/b", nil))
	if got, want := tape.last(), "/*route='GET%20%2Fa%2F%7Bx%7D'*/ DELETE FROM t"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestManyAtOnce: requests that run at once without contexts keep their routes.
func TestManyAtOnce(t *testing.T) {
	tape := &tape{}
	db := sql.OpenDB(sqltag.Connector(tape))
	defer db.Close()
	route := func(r *http.Request) string { return r.URL.Path }
	h := sqltag.TagBy(route, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := db.Exec("SET @path = '" + r.URL.Path + "'"); err != nil {
			t.Error(err)
		}
	}))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 50 {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/"+strings.Repeat("x", i+1), nil))
			}
		})
	}
	wg.Wait()
	for _, q := range tape.ran {
		tag, rest, _ := strings.Cut(strings.TrimPrefix(q, "/*route='"), "'*/ ")
		path, err := url.PathUnescape(tag)
		if err != nil || rest != "SET @path = '"+path+"'" {
			t.Fatalf("%q: route %q, %v", q, path, err)
		}
	}
	if len(tape.ran) != 800 {
		t.Errorf("%d statements", len(tape.ran))
	}
}

// TestOldDriver: what the driver does not offer is as it is without the package.
func TestOldDriver(t *testing.T) {
	db := sql.OpenDB(sqltag.Connector(&tape{old: true}))
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if _, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}); err == nil {
		t.Error("a read-only transaction of a driver that knows none")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.PrepareContext(gone, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Raw(func(own any) error {
		if _, ok := own.(interface{ Unwrap() driver.Conn }).Unwrap().(*oldConn); !ok {
			return errors.New("not the driver's own")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// BenchmarkRequest: what tagging adds to a request that runs one statement.
func BenchmarkRequest(b *testing.B) {
	run := func(b *testing.B, db *sql.DB, tag func(http.Handler) http.Handler, keepCtx bool) {
		defer db.Close()
		mux := http.NewServeMux()
		mux.HandleFunc("GET /users/{id}", func(_ http.ResponseWriter, r *http.Request) {
			ctx := r.Context()
			if !keepCtx {
				ctx = context.Background()
			}
			exec(b, ctx, db)
		})
		h, r := tag(mux), httptest.NewRequest("GET", "/users/7", nil)
		b.ReportAllocs()
		for b.Loop() {
			h.ServeHTTP(nil, r)
		}
	}
	none := func(h http.Handler) http.Handler { return h }
	b.Run("plain", func(b *testing.B) { run(b, sql.OpenDB(&discard{}), none, true) })
	b.Run("context", func(b *testing.B) { run(b, sql.OpenDB(sqltag.Connector(&discard{})), sqltag.Tag, true) })
	b.Run("goroutine", func(b *testing.B) { run(b, sql.OpenDB(sqltag.Connector(&discard{})), sqltag.Tag, false) })
}

// discard runs nothing and keeps nothing.
type discard struct{ tape }

func (d *discard) Connect(context.Context) (driver.Conn, error) { return discardConn{}, nil }

type discardConn struct{}

func (discardConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}
func (discardConn) Begin() (driver.Tx, error)           { return tx{}, nil }
func (discardConn) Close() error                        { return nil }
func (discardConn) Prepare(string) (driver.Stmt, error) { return stmt{}, nil }
