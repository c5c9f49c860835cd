package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// FuzzFiles feeds every parser with any text: none may panic, and what comes out
// is bounded by what went in.
func FuzzFiles(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, h := range parseMounts(text) {
			if len(h.controllers) == 0 || len(h.mount) > len(text) {
				t.Fatalf("%+v", h)
			}
		}
		lines := 0
		eachMembership(text, func(_, path []byte) {
			lines++
			if len(path) == 0 || path[0] != '/' {
				t.Fatalf("path %q", path)
			}
		})
		if lines > len(text)/3 {
			t.Fatalf("%d lines of %d bytes", lines, len(text))
		}
		var frame kasoku.Frame
		for i := range parts {
			parts[i].collect(text, "x", &frame)
		}
		for _, s := range frame.Samples {
			if !(s.Value >= 0) || s.Name == "" || s.Unit == "" {
				t.Fatalf("%+v", s)
			}
		}
		for _, parse := range []func([]byte) (float64, bool){parseLimit, parseQuota} {
			if v, ok := parse(text); ok && !(v >= 0 && v < 1e30) {
				t.Fatalf("%v of %q", v, text)
			}
		}
		for _, r := range procfile.Printable([]byte(shortIDs(string(text)))) {
			if r < ' ' || r == 0x7f {
				t.Fatalf("control character of %q", text)
			}
		}
	})
}
