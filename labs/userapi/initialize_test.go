package userapi

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// served runs the service until the end of the test or until stop is called.
func served(t *testing.T, cfg Config) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan string, 1)
	ended := make(chan error, 1)
	cfg.Listen, cfg.AccessLog, cfg.Ready = "127.0.0.1:0", io.Discard, func(addr string) { ready <- addr }
	if cfg.AppLog == nil {
		cfg.AppLog = io.Discard
	}
	go func() { ended <- Serve(ctx, cfg) }()
	select {
	case addr := <-ready:
		url = "http://" + addr
	case err := <-ended:
		t.Fatal(err)
	}
	return url, func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func ask(t *testing.T, method, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %v", method, url, resp.Status, err)
	}
	return strings.TrimSpace(string(b))
}

// TestInitialize: the tuned service keeps an index that was added by hand and
// counts rightly after a restart; each defect breaks one of them.
func TestInitialize(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE userapi")
		db := sandboxtest.DB(t, s, "userapi")
		f := func(d Defects, indexes int, restarted string) {
			t.Helper()
			sandboxtest.Exec(t, db, "DROP TABLE IF EXISTS users", CreateTable, "CREATE INDEX users_mail ON users (mail)")
			cfg := Config{DSN: s.DSN("", "userapi"), Defects: d}
			url, stop := served(t, cfg)
			ask(t, "POST", url+"/users")
			ask(t, "POST", url+"/initialize")
			ask(t, "POST", url+"/users")
			if got := ask(t, "GET", url+"/users/count"); got != "201" {
				t.Errorf("%s: %s users after initialise, want 201", d, got)
			}
			stop()
			url, stop = served(t, cfg)
			if got := ask(t, "GET", url+"/users/count"); got != restarted {
				t.Errorf("%s: %s users after a restart, want %s", d, got, restarted)
			}
			stop()
			if n := indexCount(t, db); n != indexes {
				t.Errorf("%s: %d indexes, want %d", d, n, indexes)
			}
		}
		f(Tuned(), 2, "201")
		f(Defects{"IDX-08"}, 1, "201")
		f(Defects{"OPS-09"}, 2, "0")
		f(Defects{"OPS-02"}, 2, "201")
		var buckets int
		if err := db.QueryRow("SELECT COUNT(DISTINCT bucket) FROM conditions").Scan(&buckets); err != nil || buckets != slowBuckets {
			t.Errorf("%d buckets, %v", buckets, err)
		}
	})
}

func indexCount(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	const q = "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'userapi' AND table_name = 'users'"
	if err := db.QueryRow(q).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestServe_DatabaseDown: the tuned service waits for its database, the one with
// OPS-01 ends.
func TestServe_DatabaseDown(t *testing.T) {
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dsn := (&sandbox.Server{Port: port}).DSN("", "userapi")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = Serve(ctx, Config{Listen: "127.0.0.1:0", DSN: dsn, Defects: Defects{"OPS-01"}, AccessLog: io.Discard, AppLog: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "connection refused") || ctx.Err() != nil {
		t.Errorf("with OPS-01: %v", err)
	}
	var log firstLine
	log.stop = cancel
	if err := Serve(ctx, Config{Listen: "127.0.0.1:0", DSN: dsn, AccessLog: io.Discard, AppLog: &log}); err == nil {
		t.Error("without a database, no error at the end")
	}
	if !strings.Contains(log.text, "connection refused; trying again in 100ms") {
		t.Errorf("log %q", log.text)
	}
}

// firstLine keeps the first write and then stops.
type firstLine struct {
	text string
	stop func()
}

func (f *firstLine) Write(p []byte) (int, error) {
	if f.text == "" {
		f.text = string(p)
		f.stop()
	}
	return len(p), nil
}
