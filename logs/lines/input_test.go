package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
)

func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.log", "a.log", "a.log.1", "odd[1].log", "sub/x.log"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	f := func(args, want string) {
		t.Helper()
		in, err := Inputs(strings.Fields(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
		}
		var got []string
		for _, i := range in {
			got = append(got, i.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	f("", "-")
	f("-", "-")
	f("b.log a.log", "b.log a.log")
	f("a.log*", "a.log a.log.1")
	f("b.log *.log", "b.log a.log b.log odd[1].log")
	f("odd[1].log", "odd[1].log")
	f("*", "a.log a.log.1 b.log odd[1].log")
	f("/dev/null", "/dev/null")

	bad := func(arg, want, wantHint string) {
		t.Helper()
		in, err := Inputs([]string{arg})
		if in != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(hint(err), wantHint) {
			t.Errorf("%s: %v, %v, hint %q; want %q, hint %q", arg, in, err, hint(err), want, wantHint)
		}
	}
	bad("none.log", "read log: open none.log: no such file or directory", "- for standard input")
	bad("none*", `input "none*": no file matches the pattern`, "quoted pattern")
	bad("[", `input "[": syntax error in pattern`, "quoted pattern")
	bad("sub", "sub is a directory", `"sub/*.log*"`)
	bad("su?", `input "su?": only directories match the pattern`, "name its files")
	bad("a.log/x", "not a directory", "")
	if os.Getuid() != 0 {
		if err := os.Chmod("b.log", 0); err != nil {
			t.Fatal(err)
		}
		bad("b.log", "permission denied", "")
	}
}

func TestPeek(t *testing.T) {
	text := strings.Repeat("0123456789\n", 20_000)
	inputs := map[string]func() Input{
		"file":        func() Input { return Input{Path: file(t, "log", text)} },
		"gzip":        func() Input { return Input{Path: file(t, "log", gzipped(text[:3], text[3:]))} },
		"zstd":        func() Input { return Input{Path: file(t, "log", zstded(t, text[:3], text[3:]))} },
		"reader":      func() Input { return Input{R: iotest.HalfReader(strings.NewReader(text))} },
		"gzip reader": func() Input { return Input{R: strings.NewReader(gzipped(text))} },
		"pipe":        func() Input { return Input{R: pipe(t, text)} },
		"fifo":        func() Input { return Input{Path: fifo(t, text)} },
		"open file":   func() Input { f, _ := os.Open(file(t, "log", text)); return Input{R: f} },
		"open gzip":   func() Input { f, _ := os.Open(file(t, "log", gzipped(text))); return Input{R: f} },
	}
	for name, make := range inputs {
		in := make()
		for _, n := range []int{0, 1, 20, 5000, 100_000, 1 << 20} {
			b, err := in.Peek(n)
			if err != nil || string(b) != text[:min(n, len(text))] {
				t.Errorf("%s: Peek(%d) gives %d bytes, %v", name, n, len(b), err)
			}
		}
		equal(t, name, split(t, []Input{in}, SplitOptions{}), want(0, text))

		in = make()
		if _, err := in.Peek(100_000); err != nil {
			t.Error(err)
		}
		w, err := Open([]Input{in}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, w); len(got) != 20_000 || w.Note() != "" {
			t.Errorf("%s: %d lines, note %q", name, len(got), w.Note())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if b, err := (&Input{R: strings.NewReader("")}).Peek(5); len(b) != 0 || err != nil {
		t.Errorf("nothing: %q, %v", b, err)
	}
	if b, err := (&Input{Path: file(t, "log", text), From: 11, To: 15}).Peek(100); string(b) != "0123" || err != nil {
		t.Errorf("a part: %q, %v", b, err)
	}
	if _, err := (&Input{R: iotest.ErrReader(io.ErrClosedPipe)}).Peek(5); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a broken reader: %v", err)
	}
}

// pipe returns a pipe that a goroutine writes the text to.
func pipe(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.WriteString(w, text)
		w.Close()
	}()
	t.Cleanup(func() { r.Close(); <-done })
	return r
}

// fifo returns the path of a named pipe that a goroutine writes the text to.
func fifo(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			io.WriteString(f, text)
			f.Close()
		}
	}()
	t.Cleanup(func() { <-done })
	return path
}

// bzipped is "a\nb\n" by bzip2 1.0.8.
const bzipped = "BZh91AY&SY<\x85A\x12\x00\x00\x01A\x00\x00\x100\x00 \x000\xcc\x0cz\x82qw$S\x85\t\x03\xc8T\x11 "

