package userapi

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
)

func TestParseDefects(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		d, err := ParseDefects(in)
		if err != nil {
			t.Fatalf("ParseDefects(%q): %v", in, err)
		}
		if d.String() != want {
			t.Fatalf("ParseDefects(%q) = %s, want %s", in, d, want)
		}
	}
	f("none", "none")
	f("", "none")
	f("all", "POOL-01,POOL-02,DRV-01,DRV-04,DRV-05")
	f("drv-04, pool-01,DRV-04", "DRV-04,POOL-01")
	f("ops-01,IDX-08", "OPS-01,IDX-08")
	if _, err := ParseDefects("POOL-99"); err == nil {
		t.Fatal("an unknown defect was taken")
	}
}

func TestPool(t *testing.T) {
	f := func(d Defects, maxIdle int, want pool) {
		t.Helper()
		if got := (Config{Defects: d, MaxIdle: maxIdle}).pool(); got != want {
			t.Fatalf("pool with %s, idle %d = %+v, want %+v", d, maxIdle, got, want)
		}
	}
	f(Tuned(), 0, pool{100, 100})
	f(Seeded(), 0, pool{0, -1})
	f(Seeded().Without("POOL-01"), 0, pool{0, 1000})
	f(Seeded().Without("POOL-01"), 10_000, pool{0, 10_000})
	f(Seeded().Without("POOL-02"), 0, pool{100, -1})
}

// TestAnswers: the bytes and the type are those of the source, which is how runs with
// failures are known by their bytes alone: 5 of a success, 24 of a failure.
func TestAnswers(t *testing.T) {
	f := func(code int, text, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		answerJSON(w, code, text)
		if got := w.Body.String(); w.Code != code || got != want ||
			w.Header().Get("Content-Type") != "application/json; charset=UTF-8" {
			t.Errorf("%d %q %v, want %d %q", w.Code, got, w.Header(), code, want)
		}
	}
	f(http.StatusOK, `"OK"`, "\"OK\"\n")
	f(http.StatusInternalServerError, `"Internal Server Error"`, "\"Internal Server Error\"\n")
}

// TestDefects checks that each defect leaves its own trace on the server and in
// the log, and that the tuned service leaves none.
func TestDefects(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MariaDB")
	}
	db, err := sandbox.MariaDB(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Stop(context.WithoutCancel(t.Context()))
	admin, err := mysqlflags.OpenDSN(db.DSN("root", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, q := range []string{"CREATE DATABASE userapi", CreateTable} {
		if _, err := admin.Exec(strings.Replace(q, "EXISTS users", "EXISTS userapi.users", 1)); err != nil {
			t.Fatal(err)
		}
	}
	const requests = 20
	f := func(d Defects, want map[string]int, logged bool) {
		t.Helper()
		before := status(t, admin)
		log := serveAndPost(t, db.DSN("root", "userapi"), d, requests)
		after := status(t, admin)
		for name, n := range want {
			if got := after[name] - before[name]; got != n {
				t.Errorf("defects %s: %s grew by %d, want %d", d, name, got, n)
			}
		}
		if got := strings.Contains(log, "INSERT INTO users"); got != logged {
			t.Errorf("defects %s: SQL in the log: %v, want %v", d, got, logged)
		}
	}
	f(Tuned(), map[string]int{"Com_stmt_prepare": 0, "Com_update": 0, "Com_insert": requests, "Com_begin": 0}, false)
	f(Defects{"DRV-01"}, map[string]int{"Com_stmt_prepare": requests, "Com_insert": requests}, false)
	f(Defects{"DRV-04"}, map[string]int{"Com_update": requests, "Com_insert": requests, "Com_commit": 2 * requests},
		false)
	f(Defects{"DRV-05"}, map[string]int{"Com_insert": requests}, true)
	var rows int
	if err := admin.QueryRow("SELECT COUNT(*) FROM userapi.users").Scan(&rows); err != nil || rows != 4*requests {
		t.Fatalf("%d rows, %v; want %d", rows, err, 4*requests)
	}
}

func status(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	out := map[string]int{}
	rows, err := db.Query("SHOW GLOBAL STATUS LIKE 'Com\\_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		out[name] = n
	}
	return out
}

func serveAndPost(t *testing.T, dsn string, d Defects, requests int) (appLog string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	access, app := command.NewTail(1<<20), command.NewTail(1<<20)
	ready := make(chan string, 1)
	served := make(chan error, 1)
	stop, stopServing := context.WithCancel(ctx)
	go func() {
		served <- Serve(stop, Config{Listen: "127.0.0.1:0", DSN: dsn, Defects: d, AccessLog: access, AppLog: app,
			Ready: func(addr string) { ready <- addr }})
	}()
	var addr string
	select {
	case addr = <-ready:
	case err := <-served:
		t.Fatal(err)
	}
	for range requests {
		resp, err := http.Post("http://"+addr+"/users", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %s", resp.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	stopServing()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(access.String(), "uri:/users\tstatus:200\tsize:5\treqtime:0."); n != requests {
		t.Errorf("%d access log lines, want %d:\n%s", n, requests, access.String())
	}
	return app.String()
}
