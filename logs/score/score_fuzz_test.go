package score

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
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

// FuzzReadWords: whatever a benchmark prints, its words are few, printable and of a second
// of the run.
func FuzzReadWords(f *testing.F) {
	for _, s := range []string{
		`{"pass":true,"score":1,"messages":[{"text":"POST /x: timeout","count":34},"y"],"reason":"z","deduction":5}`,
		"  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n",
		"Error distribution:\n  [3]\tGet \"http://127.0.0.1/\": EOF\n",
		"Status Codes  [code:count]  0:3  503:7\nError Set:\na\nb\n",
		"     ✗ a\n      ↳  92% — ✓ 92 / ✗ 8\n", "負荷レベル 5\nlevel up\n減点 4\n\x1b[31merror\x1b[0m: 1\n", "error: 0\n",
		`time="x" level=error msg="y" error="Get \"http://h/a\": timeout"`,
		"   (Connect: 1, Receive: 2, Length: 3, Exceptions: 4)\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		clock := func(offset int64) time.Duration { return time.Duration(offset) * time.Millisecond }
		w := ReadWords(output, clock)
		end := clock(int64(len(output)))
		if len(w.Messages) > mostMessages || len(w.Events) > mostLevels+2*mostEvents+1 {
			t.Fatalf("%d messages, %d events", len(w.Messages), len(w.Events))
		}
		for _, m := range w.Messages {
			if m.Kind != kasoku.MessageBenchmark || m.Count == 0 || m.First > m.Last || m.Last > end {
				t.Fatalf("%+v", m)
			}
			checkPrintable(t, m.Sample)
			checkPrintable(t, m.Pattern)
		}
		for i, e := range w.Events {
			if e.At > end || i > 0 && e.At < w.Events[i-1].At {
				t.Fatalf("%+v", w.Events)
			}
			checkPrintable(t, e.Text)
		}
	})
}

func checkPrintable(t *testing.T, s string) {
	t.Helper()
	if len(s) > 1<<10 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' ||
			r == 0x7f
	}) {
		t.Fatalf("unsafe text %q", s)
	}
}
