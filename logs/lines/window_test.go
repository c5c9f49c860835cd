package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// all returns the lines that are left.
func all(t testing.TB, w *Window) []string {
	t.Helper()
	var out []string
	var at, number = w.nextOff, w.number
	for w.Scan() {
		out = append(out, string(w.Bytes()))
		if number++; w.Line() != number {
			t.Errorf("line %q has number %d, want %d", w.Bytes(), w.Line(), number)
		}
		if w.Offset() != at {
			t.Errorf("line %q is at %d, want %d", w.Bytes(), w.Offset(), at)
		}
		at += w.Width()
	}
	if err := w.Err(); err != nil {
		t.Errorf("Err: %v", err)
	}
	return out
}

func TestReader(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
			"data with error": iotest.DataErrReader(strings.NewReader(in)),
		} {
			got := all(t, NewReader(r, 8))
			if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
				t.Errorf("%q %s: got %q, want %q", in, name, got, want)
			}
		}
	}
	f("")
	f("\n", "")
	f("a", "a")
	f("a\n", "a")
	f("a\nb", "a", "b")
	f("a\r\nb\r\n\r\n", "a", "b", "")
	f("a\r", "a")
	f("\x00\x00\nb\x00\n", "\x00\x00", "b\x00")
	f("12345678\nb\n", "12345678", "b")
	f("12345678\r\nb\n", "12345678", "b")
	f("123456789\nb\n", "12345678", "b")
	f("1234567890\r\nb", "12345678", "b")
	f("1234567890abcdefghijklmnopqrstuvw\n\nb\n", "12345678", "", "b")
	f("b\n1234567890abcdefghijklmnopqrstuvw", "b", "12345678")
}

func TestReader_Truncated(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	w := NewReader(strings.NewReader("a\n"+long+"\nb\n"+long), 0)
	var got []string
	for w.Scan() {
		got = append(got, fmt.Sprintf("%d %d %d %v", w.Offset(), len(w.Bytes()), w.Width(), w.Truncated()))
	}
	want := []string{
		"0 1 2 false", "2 1048576 3145729 true", "3145731 1 2 false", "3145733 1048576 3145728 true",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	if w.Err() != nil || w.Bytes() != nil || w.Scan() {
		t.Errorf("after the end: err %v, line %q", w.Err(), w.Bytes())
	}
	if len(w.buf) > 4<<20 {
		t.Errorf("the buffer grew to %d bytes", len(w.buf))
	}
}

func TestReader_Error(t *testing.T) {
	cause := errors.New("cable cut")
	w := NewReader(io.MultiReader(strings.NewReader("a\nbc"), iotest.ErrReader(cause)), 0)
	if !w.Scan() || string(w.Bytes()) != "a" {
		t.Fatalf("first line %q", w.Bytes())
	}
	if w.Scan() {
		t.Errorf("scanned %q after the error", w.Bytes())
	}
	if !errors.Is(w.Err(), cause) || w.Err().Error() != "read log at byte 4: cable cut" {
		t.Errorf("Err = %v", w.Err())
	}
	if w := NewReader(stuck{}, 0); w.Scan() || !errors.Is(w.Err(), io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", w.Err())
	}
}

// stuck is a reader that breaks the rule not to return nothing for ever.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestReader_Allocation(t *testing.T) {
	in := bytes.Repeat([]byte("GET / HTTP/1.1\n"), 1000)
	w := NewReader(bytes.NewReader(in), 0)
	w.Scan()
	if n := testing.AllocsPerRun(900, func() { w.Scan() }); n != 0 {
		t.Errorf("Scan allocates %v times", n)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "a\nb\r\n\r\nc", "\x00\n\n\nlonger than the limit\nx", "\r\n\r"} {
		f.Add([]byte(s), 4, 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit, chunk int) {
		limit, chunk = 1+abs(limit)%100, 1+abs(chunk)%100
		w := NewReader(&chunked{in, chunk}, limit)
		var n int
		var at int64
		for _, want := range slow(in, limit) {
			if !w.Scan() {
				t.Fatalf("no line %d, want %q: %v", n+1, want.text, w.Err())
			}
			n++
			if string(w.Bytes()) != want.text || w.Truncated() != want.cut {
				t.Fatalf("line %d: got %q %v, want %q %v", n, w.Bytes(), w.Truncated(), want.text, want.cut)
			}
			if w.Offset() != at || w.Width() != want.width || w.Line() != int64(n) {
				t.Fatalf("line %d: at %d+%d, want %d+%d", n, w.Offset(), w.Width(), at, want.width)
			}
			at += want.width
		}
		if w.Scan() || w.Err() != nil {
			t.Fatalf("one line too many: %q, %v", w.Bytes(), w.Err())
		}
		if at != int64(len(in)) {
			t.Fatalf("lines take %d bytes of %d", at, len(in))
		}
	})
}

func abs(n int) int { return max(n, -n-1) }

type chunked struct {
	b []byte
	n int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.n)], c.b)
	c.b = c.b[n:]
	return n, nil
}

type slowLine struct {
	text  string
	width int64
	cut   bool
}

// slow splits lines the obvious way.
func slow(in []byte, limit int) []slowLine {
	var out []slowLine
	for _, raw := range strings.SplitAfter(string(in), "\n") {
		if raw == "" {
			continue
		}
		text := strings.TrimSuffix(strings.TrimSuffix(raw, "\n"), "\r")
		l := slowLine{text, int64(len(raw)), len(text) > limit}
		if l.cut {
			l.text = text[:limit]
		}
		out = append(out, l)
	}
	return out
}

func BenchmarkScan(b *testing.B) {
	line := strings.Repeat("x", 180) + "\n"
	path := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 100_000)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)) * 100_000)
	b.ReportAllocs()
	for b.Loop() {
		w, err := Since(Mark{Path: path, Missing: true})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for w.Scan() {
			n++
		}
		if n != 100_000 {
			b.Fatalf("%d lines", n)
		}
		w.Close()
	}
}
