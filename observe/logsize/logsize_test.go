package logsize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/observetest"
)

var (
	_ observe.EventSource   = (*Source)(nil)
	_ observe.WarningSource = (*Source)(nil)
)

// tick returns what one tick gives, with directories cut off.
func tick(t *testing.T, s *Source) string {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, sample := range f.Samples {
		if sample.Name != "size" || sample.Unit != "bytes" || sample.Kind != kasoku.Gauge {
			t.Fatalf("%+v", sample)
		}
		out = append(out, fmt.Sprintf("%s=%v", filepath.Base(sample.Instance), sample.Value))
	}
	for _, e := range s.Events() {
		out = append(out, e.Kind+": "+e.Text)
	}
	return strings.Join(out, "; ")
}

func TestSource(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	s := New(a, b, a, "")
	put := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := func(want string) {
		t.Helper()
		if got := strings.ReplaceAll(tick(t, s), dir+"/", ""); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	f("")
	put(a, "12345")
	f("a.log=5")
	var frame kasoku.Frame
	if err := s.Collect(t.Context(), &frame); err != nil {
		t.Fatal(err)
	}
	observetest.Sampled(t, &Declared, frame.Samples, nil)
	put(b, "")
	f("a.log=5; b.log=0")
	put(a, "123456789")
	f("a.log=9; b.log=0")
	// Rotated by renaming; a tick falls before the new file is made.
	if err := os.Rename(a, a+".1"); err != nil {
		t.Fatal(err)
	}
	f("b.log=0")
	put(a, "123")
	f("a.log=3; b.log=0; rotate: another file took the place of a.log at 9 B")
	// Copied and cut.
	put(a, "1")
	f("a.log=1; b.log=0; rotate: a.log was cut from 3 B to 1 B")
	f("a.log=1; b.log=0")
	if len(s.Warnings()) != 0 {
		t.Fatal(s.Warnings())
	}
}

func TestWhatMayNotBeLookedAtIsWarnedAboutOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(filepath.Join(file, "under-a-file"), file)
	for range 2 {
		if got := tick(t, s); got != "file=0" {
			t.Fatalf("%q", got)
		}
	}
	w := s.Warnings()
	if len(w) != 1 || w[0].Code != "log-size" || !strings.Contains(w[0].Text, "not a directory") {
		t.Fatalf("%+v", w)
	}
}
