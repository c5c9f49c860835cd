package store

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestKill kills real recorders with SIGKILL at random moments and opens what
// they left: every tick of which the recorder had said that it is written must
// be there, and at most the one begun after it.
func TestKill(t *testing.T) {
	turn.Wait(t)
	kills := 20
	if testing.Short() {
		kills = 4
	}
	for i := range kills {
		killOnce(t, 1+rand.IntN(20)+i*9) // the later ones come after folds
	}
}

func killOnce(t *testing.T, after int) {
	t.Helper()
	path := tempRun(t)
	cmd := child(t, "record", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	last := lastTick(out, func(n int) {
		if n >= after && !killed {
			killed = true
			cmd.Process.Kill()
		}
	})
	cmd.Wait() // it was killed
	if last < after {
		t.Fatalf("recorder ended after %d ticks", last)
	}

	rec := mustOpen(t, path)
	if rec.Damage != nil || rec.Run.State != kasoku.Incomplete || !strings.HasPrefix(rec.Run.StopReason, "recorder killed; last second ") {
		t.Errorf("killed after %d: %s, %q, damage %v", last, rec.Run.State, rec.Run.StopReason, rec.Damage)
	}
	if len(rec.Series) == 0 {
		t.Fatalf("killed after %d: no series", last)
	}
	for _, s := range rec.Series {
		if n := len(s.Points); n < last || n > last+1 {
			t.Errorf("killed after %d: %d points of %v", last, n, s.Key)
		}
		for i, p := range s.Points {
			if second := int(p.At.Seconds()); second != i+1 {
				t.Fatalf("killed after %d: point %d of %v is of second %d", last, i, s.Key, second)
			}
		}
	}
	if n := len(rec.Seconds); n < last || n > last+1 {
		t.Errorf("killed after %d: %d seconds of load", last, n)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
	if d := difference(mustOpen(t, path), rec); d != "" {
		t.Errorf("opened again: %s", d)
	}
}
