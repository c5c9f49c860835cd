package watch

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// TestFollow: a file is read again until the run in it has ended.
func TestFollow(t *testing.T) {
	rec := sample()
	path := filepath.Join(t.TempDir(), "a"+store.Extension)
	if err := store.Write(path, rec); err != nil {
		t.Fatal(err)
	}
	early := *rec
	early.Run.State, early.Run.Started = kasoku.Running, time.Now().Add(-time.Hour)
	f := Follow(path, &early)
	defer f.Close()
	if d := f.Take(); !d.Live || d.Silent < 30*time.Minute {
		t.Errorf("live %t, silent for %s", d.Live, d.Silent)
	}
	deadline := time.After(20 * time.Second)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for f.Take().Live {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal("the end of the run is not seen")
		}
	}
}
