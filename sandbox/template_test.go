package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCopyTree_Holes: a copy has the bytes, the size and the mode of a file, and takes no
// room for zeros, at its end neither.
func TestCopyTree_Holes(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.MkdirAll(filepath.Join(from, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := make([]byte, 64*holeSize+100)
	copy(log, "header")
	copy(log[40*holeSize-3:], "record")
	files := map[string][]byte{"log": log, "db/t.ibd": []byte("rows"), "empty": nil, "zeros": make([]byte, 3*holeSize)}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(from, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := dig(from); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(to, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) || info.Mode() != 0o600 {
			t.Errorf("%s: %d bytes, mode %v, %v; want those of the original", name, len(got), info.Mode(), err)
		}
		if room := info.Sys().(*syscall.Stat_t).Blocks * 512; room > 4*holeSize {
			t.Errorf("%s takes %d bytes", name, room)
		}
	}
}
