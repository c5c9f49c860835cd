package handover

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// TestRecorded: of the load of a run that is recorded each second is reported once, when it
// is complete, by the clock of who asks; and what was left when the run ends.
func TestRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "build[1]") // no pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	path := filepath.Join(dir, "a"+store.Extension)
	start := time.Now().Add(-10 * time.Second)
	run := kasoku.Run{ID: "a", Started: start.Add(2 * time.Second), State: kasoku.Running}
	w, err := store.Create(path, run)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRecorded(dir, start)
	from := 0
	count := func(seconds ...int) {
		t.Helper()
		var add []kasoku.LoadSecond
		for _, s := range seconds {
			add = append(add, kasoku.LoadSecond{Second: s, Step: 1, Target: "GET /", Asked: 1, Codes: map[int]uint64{200: 1}})
		}
		if err := errors.Join(w.AddSeconds(add)); err != nil {
			t.Fatal(err)
		}
		from = r.read(from)
	}
	takes := func(before, upTo int, want ...int) {
		t.Helper()
		var got []int
		seconds, known := r.Take(before)
		for _, s := range seconds {
			for range s.Asked {
				got = append(got, s.Second)
			}
		}
		if !slices.Equal(got, want) || known != upTo {
			t.Errorf("before %d: %v up to %d, want %v up to %d", before, got, known, want, upTo)
		}
	}
	takes(2, 2)
	count(0, 1, 2, 3)
	takes(5, 5, 2, 3, 4)
	takes(5, 5)
	count(3, 4, 30) // the fourth second goes on, and there is one whose end is not here yet
	r.settled = 8   // however long this took
	takes(100, 8, 5, 5, 6)
	takes(100, 8)
	count(3, 3, 31) // two more answers of the fourth second, which was taken
	r.settled = 8
	takes(100, 8)
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	from = r.read(from)
	takes(100, 100, 32, 33)
	from = r.read(from)
	takes(200, 200)
	if r.Late() != 2 {
		t.Errorf("%d answers were late, want 2", r.Late())
	}
	if from != 0 || r.run.Path != "" {
		t.Errorf("a run that has ended is followed from %d: %s", from, r.run.Path)
	}
}
