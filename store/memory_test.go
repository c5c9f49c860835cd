package store

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// mostKeptMemory is how much more a writer may hold after ten times as many ticks.
const mostKeptMemory = 2 << 20

// TestMemory: processes that live for a second each bring series of their own. What the
// writer remembers of them does not grow with the length of a run.
func TestMemory(t *testing.T) {
	turn.Wait(t)
	const perTick = 40
	w := mustCreate(t, tempRun(t))
	f := &kasoku.Frame{Host: "lab1", Source: "process"}
	n := 0
	heap := func(ticks int) uint64 {
		for ; n < ticks; n++ {
			f.Reset()
			f.At = time.Duration(n) * 10 * time.Second
			for i := range perTick {
				f.Counter("cpu", fmt.Sprintf("short-%d-%d%s", n, i, strings.Repeat("x", 200)), "s", 1)
			}
			if err := w.Frame(f); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := heap(60)
	many := heap(600)
	runtime.KeepAlive(w)
	if many > few+mostKeptMemory {
		t.Errorf("%d kB after 60 ticks, %d kB after 600", few>>10, many>>10)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestLongNames: a series with a name that no honest source gives is left out, and one
// gap says so.
func TestLongNames(t *testing.T) {
	path := tempRun(t)
	w := mustCreate(t, path)
	f := &kasoku.Frame{Host: "lab1", Source: "mysql"}
	for n := range 3 {
		f.Reset()
		f.At = time.Duration(n) * time.Second
		f.Counter(strings.Repeat("x", mostSeriesName+1), "", "count", 1)
		f.Counter("Questions", "", "count", float64(n))
		if err := w.Frame(f); err != nil {
			t.Fatal(err)
		}
	}
	run := sampleRun()
	run.Length = 3 * time.Second
	if err := w.Finish(run); err != nil {
		t.Fatal(err)
	}
	rec := mustOpen(t, path)
	if len(rec.Series) != 1 || len(rec.Gaps) != 1 || !strings.Contains(rec.Gaps[0].Reason, "are not kept") {
		t.Errorf("series %d, gaps %+v", len(rec.Series), rec.Gaps)
	}
}
