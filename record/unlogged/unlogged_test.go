package unlogged

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/window"
)

// TestWatch: a log that gains less than half of what is seen has a service watched for longer.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow.log")
	entry := "# Time: 261130 20:00:00\n# User@Host: a[a] @ [127.0.0.1]\n# Query_time: 0.1  Lock_time: 0\nSELECT '" + strings.Repeat("x", 3000) + "';\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(entry, 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWatch(path)
	if got := w.More(19); got != 0 {
		t.Errorf("of 19 statements: %s", got)
	}
	if got := w.More(100); got != longer {
		t.Errorf("of a log that gained nothing: %s", got)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat(entry, 140)), 0o600); err != nil {
		t.Fatal(err)
	}
	if more, enough := w.More(100), w.More(79); more != longer || enough != 0 {
		t.Errorf("40 of 100: %s, 40 of 79: %s", more, enough)
	}
	if got := NewWatch(filepath.Join(t.TempDir(), "none")).More(100); got != longer {
		t.Errorf("of a log on another host: %s", got)
	}
}

// TestQueries: counts and times are scaled to what the server counted; too few say nothing.
func TestQueries(t *testing.T) {
	seen := &window.Seen{Result: &trace.Result{Counts: trace.Counts{Statements: 50}, Classes: []trace.Class{
		{ID: "A", Fingerprint: "select a from t where b = ?", Count: 10, Time: time.Second, Sample: "SELECT a FROM t WHERE b = 'secret'"},
		{ID: "B", Fingerprint: "update t set a = ?", Count: 30, Time: 2 * time.Second},
		{Fingerprint: "(prepared before the trace began)", Count: 10, Time: 9 * time.Second}}}}
	got, said := Queries(seen, 200)
	if len(got) != 2 || got[0].ID != "B" || got[0].Calls != 120 || got[0].Total != 8*time.Second || got[0].Verb != "UPDATE" ||
		got[1].Tables[0] != "t" || got[1].Raw == "" || strings.Contains(got[1].Sample, "secret") {
		t.Errorf("%+v", got)
	}
	if len(said) != 1 || !strings.Contains(said[0].Text, "50 of 200 statements") {
		t.Errorf("%+v", said)
	}
	for _, few := range []float64{19, -1} {
		if got, said := Queries(seen, few); got != nil || said != nil {
			t.Errorf("of %v: %+v", few, got)
		}
	}
	if got, _ := Queries(nil, 100); got != nil {
		t.Errorf("without a trace: %+v", got)
	}
}