func TestPacked(t *testing.T) {
	f := func(name, content string, want ...string) {
		t.Helper()
		for kind, in := range map[string]Input{"file": {Path: file(t, "log", content)}, "reader": {R: iotest.OneByteReader(strings.NewReader(content))}} {
			var got []string
			for _, l := range split(t, []Input{in}, SplitOptions{}) {
				got = append(got, l.Text)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %s: got %q, want %q", name, kind, got, want)
			}
		}
	}
	f("gzip", gzipped("a\nb\n"), "a", "b")
	f("gzip members", gzipped("a\nb", "c\n", "", "d"), "a", "bc", "d")
	f("gzip empty", gzipped(""))
	f("zstd", zstded(t, "a\nb\n"), "a", "b")
	f("zstd frames", zstded(t, "a\nb", "c\nd"), "a", "bc", "d")
	f("zstd after a skippable frame", "\x50\x2a\x4d\x18\x02\x00\x00\x00xx"+zstded(t, "a\n"), "a")
	f("bzip2", bzipped, "a", "b")
	f("bzip2 streams", bzipped+bzipped, "a", "b", "a", "b")
	f("begins like gzip", "\x1f\x8b", "\x1f\x8b")
	f("begins like bzip2", "BZh91 a\n", "BZh91 a")

	bad := func(content, want, wantHint string) {
		t.Helper()
		for _, in := range []Input{{Path: file(t, "log", content)}, {R: strings.NewReader(content), Path: "log"}} {
			err := Split(t.Context(), []Input{in}, SplitOptions{}, func(int, *Block) error { return nil })
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(hint(err), wantHint) {
				t.Errorf("Split: %v, hint %q; want %q, hint %q", err, hint(err), want, wantHint)
			}
			w := newWindow([]source{{in: Input{R: strings.NewReader(content), Path: "log"}}}, 0)
			if w.Scan() || w.Err() == nil || !strings.Contains(w.Err().Error(), want) {
				t.Errorf("Window: %v, want %q", w.Err(), want)
			}
		}
	}
	bad("\xfd7zXZ\x00\x00", "log: xz is not read", "xz -dc FILE | kasoku")
	bad("\x04\x22\x4d\x18xx", "log: lz4 is not read", "lz4 -dc")
	bad("\x1f\x8b\x08 garbage", "log", "")
	bad(gzipped("abc")[:12], "the gzip data ends in the middle", "")
	bad(zstded(t, "abc")[:7], "the zstd data", "")
	bad("\x28\xb5\x2f\xfdgarbage and more of it", "the zstd data is damaged", "")
	bad(bzipped[:20], "the bzip2 data ends in the middle", "")
}

// TestPacked_Damaged: what can be read is given, and a note says that it is not
// all.
func TestPacked_Damaged(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d of some text %x\n", i, i*i*7919)
	}
	f := func(name, content, wantNote string) {
		t.Helper()
		path := file(t, name, content)
		whole := want(0, text.String())
		var notes []string
		o := SplitOptions{Note: func(i int, s string) { notes = append(notes, fmt.Sprint(i, " ", s)) }}
		got := split(t, []Input{{Path: path}, {R: strings.NewReader("last\n")}}, o)
		if n := len(got); n < 10_000 || n > len(whole)+1 || got[n-1].Text != "last" {
			t.Fatalf("%s: %d of %d lines", name, n, len(whole))
		}
		got = got[:len(got)-1]
		equal(t, name, got[:len(got)-1], whole[:len(got)-1])
		if len(notes) != 1 || !strings.HasPrefix(notes[0], "0 "+path+": ") || !strings.Contains(notes[0], wantNote) {
			t.Errorf("%s: notes %q, want %q", name, notes, wantNote)
		}
		w, err := Open([]Input{{Path: path}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if lines := all(t, w); len(lines) != len(got) || !strings.Contains(w.Note(), wantNote) {
			t.Errorf("%s: Window has %d lines, Split %d; note %q", name, len(lines), len(got), w.Note())
		}
	}
	gz, zs := gzipped(text.String()), zstded(t, text.String())
	f("gzip cut", gz[:len(gz)/2], "the gzip data ends in the middle")
	f("gzip without its last byte", gz[:len(gz)-1], "the gzip data ends in the middle")
	f("gzip with a wrong sum", gz[:len(gz)-8]+"\x00\x00\x00\x00"+gz[len(gz)-4:], "the gzip data is damaged")
	f("gzip and garbage", gz+"garbage that is no member", "the gzip data is damaged")
	f("zstd cut", zs[:len(zs)/2], "the zstd data ends in the middle")
	f("zstd and garbage", zs+"garbage that is no frame", "the zstd data is damaged")
}

// TestPacked_Window: a stream that asks for more memory than is given is refused.
func TestPacked_Window(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(512<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("a\n")); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	w.Close()
	err = Split(t.Context(), []Input{{R: &b}}, SplitOptions{}, func(int, *Block) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "window size exceeded") {
		t.Errorf("got %v", err)
	}
}

// TestWaitsForAPipe: waiting for a pipe without a writer ends with the
// context.
func TestWaitsForAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, in := range []Input{{R: r}, {Path: path}} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		err := Split(ctx, []Input{in}, SplitOptions{Workers: 3}, func(int, *Block) error { return nil })
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Split: %v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := in.PeekContext(ctx, 100); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Peek: %v", err)
		}
		cancel()
	}
}
