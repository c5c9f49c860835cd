package lines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A logFile is a log in a directory of its own, as a writer with logrotate
// sees it.
type logFile struct {
	t    testing.TB
	path string
}

func newLog(t testing.TB, content string) *logFile {
	l := &logFile{t, filepath.Join(t.TempDir(), "app.log")}
	l.write(content)
	return l
}

func (l *logFile) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *logFile) write(s string) {
	l.t.Helper()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	l.must(err)
	_, err = f.WriteString(s)
	l.must(err)
	l.must(f.Close())
}

// rotate renames the log and sets when it was last written.
func (l *logFile) rotate(suffix string, last time.Time) {
	l.t.Helper()
	l.must(os.Rename(l.path, l.path+suffix))
	l.must(os.Chtimes(l.path+suffix, last, last))
}

func (l *logFile) mark() Mark {
	l.t.Helper()
	m, err := MarkEnd(l.path)
	l.must(err)
	return m
}

func (l *logFile) since(m Mark, wantNote string, want ...string) {
	l.t.Helper()
	w, err := Since(m)
	l.must(err)
	defer w.Close()
	if got := all(l.t, w); strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
		l.t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(w.Note(), wantNote) || wantNote == "" && w.Note() != "" {
		l.t.Errorf("note %q, want %q", w.Note(), wantNote)
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)

func TestSince(t *testing.T) {
	l := newLog(t, "old\n")
	m := l.mark()
	l.since(m, "")
	l.write("a\nb\n")
	l.since(m, "", "a", "b")

	w, err := Since(m)
	l.must(err)
	defer w.Close()
	l.write("after the window\n")
	if got := all(t, w); len(got) != 2 {
		t.Errorf("the window grew: %q", got)
	}
	want := Segment{l.path, m.Device, m.Inode, 4, 8}
	if f := w.Files(); len(f) != 1 || f[0] != want {
		t.Errorf("files %v, want %v", f, want)
	}
}

func TestSince_UnfinishedLine(t *testing.T) {
	l := newLog(t, "old\nhalf a l")
	m := l.mark()
	if m.Offset != 4 {
		t.Errorf("mark at %d, want 4", m.Offset)
	}
	l.write("ine\nnext")
	l.since(m, "", "half a line", "next")

	long := newLog(t, strings.Repeat("x", DefaultMaxLine+10))
	if m := long.mark(); m.Offset != DefaultMaxLine+10 {
		t.Errorf("mark in an endless line at %d", m.Offset)
	}
	if m := newLog(t, strings.Repeat("x", 5000)).mark(); m.Offset != 0 {
		t.Errorf("mark in the first line at %d", m.Offset)
	}
}

func TestSince_Missing(t *testing.T) {
	l := newLog(t, "")
	l.must(os.Remove(l.path))
	m := l.mark()
	if !m.Missing {
		t.Error("mark does not say missing")
	}
	l.since(m, "app.log is missing")
	l.write("a\n")
	l.since(m, "appeared", "a")

	m = l.mark()
	l.must(os.Remove(l.path))
	l.since(m, "is missing")
}

func TestSince_Rotated(t *testing.T) {
	l := newLog(t, "old\n")
	m := l.mark()
	l.write("a\n")
	l.rotate(".1", noon)
	l.write("b\n")
	l.must(os.WriteFile(l.path+".2.gz", []byte("x\n"), 0o600))
	l.must(os.WriteFile(l.path+".err", []byte("x\n"), 0o600))
	l.must(os.WriteFile(filepath.Join(filepath.Dir(l.path), "other.log"), []byte("x\n"), 0o600))
	l.since(m, "rotated to app.log.1 at 12:00:00", "a", "b")

	w, err := Since(m)
	l.must(err)
	defer w.Close()
	f := w.Files()
	if len(f) != 2 || f[0].Path != l.path+".1" || f[0].From != 4 || f[0].To != 6 || f[1].From != 0 || f[1].To != 2 {
		t.Errorf("files %+v", f)
	}
}

func TestSince_RotatedTwice(t *testing.T) {
	l := newLog(t, "")
	l.write("older generation\n")
	l.rotate(".3", noon.Add(-time.Hour))
	l.write("old\n")
	m := l.mark()
	l.write("a without newline")
	l.rotate(".2", noon)
	l.write("b\n")
	l.rotate("-20261120", noon.Add(time.Minute))
	l.write("c\n")
	l.since(m, "rotated to app.log.2", "a without newline", "b", "c")
}

func TestSince_RotatedAway(t *testing.T) {
	l := newLog(t, "old\n")
	m := l.mark()
	l.write("a\n")
	l.must(os.Rename(l.path, filepath.Join(t.TempDir(), "elsewhere")))
	l.write("b\n")
	l.since(m, "old file is gone", "b")
}

func TestSince_RotatedNotYetCreated(t *testing.T) {
	l := newLog(t, "old\n")
	m := l.mark()
	l.write("a\n")
	l.rotate(".1", noon)
	l.since(m, "is missing; rotated to app.log.1", "a")
}

func TestSince_Truncated(t *testing.T) {
	l := newLog(t, "an old line\n")
	m := l.mark()
	l.must(os.Truncate(l.path, 0))
	l.write("a\n")
	l.since(m, "was truncated", "a")
	l.write("longer than the mark\n")
	l.since(m, "has grown past the mark", "a", "longer than the mark")
}

func TestSince_TruncatedWhileRead(t *testing.T) {
	l := newLog(t, "")
	m := l.mark()
	l.write(strings.Repeat("0123456\n", 100_000))
	w, err := Since(m)
	l.must(err)
	defer w.Close()
	w.Scan()
	l.must(os.Truncate(l.path, 0))
	for w.Scan() {
	}
	if w.Err() != nil || !strings.Contains(w.Note(), "truncated while it was read") {
		t.Errorf("err %v, note %q", w.Err(), w.Note())
	}
	if f := w.Files()[0]; f.To >= 800_000 || f.To != w.nextOff {
		t.Errorf("window ends at %d, read up to %d", f.To, w.nextOff)
	}
}

func TestMarkEnd_Failure(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		m, err := MarkEnd(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
		if m != (Mark{}) {
			t.Errorf("an error with a mark: %v", m)
		}
		if _, err := Since(Mark{Path: path}); err == nil {
			t.Error("Since reads it")
		}
	}
	f(t.TempDir(), "not a regular file")
	f("/dev/null", "not a regular file")
	f(filepath.Join(newLog(t, "").path, "x"), "not a directory")
}

func TestWindow_Close(t *testing.T) {
	l := newLog(t, "a\n")
	w, err := Since(Mark{Path: l.path, Missing: true})
	l.must(err)
	l.must(w.Close())
	l.must(w.Close())
	if w.Scan() {
		t.Error("a closed window has lines")
	}
}

func TestGrowth(t *testing.T) {
	l := newLog(t, "old\n")
	m := l.mark()
	g := Follow(m)
	defer g.Close()
	f := func(want int64) {
		t.Helper()
		if n, err := g.Bytes(); n != want || err != nil {
			t.Errorf("grown %d, %v; want %d", n, err, want)
		}
	}
	f(0)
	l.write("abc\n")
	f(4)
	l.write("d\n")
	l.rotate(".1", noon)
	f(6)
	l.write("e\n")
	f(8)
	l.write("fg\n")
	f(11)
	w, err := Since(m)
	l.must(err)
	defer w.Close()
	all(t, w)
	f(w.Offset())

	l.must(os.Truncate(l.path, 0))
	l.write("h\n")
	f(2)
}

func TestGrowth_Missing(t *testing.T) {
	l := newLog(t, "")
	l.must(os.Remove(l.path))
	g := Follow(l.mark())
	defer g.Close()
	if n, err := g.Bytes(); n != 0 || err != nil {
		t.Errorf("missing: %d, %v", n, err)
	}
	l.write("a\n")
	if n, err := g.Bytes(); n != 2 || err != nil {
		t.Errorf("created: %d, %v", n, err)
	}
}

// TestSince_Anything writes, rotates and marks at random: a window holds
// exactly the lines that were written after its mark.
func TestSince_Anything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		l := &logFile{t, filepath.Join(dir, "app.log")}
		l.write("")
		var want []string
		m, g := l.mark(), (*Growth)(nil)
		clock := noon
		defer func() { g.Close() }()
		g = Follow(m)
		for i := range rapid.IntRange(0, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				clock = clock.Add(time.Second)
				l.rotate("."+clock.Format("20060102-150405"), clock)
				l.write("")
			case 1:
				m, want = l.mark(), nil
				g.Close()
				g = Follow(m)
			default:
				line := strings.Repeat("x", i) + rapid.StringMatching(`[a-z]{0,3}`).Draw(rt, "line")
				l.write(line + "\n")
				want = append(want, line)
			}
			if _, err := g.Bytes(); err != nil {
				rt.Fatal(err)
			}
		}
		l.since(m, map[bool]string{true: "", false: "rotated"}[m.Inode == l.mark().Inode], want...)
		grown, _ := g.Bytes()
		var bytes int64
		for _, line := range want {
			bytes += int64(len(line)) + 1
		}
		if grown != bytes {
			rt.Fatalf("grown by %d, wrote %d", grown, bytes)
		}
	})
}
