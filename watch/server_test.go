package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/loop"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/service"
	"github.com/kasoku/kasoku/service/servicetest"
)

// TestLiveOfAServer watches a MySQL that runs statements: they are in the table of
// statements, and what is kept of it is a run that can be read.
func TestLiveOfAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Setenv("TMPDIR", t.TempDir())
	srv := servicetest.MySQL97(t, service.Options{})
	db, err := mysqlflags.OpenDSN(srv.DSN("root", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var kept *kasoku.Recording
	l, err := Begin(t.Context(), LiveOptions{
		Watch: loop.Options{MySQL: srv.DSN("root", ""), Interval: time.Second},
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
		m.pane = "statements"
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
