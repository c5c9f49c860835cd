package stack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/stack"
	"github.com/kasoku/kasoku/labs/isuumo/stack/stacktest"
	"github.com/kasoku/kasoku/mysqlflags"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// ask sends a request as that user agent.
func ask(t *testing.T, method, url, agent string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// crawlers are user agents of each kind that may be turned away.
func crawlers() []string {
	const id = "0f0a3c52-9d0b-4b50-9b51-4c2b5f6a7e10"
	return []string{
		"ISUCONbot-Mobile " + id, id + " ISUCONbot", "ISUCONbot-Image/ " + id, "Mediapartners-ISUCON " + id, id + "ISUCONCoffee", "ISUCONFeedSeekerBeta " + id,
		"crawler (https://isucon.invalid/support/faq/) " + id, "crawler (https://isucon.invalid/help/jp/) " + id, "isubot" + id, "Isupider " + id, "Isupider-image+ " + id,
		"Bot-" + id, "BOT_" + id, "crawler " + id, "CRAWLER." + id, "spider/" + id, "Spider;" + id, "bot@" + id, "spider(" + id, "(bot) " + id, id + " SPIDER",
	}
}

// people are user agents that may not.
func people() []string {
	const id = "0f0a3c52-9d0b-4b50-9b51-4c2b5f6a7e10"
	out := []string{"isucon-initialize", "isucon-verify"}
	for _, name := range []string{"Nickel", "Icetanuki", "Web Browser", "Explorer", "Edge"} {
		for _, kind := range []string{" mobile", " bottle", " alpha", " beta", ""} {
			out = append(out, "ISUCON "+name+kind+"-"+id)
		}
	}
	return out
}

// TestStack goes through a stack of both ends of the tuning on both databases:
// crawlers, pages and pictures, /initialize, a restart of each part, the end.
func TestStack(t *testing.T) {
	f := func(name string, o stack.Options, crawler int) {
		t.Run(name, func(t *testing.T) {
			turn.Wait(t)
			s := stacktest.Up(t, o)
			for _, agent := range crawlers() {
				if code, _ := ask(t, "GET", s.URL()+"/api/chair/low_priced", agent); code != crawler {
					t.Errorf("crawler %q got %d, want %d", agent, code, crawler)
				}
			}
			for _, agent := range people() {
				if code, _ := ask(t, "GET", s.URL()+"/api/chair/low_priced", agent); code != 200 {
					t.Errorf("%q got %d, want 200", agent, code)
				}
			}
			testPages(t, s)
			testSettings(t, s)
			testRestarts(t, s)
			testDown(t, s)
		})
	}
	f("initial", stack.Options{Variant: isuumo.Initial}, 200)
	f("indexes", stack.Options{Variant: isuumo.Indexes, Database: "mysql"}, 503)
	f("tuned", stack.Options{Variant: isuumo.Tuned}, 503)
}

func testPages(t *testing.T, s *stack.Stack) {
	var chair struct{ Thumbnail string }
	_, body := ask(t, "GET", s.URL()+"/api/chair/1", "people")
	if err := json.Unmarshal([]byte(body), &chair); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for path, want := range map[string]string{"/": "<!doctype html", chair.Thumbnail: "\x89PNG"} {
		code, body := ask(t, "GET", s.URL()+path, "people")
		if code != 200 || !strings.HasPrefix(strings.ToLower(body), strings.ToLower(want)) {
			t.Errorf("GET %s: %d %.40q, want %q first", path, code, body, want)
		}
	}
	if code, _ := ask(t, "GET", s.URL()+"/nothing/here", "people"); code != 404 {
		t.Errorf("GET /nothing/here: %d, want 404", code)
	}
}

// testSettings: what makes the database the store of record is on in each variant.
func testSettings(t *testing.T, s *stack.Stack) {
	db, err := mysqlflags.OpenDSN(s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var flush, binlog int
	var doublewrite string
	row := db.QueryRow("SELECT @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite, @@log_bin")
	if err := row.Scan(&flush, &doublewrite, &binlog); err != nil {
		t.Fatal(err)
	}
	if on := doublewrite == "1" || doublewrite == "ON"; flush != 1 || !on || binlog != 0 {
		t.Errorf("flush %d, doublewrite %s, binary log %d; want 1, on, 0", flush, doublewrite, binlog)
	}
}

// testRestarts: service and database can be ended in any way and come back at their
// addresses, and /initialize works then.
func testRestarts(t *testing.T, s *stack.Stack) {
	url, pid := s.AppURL(), s.AppPid()
	for name, step := range map[string]func() error{
		"restart": func() error { return s.RestartApp(t.Context()) },
		"kill": func() error {
			if err := s.KillApp(); err != nil {
				return err
			}
			return s.StartApp(t.Context())
		},
		"database": func() error {
			if err := s.DB.Kill(); err != nil {
				return err
			}
			return s.DB.Restart(t.Context())
		},
	} {
		if err := step(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Initialize(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if code, _ := ask(t, "GET", s.URL()+"/api/estate/1", "people"); code != 200 {
			t.Errorf("%s: GET /api/estate/1: %d", name, code)
		}
	}
	if s.AppURL() != url || s.AppPid() == pid {
		t.Errorf("service at %s with pid %d, before %s with %d", s.AppURL(), s.AppPid(), url, pid)
	}
}

func testDown(t *testing.T, s *stack.Stack) {
	pids := s.PIDs()
	if len(pids) < 4 {
		t.Errorf("processes %v, want service, database, nginx and its workers", pids)
	}
	if err := s.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d is left", pid)
		}
	}
	log, err := os.ReadFile(s.AccessLog)
	if err != nil || !strings.Contains(string(log), "\tua:isucon-initialize\n") || !strings.Contains(string(log), "\tupstream_time:0.") {
		t.Errorf("access log: %v\n%.300s", err, log)
	}
}

// TestEmitAndLoad: rows that one stack wrote are those of another.
func TestEmitAndLoad(t *testing.T) {
	turn.Wait(t)
	dir := filepath.Join(t.TempDir(), "contest")
	first := stacktest.Up(t, stack.Options{Variant: isuumo.Tuned, EmitDir: dir, Seed: 5})
	again := stacktest.Up(t, stack.Options{Variant: isuumo.Tuned, DataDir: dir})
	for _, path := range []string{"/api/chair/low_priced", "/api/estate/7", "/api/estate/search?rentRangeId=1&page=0&perPage=25", "/api/chair/search/condition"} {
		a, want := ask(t, "GET", first.URL()+path, "people")
		b, got := ask(t, "GET", again.URL()+path, "people")
		if a != 200 || b != 200 || got != want {
			t.Errorf("%s: %d and %d\n%.200s\n%.200s", path, a, b, want, got)
		}
	}
}

func TestUp_Errors(t *testing.T) {
	for want, o := range map[string]stack.Options{
		`unknown variant "fast"`:    {Variant: "fast"},
		`unknown database "oracle"`: {Database: "oracle"},
	} {
		o.Dir = t.TempDir()
		o.Size = "small"
		_, err := stack.Up(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
