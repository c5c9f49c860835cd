package accessformat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
)

// TestFollower: lines wait for those that reveal their format, and each is accounted
// for.
func TestFollower(t *testing.T) {
	f := NewFollower("a.log", nil, ParserOptions{})
	var paths []string
	each := func(r *Record) { paths = append(paths, string(r.Path)) }
	f.Line([]byte("\x1b[2J what"), each)
	f.Settle(each)
	if w := f.Window(); len(paths) != 0 || w.Dropped != 1 || w.Format != "" {
		t.Errorf("%q, %+v", paths, w)
	}
	f.Line([]byte(`h - - [21/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" 0.021`), each)
	if len(paths) != 0 {
		t.Error("a line was read before its format was known")
	}
	f.Settle(each)
	f.Line([]byte(`h - - [21/Nov/2026:08:00:01 +0000] "GET /b HTTP/1.1" 200 5 "-" "x" 0.021`), each)
	f.Line(nil, each)
	f.Line([]byte("no"), each)
	f.Note("rotated")
	f.Note("rotated")
	w := f.Window()
	if fmt.Sprint(paths) != "[/a /b]" || w.Lines != 5 || w.Records != 2 || w.Dropped != 2 || w.Blank != 1 || w.Path != "a.log" {
		t.Errorf("%q, %+v", paths, w)
	}
}

// TestFollowerGarbageFirst: the format is found however much garbage comes before the
// first line that has one, in the log that is there and in what it gains.
func TestFollowerGarbageFirst(t *testing.T) {
	good := `h - - [21/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" 0.021`
	garbage := strings.Repeat("starting worker process\n", 5000)
	n := 0
	each := func(*Record) { n++ }
	f := NewFollower("a.log", nil, ParserOptions{})
	f.Peek(&lines.Input{Path: "a.log", R: strings.NewReader(garbage + good + "\n")})
	f.Line([]byte(good), each)
	if n != 1 {
		t.Errorf("%d records of a log that began with garbage", n)
	}
	f = NewFollower("a.log", nil, ParserOptions{})
	for line := range strings.Lines(strings.Repeat("starting worker process\n", 100) + good + "\n") {
		f.Line([]byte(strings.TrimSuffix(line, "\n")), each)
	}
	f.Settle(each)
	if w := f.Window(); n != 2 || w.Dropped != 100 || w.BadSample[0].Line != 1 {
		t.Errorf("%d records, %+v", n, w)
	}
}

// TestFollowerNumbers: a line that waited for its format keeps its own number.
func TestFollowerNumbers(t *testing.T) {
	f := NewFollower("a.log", nil, ParserOptions{})
	var lines []int64
	each := func(r *Record) { lines = append(lines, r.Line) }
	for n := 1; n <= 300; n++ {
		line := `h - - [21/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" 0.021`
		if n == 3 || n == 7 {
			line = "garbage"
		}
		f.Line([]byte(line), each)
	}
	f.Settle(each)
	bad := f.Window().BadSample
	if len(bad) != 2 || bad[0].Line != 3 || bad[1].Line != 7 {
		t.Errorf("bad lines %+v, want 3 and 7", bad)
	}
	if len(lines) != 298 || lines[2] != 4 || lines[297] != 300 {
		t.Errorf("%d records, at lines %v …", len(lines), lines[:min(len(lines), 8)])
	}
}
