package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestListeners: who listens is found, who is gone is not, and a directory that
// others may enter is not used.
func TestListeners(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if got := Listeners(); len(got) != 0 {
		t.Fatalf("nobody listens: %v", got)
	}
	path, over, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(filepath.Dir(path), listenerPrefix+"999999999"+listenerSuffix)
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Listeners(); !slices.Equal(got, []string{path}) {
		t.Errorf("listeners %v, want %s alone", got, path)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the file of a process that is gone is still there")
	}
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Listen(); err == nil || !strings.Contains(err.Error(), "this user alone") {
		t.Errorf("a directory that others may read: %v", err)
	}
	if err := over(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the directory is still there, though nobody listens")
	}
}

// TestLoads: what a load hands over is taken once, on the listener's clock.
func TestLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "load")
	start := time.Now()
	l, err := NewLoads(path, start)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Take(); err != nil || len(got) != 0 {
		t.Fatalf("before anything came: %v, %v", got, err)
	}
	w, err := NewHandover(path, start.Add(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Handover{Steps: []kasoku.Step{{Number: 1, Interval: kasoku.Interval{To: time.Second}}},
		Seconds: []kasoku.LoadSecond{{Second: 2, Step: 1, Target: "GET \x1b[31m/", Asked: 5, Codes: map[int]uint64{200: 5},
			Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()}}}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Take()
	if err != nil || len(got) != 1 || got[0].Second != 22 || got[0].Asked != 5 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if st := l.Steps(); len(st) != 1 || st[0].Interval.From.Round(time.Second) != 20*time.Second {
		t.Errorf("steps %+v", st)
	}
	if again, _ := l.Take(); len(again) != 0 {
		t.Errorf("taken twice: %v", again)
	}
}

// TestLiveOfTheHost: without a database the sources are those of a run.
func TestLiveOfTheHost(t *testing.T) {
	l, err := NewLive(t.Context(), Options{Settings: []kasoku.Setting{{Scope: "app", Name: "a", Value: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if l.HasDatabase() || len(l.Settings) != 1 || l.Host.Cores == 0 {
		t.Errorf("live %+v", l)
	}
	if _, err := l.Digests(t.Context()); err == nil {
		t.Error("statements without a database")
	}
	names := []string{}
	for _, s := range l.Sources {
		names = append(names, s.Name())
		if c, ok := s.(interface{ Close() error }); ok {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, want := range []string{"host", "process", "cgroup"} {
		if !slices.Contains(names, want) {
			t.Errorf("sources %v lack %s", names, want)
		}
	}
}
