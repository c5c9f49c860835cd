package score

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		f.Fatalf("samples: %v, %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "score", "")
	}
	f.Add([]byte(`log {"items":[{"score":"1,234"}]}`), "$.items[0].score", "")
	f.Add([]byte(`{"a.b":1}`), `["a.b"]`, "")
	f.Add([]byte("score 12 345\xff"), "", `score (?P<score>[\d ]+)`)
	f.Add([]byte(`{"pass":false,"score":0}`), "pass", "")
	f.Add([]byte("\x1b[31m{[{[{\"\\u00"), "[-1]", "")
	f.Fuzz(func(t *testing.T, output []byte, path, re string) {
		// A user's own regexp may be slow; what is fuzzed is what it is used for.
		output, re = output[:min(len(output), 4<<10)], re[:min(len(re), 30)]
		p := Pattern{JSON: path, Regexp: re}
		v, source, err := Extract(output, p)
		if err != nil && (v != 0 || source != "") {
			t.Fatalf("%v, %q with the error %v", v, source, err)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("a score of %v", v)
		}
		var none *NotFoundError
		if errors.As(err, &none) && (!utf8.ValidString(none.Tail) || len(none.Tail) > 3*shownTail) {
			t.Fatalf("tail %q", none.Tail)
		}
		if (p.Validate() == nil) == (err != nil && none == nil) {
			t.Fatalf("valid: %v, error %v", p.Validate(), err)
		}
		if s, _ := Read(output, Pattern{}, p); s != nil && s.Source == "" {
			t.Fatalf("score without a source: %+v", s)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"score", ".a.b", "$.a[0]", `["x y"][-1]`, "$", "a..b", "[", `["`, `["]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := parsePath(text)
		if (err == nil) != (len(path) > 0) {
			t.Fatalf("%v, %v", path, err)
		}
	})
}
