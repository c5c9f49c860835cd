package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a testing.TB that keeps what a test would have said.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "case.golden")
	f := func(got string, update bool, want ...string) {
		t.Helper()
		r := &recorder{TB: t}
		check(r, path, []byte(got), update)
		said := strings.Join(r.errors, "\n")
		if len(want) == 0 && said != "" {
			t.Errorf("%q: unexpected %s", got, said)
		}
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%q: said %q, want %q in it", got, said, w)
			}
		}
	}
	f("a\nb\n", false, "does not exist", "-update", "a\nb\n")
	f("a\nb\n", true)
	f("a\nb\n", false)
	f("a\nc\n", false, "differs", " a\n-b\n+c\n")
	f("a\nc\n", true)
	f("a\nc\n", false)
	if b, err := os.ReadFile(path); err != nil || string(b) != "a\nc\n" {
		t.Errorf("file holds %q, %v", b, err)
	}
	path = filepath.Dir(path) // a directory is no golden file
	f("a\n", false, "golden: read")
}
