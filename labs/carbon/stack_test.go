package carbon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/wire/whisper"
)

// TestFiles: the files of a slow disk are those that the load writes to, as carbon makes them.
func TestFiles(t *testing.T) {
	all := paths()
	if want := filepath.FromSlash("lab/agent/19/metrics/499.wsp"); len(all) != Series || !slices.Contains(all, want) ||
		whisper.Path("lab.agent.19.metrics.499") != want {
		t.Errorf("%d files, none is %s", len(all), want)
	}
	path := filepath.Join(t.TempDir(), "x.wsp")
	if err := os.WriteFile(path, emptyFile(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := whisper.NewestSlots(path, 1_000_000, 10)
	if err != nil || s.Retentions != tenSeconds || len(s.Times) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 4348 {
		t.Error(info, err)
	}
}
