package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

func TestSplit_Parts(t *testing.T) {
	path := file(t, "log", "ab\ncd\nef\ngh")
	in := []Input{{Path: path, From: 3, To: 6}, {Path: path, From: 6}, {Path: path, From: 3, To: 3}, {Path: path, From: 9, To: 4}, {Path: path, From: 40}, {Path: path, To: 2}}
	equal(t, "parts", split(t, in, SplitOptions{BlockSize: 1}), want(0, "cd\n", "ef\ngh", "", "", "", "ab"))
}

// TestSplit_Window reads a mark's chain of files over a rotation.
func TestSplit_Window(t *testing.T) {
	l := newLog(t, "\x1f\x8b\x08 old\n")
	m := l.mark()
	l.write("a\nb\n")
	l.rotate(".1", noon)
	l.write("c\n")
	w, err := Since(m)
	l.must(err)
	defer w.Close()
	l.write("after the window\n")
	l.rotate(".2", noon.Add(1))
	equal(t, "window", split(t, w.Inputs(), SplitOptions{}), want(0, "a\nb\n", "c\n"))
	if got := all(t, w); strings.Join(got, "|") != "a|b|c" {
		t.Errorf("afterwards the window has %q", got)
	}
	equal(t, "window again", split(t, w.Inputs(), SplitOptions{}), want(0, "a\nb\n", "c\n"))

	empty, err := Since(l.markAt(m.Path + ".2"))
	l.must(err)
	defer empty.Close()
	l.path += ".2"
	l.write("after the window\n")
	equal(t, "an empty window", split(t, empty.Inputs(), SplitOptions{}), nil)
	equal(t, "a reader", split(t, NewReader(strings.NewReader("a\n"), 0).Inputs(), SplitOptions{}), want(0, "a\n"))
}

func (l *logFile) markAt(path string) Mark {
	l.t.Helper()
	m, err := MarkEnd(path)
	l.must(err)
	return m
}

