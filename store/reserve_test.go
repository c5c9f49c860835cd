package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/smalldisk"
)

// TestRealDiskFull records onto a disk that somebody else fills: the recorder
// learns that while there is still room to store how the run ended, and no one
// can take that room.
func TestRealDiskFull(t *testing.T) {
	dir := smalldisk.Mount(t, "2m")
	path := filepath.Join(dir, "run"+Extension)
	w := mustCreate(t, path)
	sim := simulate(300)
	mustFrames(t, w, sim.tick(1))
	ballast := smalldisk.Fill(t, dir, 0)
	var err error
	n := 2
	for ; err == nil; n++ {
		if n > 500 {
			t.Fatal("the disk never filled")
		}
		for _, f := range sim.tick(n) {
			if err == nil {
				err = w.Frame(f)
			}
		}
	}
	if !IsFull(err) {
		t.Fatal(err)
	}
	if err := w.Frame(sim.tick(n)[0]); !IsFull(err) {
		t.Errorf("a frame of later: %v", err)
	}
	change := kasoku.Change{Name: "slow_query_log", Before: "OFF", During: "ON", Restored: true}
	if err := Save(w, []kasoku.Change{change}); err != nil {
		t.Error(err)
	}
	run := sampleRun()
	run.State, run.StopReason = kasoku.Incomplete, "the disk is full"
	if err := w.Finish(run); err != nil && !IsFull(err) {
		t.Error(err)
	}
	for _, when := range []string{"while it is full", "with room again"} {
		rec := mustOpen(t, path)
		if rec.Run.State != kasoku.Incomplete || rec.Run.StopReason != run.StopReason || len(rec.Damage) > 0 {
			t.Errorf("%s: %s, %q, damage %v", when, rec.Run.State, rec.Run.StopReason, rec.Damage)
		}
		if len(rec.Changes) != 1 || rec.Changes[0] != change {
			t.Errorf("%s: changes %+v", when, rec.Changes)
		}
		if got := len(rec.Series[0].Points); got < n-2 {
			t.Errorf("%s: %d ticks of %d", when, got, n-2)
		}
		_ = os.Remove(ballast)
	}
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestLogIsBounded: the log beside the file stays as small in a long recording
// as in one of a tenth of its length, and so does what the writer keeps in memory
// while processes come and go.
func TestLogIsBounded(t *testing.T) {
	f := func(ticks int) (largest int64, known int) {
		path := tempRun(t)
		w := mustCreate(t, path)
		sim := simulate(200)
		for n := 1; n <= ticks; n++ {
			frames := sim.tick(n)
			mustFrames(t, w, frames)
			frame := &kasoku.Frame{Host: "h", Source: "process", At: frames[0].At}
			for i := range 3 { // processes that are not seen again
				frame.Gauge("rss", fmt.Sprintf("%d-%d", n, i), "bytes", 1)
			}
			mustFrames(t, w, []*kasoku.Frame{frame})
			st, err := os.Stat(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			largest = max(largest, st.Size())
		}
		for _, src := range w.sources {
			known += len(src.ids)
		}
		if err := w.Finish(sampleRun()); err != nil {
			t.Fatal(err)
		}
		if rec := mustOpen(t, path); len(rec.Series) != 200+3*ticks || len(rec.Damage) > 0 {
			t.Errorf("%d ticks: %d series, damage %v", ticks, len(rec.Series), rec.Damage)
		}
		return largest, known
	}
	const most = 6 << 20
	few, knownFew := f(90)
	many, knownMany := f(900)
	t.Logf("log of at most %d and %d bytes, series in memory %d and %d", few, many, knownFew, knownMany)
	if few > most || many > most {
		t.Errorf("log of %d and %d bytes, want at most %d", few, many, most)
	}
	if knownMany > knownFew+knownFew/2 {
		t.Errorf("series in memory: %d after 90 ticks, %d after 900", knownFew, knownMany)
	}
}
