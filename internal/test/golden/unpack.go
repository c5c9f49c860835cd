package golden

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Unpack returns the path of a copy of a file that gzip packed, with that name, in a directory of its own.
func Unpack(t *testing.T, path, name string) string {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
