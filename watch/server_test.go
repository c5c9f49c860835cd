package watch

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	webrules "github.com/kasoku/kasoku/diagnose/rules/web"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestLiveOfAServer watches a MySQL that runs statements: they are in the table of
// statements, and what is kept of it is a run that can be read.
func TestLiveOfAServer(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Setenv("TMPDIR", t.TempDir())
	srv := sandboxtest.MySQL97(t, sandbox.Options{})
	db, err := mysqlflags.OpenDSN(srv.DSN("root", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var kept *kasoku.Recording
	l, err := Begin(t.Context(), LiveOptions{
		Watch: record.Options{Database: record.Database{MySQL: srv.DSN("root", "")}, Interval: time.Second},
		Rules: []diagnose.Rule{},
		Save:  func(rec *kasoku.Recording) (string, error) { kept = rec; return "x", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel(l.Take(), l, Options{})
	m.Key("tab", "") // to statements, once there are some
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(m.Screen(), "sleep (?)") {
		if time.Now().After(deadline) {
			t.Fatalf("the statement does not come to be shown:\n%s", m.Screen())
		}
		if _, err := db.ExecContext(t.Context(), "SELECT SLEEP(0.05)"); err != nil {
			t.Fatal(err)
		}
		m.Tick()
		m.tables.pane = "statements"
	}
	if s := m.Screen(); !strings.Contains(s, "threads running") || !strings.Contains(s, "max 1") {
		t.Errorf("the meters of the database are missing:\n%s", s)
	}
	if _, err := l.Save(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if kept.Find(kasoku.Key{Source: "mysql", Name: "Questions"}) == nil || len(kept.Queries) == 0 {
		t.Errorf("kept: %d series, %d classes of statements", len(kept.Series), len(kept.Queries))
	}
}

// TestLiveOfNginx watches an nginx that passes a file on: its route is seen, before and
// after its log was rotated, and so is the finding that only the log shows.
func TestLiveOfNginx(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Setenv("TMPDIR", t.TempDir())
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("alert(1)")) }))
	defer app.Close()
	dir := t.TempDir()
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Upstream: app.Listener.Addr().String()})
	log := filepath.Join(dir, "access.log")
	l, err := Begin(t.Context(), LiveOptions{
		Watch: record.Options{Sources: record.Sources{AccessLog: log}, Interval: time.Second}, Rules: []diagnose.Rule{webrules.StaticFiles{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel(l.Take(), l, Options{})
	rotated := false
	deadline := time.Now().Add(time.Minute)
	for {
		m.Tick()
		m.tables.pane = "routes"
		d := m.data
		if s := m.Screen(); len(d.Findings) == 1 && d.Findings[0].ID == "NGX-02" && strings.Contains(s, "GET /app.js") && rotated && d.requestsAt(m.at) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("neither route nor finding:\n%s", m.Screen())
		}
		for range 20 {
			res, err := http.Get(web.URL() + "/app.js")
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}
		if !rotated && len(d.routeLooks) > 0 {
			rotated = true
			rotate(t, dir, log)
		}
		<-time.After(50 * time.Millisecond)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if gaps := l.Take().Rec.Gaps; len(gaps) != 0 {
		t.Errorf("gaps %+v", gaps)
	}
}

// rotate does what logrotate does: it renames the log and lets nginx open it anew.
func rotate(t *testing.T, dir, log string) {
	t.Helper()
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "nginx.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
}
