package watch

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// TestFollowRun: the load of a run that is recorded in the directory is seen, on the
// clock of the watch, whichever began first, and what it adds later.
func TestFollowRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	start := time.Now()
	l := &Live{o: LiveOptions{Runs: dir}, start: start, window: NewWindow(kasoku.Run{Started: start}, nil, 0), notes: map[string]string{}}
	l.followRun()
	if d := l.window.Take(); l.notes["runs"] != "" || len(d.Load.points) != 0 {
		t.Fatalf("without a run: %v, %v", l.notes, d.Load.points)
	}
	w, err := store.Create(filepath.Join(dir, "x.kasoku"), kasoku.Run{ID: "x", Label: "before", State: kasoku.Running, Started: start.Add(-20 * time.Second).Round(0)})
	if err != nil {
		t.Fatal(err)
	}
	add := func(at int) {
		t.Helper()
		s := loadSecond(at)
		if err := errors.Join(w.AddSeconds([]kasoku.LoadSecond{s}), store.Save(w, []kasoku.Step{{Number: 1, Interval: kasoku.Interval{To: time.Minute}}})); err != nil {
			t.Fatal(err)
		}
		l.followRun()
	}
	add(25)
	add(90)
	add(91)
	d := l.window.Take()
	if len(d.Load.points) != 3 || d.Load.points[5].Asked == 0 || d.Load.points[70].Asked == 0 || d.Load.points[71].Asked == 0 {
		t.Errorf("points %+v", d.Load.points)
	}
	if st := d.Rec.Steps; len(st) != 1 || st[0].Interval.From.Round(time.Second) != -20*time.Second || l.notes["runs"] != "before" {
		t.Errorf("steps %+v, %v", st, l.notes)
	}
	if err := w.Finish(kasoku.Run{ID: "x", State: kasoku.Finished}); err != nil {
		t.Fatal(err)
	}
	l.followRun()
	if d := l.window.Take(); l.notes["runs"] != "" || len(d.Load.points) != 3 {
		t.Errorf("after its end: %v, %v", l.notes, d.Load.points)
	}
}