// TestSplit_WhileWritten: a file ends where it ended when it was opened; one
// that is truncated gives less, and a note.
func TestSplit_WhileWritten(t *testing.T) {
	text := strings.Repeat("0123456\n", 10_000)
	run := func(change func(l *logFile)) (lines int, notes []string) {
		t.Helper()
		l := newLog(t, text)
		o := SplitOptions{BlockSize: 8 << 10, Workers: 2, Note: func(_ int, s string) { notes = append(notes, s) }}
		seqs := map[int]bool{}
		var mu = make(chan struct{}, 1)
		err := Split(t.Context(), []Input{{Path: l.path}}, o, func(_ int, b *Block) error {
			mu <- struct{}{}
			defer func() { <-mu }()
			if seqs[b.Seq] = true; len(seqs) == 2 {
				change(l)
			}
			for line := range bytes.Lines(b.Data) {
				if lines++; string(line) != "0123456\n" && !strings.Contains("0123456", string(line)) {
					return fmt.Errorf("line %q", line)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(seqs) {
			if !seqs[i] {
				t.Errorf("no block %d of %d", i, len(seqs))
			}
		}
		return lines, notes
	}
	if n, notes := run(func(l *logFile) { l.write(text) }); n != 10_000 || notes != nil {
		t.Errorf("grown: %d lines, %q", n, notes)
	}
	if n, notes := run(func(l *logFile) { l.rotate(".1", noon); l.write("other\n") }); n != 10_000 || notes != nil {
		t.Errorf("rotated: %d lines, %q", n, notes)
	}
	if n, notes := run(func(l *logFile) { l.must(os.Remove(l.path)) }); n != 10_000 || notes != nil {
		t.Errorf("removed: %d lines, %q", n, notes)
	}
	for _, size := range []int64{0, 30_000, 30_004, 79_000} {
		n, notes := run(func(l *logFile) { l.must(os.Truncate(l.path, size)) })
		if len(notes) != 1 {
			t.Fatalf("truncated to %d: notes %q", size, notes)
		}
		var lost int
		if _, err := fmt.Sscanf(notes[0][strings.Index(notes[0], "truncated"):], "truncated while it was read: %d bytes are lost", &lost); err != nil {
			t.Fatalf("%q: %v", notes[0], err)
		}
		if read := len(text) - lost; n != (read+7)/8 || int64(read) < size {
			t.Errorf("truncated to %d: %d lines, %d bytes lost of %d", size, n, lost, len(text))
		}
	}
}

func TestSplit_Stops(t *testing.T) {
	path := file(t, "log", strings.Repeat("0123456\n", 100_000))
	cause := errors.New("enough")
	for _, in := range [][]Input{{{Path: path}}, {{R: strings.NewReader(strings.Repeat("x\n", 100_000))}}} {
		var calls, running atomic.Int32
		o := SplitOptions{BlockSize: 1 << 10, Workers: 4}
		err := Split(t.Context(), in, o, func(int, *Block) error {
			running.Add(1)
			defer running.Add(-1)
			if calls.Add(1) == 20 {
				return cause
			}
			return nil
		})
		if err != cause || running.Load() != 0 {
			t.Errorf("error %v, %d still running", err, running.Load())
		}
		if n := calls.Load(); n > 20+4*4 {
			t.Errorf("%d calls", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls.Store(0)
		err = Split(ctx, in, o, func(int, *Block) error { cancel(); calls.Add(1); return nil })
		if !errors.Is(err, context.Canceled) || calls.Load() > 4 {
			t.Errorf("error %v after %d calls", err, calls.Load())
		}
	}
	r, w, err := os.Pipe() // stays open: an error ends the wait for more
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	io.WriteString(w, "0123456\n01")
	err = Split(t.Context(), []Input{{R: r}}, SplitOptions{BlockSize: 8, Workers: 2}, func(int, *Block) error { return cause })
	if err != cause {
		t.Errorf("got %v", err)
	}
	err = Split(t.Context(), []Input{{R: io.MultiReader(strings.NewReader("a\nbc"), iotest.ErrReader(cause)), Path: "x"}}, SplitOptions{}, func(int, *Block) error { return nil })
	if !errors.Is(err, cause) || err.Error() != "read log x at byte 4: enough" {
		t.Errorf("got %v", err)
	}
	if err := Split(t.Context(), []Input{{R: stuck{}}}, SplitOptions{}, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
	if err := Split(t.Context(), []Input{{Path: path + "x"}}, SplitOptions{}, nil); !errors.Is(err, os.ErrNotExist) || hint(err) == "" {
		t.Errorf("a missing file: %v", err)
	}
	if err := Split(t.Context(), nil, SplitOptions{}, nil); err != nil {
		t.Errorf("nothing to read: %v", err)
	}
}

func TestSplit_Progress(t *testing.T) {
	text := strings.Repeat("0123456\n", 100_000)
	gz := gzipped(text)
	f := func(wantTotal int, in ...Input) {
		t.Helper()
		last := int64(-1)
		o := SplitOptions{BlockSize: 64 << 10, Progress: func(done, total int64) {
			if done < last || total != int64(wantTotal) || total > 0 && done > total {
				t.Errorf("progress %d of %d after %d, want %d", done, total, last, wantTotal)
			}
			last = done
		}}
		if err := Split(t.Context(), in, o, func(int, *Block) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if wantTotal > 0 && last != int64(wantTotal) {
			t.Errorf("progress ends at %d of %d", last, wantTotal)
		}
	}
	plain, packed := Input{Path: file(t, "log", text)}, Input{Path: file(t, "log", gz)}
	f(len(text), plain)
	f(len(gz), packed)
	f(len(gz)+2*len(text)-8000, plain, packed, Input{Path: plain.Path, From: 8000})
	f(0, plain, Input{R: strings.NewReader(text)})
	f(0)
}

// TestSplit_LongLine: a line of 100 MB is one line, and costs a block.
func TestSplit_LongLine(t *testing.T) {
	const size = 100 << 20
	path := file(t, "log", "a\n")
	if err := os.Truncate(path, size); err != nil { // NUL bytes, which take no disk
		t.Fatal(err)
	}
	l := &logFile{t, path}
	l.write("\nb\n")
	check := func(name string, in Input) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var got []string
		err := Split(t.Context(), []Input{in}, SplitOptions{Workers: 1}, func(_ int, b *Block) error {
			got = append(got, fmt.Sprintf("%d %d %d", b.Offset, len(b.Data), b.Cut))
			return nil
		})
		runtime.ReadMemStats(&after)
		want := fmt.Sprint([]string{"0 2 0", fmt.Sprintf("2 %d %d", DefaultMaxLine, size-2-DefaultMaxLine+1), fmt.Sprintf("%d 2 0", size+1)})
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 6<<20 {
			t.Errorf("%s: %d bytes of memory", name, n)
		}
	}
	check("file", Input{Path: path})
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	check("stream", Input{R: struct{ io.Reader }{f}})
}
