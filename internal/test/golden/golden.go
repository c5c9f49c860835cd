// Package golden compares what a test got with a file under testdata, and
// rewrites that file when the test is run with -update:
//
//	go test ./unit -update
//
// It holds the only -update flag of the repository. Times, ports and versions
// must be fixed by the test; nothing is replaced here. Files that are kept packed are unpacked
// by [Unpack]. Only tests import it.
package golden

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "rewrite golden files with what the tests got")

// Update reports whether golden files are to be rewritten. Tests that keep their
// expectations in another form, such as scripts, obey it too.
func Update() bool { return *update }

// Check fails the test with a diff when got is not what the file holds. With
// -update it writes the file, and its directory, instead.
func Check(t testing.TB, path string, got []byte) {
	t.Helper()
	check(t, path, got, *update)
}

// CheckString is Check for text.
func CheckString(t testing.TB, path, got string) {
	t.Helper()
	check(t, path, []byte(got), *update)
}

func check(t testing.TB, path string, got []byte, update bool) {
	t.Helper()
	want, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(got, want):
		return
	case update:
		write(t, path, got)
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("golden: %s does not exist; go test -update writes it:\n%s", path, got)
	case err != nil:
		t.Errorf("golden: %v", err)
	default:
		t.Errorf("golden: %s differs; go test -update accepts this:\n%s", path, diff.Diff(path, want, "got", got))
	}
}

func write(t testing.TB, path string, got []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatalf("golden: %v", err)
	}
	if err := os.WriteFile(path, got, 0o644); err != nil {
		t.Fatalf("golden: %v", err)
	}
	t.Logf("golden: wrote %s", path)
}
