package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A placed is a line with its place.
type placed struct {
	Input  int
	Offset int64
	Width  int64
	Text   string
	Cut    bool
}

// split returns the lines that Split gives, in order, and checks the blocks.
func split(t testing.TB, in []Input, o SplitOptions) []placed {
	t.Helper()
	var mu sync.Mutex
	blocks := map[int]*Block{}
	busy := map[int]bool{}
	err := Split(context.Background(), in, o, func(worker int, b *Block) error {
		mu.Lock()
		if busy[worker] || blocks[b.Seq] != nil {
			t.Errorf("worker %d busy %v, block %d again", worker, busy[worker], b.Seq)
		}
		busy[worker] = true
		mu.Unlock()
		c := *b
		c.Data = bytes.Clone(b.Data)
		for i := range b.Data {
			b.Data[i] = '\n' // who changes it does no harm
		}
		mu.Lock()
		blocks[b.Seq], busy[worker] = &c, false
		mu.Unlock()
		return nil
	})
	if err != nil {
		t.Fatalf("Split: %v", err)
	}
	return merged(t, blocks, o.MaxLine)
}

// merged puts the lines of blocks in order.
func merged(t testing.TB, blocks map[int]*Block, limit int) []placed {
	t.Helper()
	if limit == 0 {
		limit = DefaultMaxLine
	}
	var out []placed
	var at int64
	for seq := range len(blocks) {
		b := blocks[seq]
		if b == nil {
			t.Fatalf("no block %d of %d", seq, len(blocks))
		}
		if seq > 0 && b.Input != blocks[seq-1].Input {
			at = 0
		}
		if b.Offset != at {
			t.Fatalf("block %d is at %d, want %d", seq, b.Offset, at)
		}
		if b.Cut > 0 {
			if len(b.Data) != limit {
				t.Fatalf("block %d: a line cut to %d bytes", seq, len(b.Data))
			}
			out = append(out, placed{b.Input, at, int64(len(b.Data)) + b.Cut, string(b.Data), true})
			at += int64(len(b.Data)) + b.Cut
			continue
		}
		for line := range bytes.Lines(b.Data) {
			text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			out = append(out, placed{b.Input, at, int64(len(line)), string(text), false})
			at += int64(len(line))
		}
		if last := seq+1 == len(blocks) || blocks[seq+1].Input != b.Input; !last && !bytes.HasSuffix(b.Data, []byte("\n")) {
			t.Fatalf("block %d of input %d ends within a line", seq, b.Input)
		}
	}
	return out
}

// want returns the lines of the contents, split the obvious way.
func want(limit int, contents ...string) []placed {
	if limit == 0 {
		limit = DefaultMaxLine
	}
	var out []placed
	for i, c := range contents {
		at := int64(0)
		for _, l := range slow([]byte(c), limit) {
			out = append(out, placed{i, at, l.width, l.text, l.cut})
			at += l.width
		}
	}
	return out
}

func equal(t testing.TB, what string, got, want []placed) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: line %d is %.200v, want %.200v", what, i, fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", want[i]))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d lines, want %d", what, len(got), len(want))
	}
}

func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		io.WriteString(w, p)
		w.Close()
	}
	return b.String()
}

func zstded(t testing.TB, parts ...string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, p := range parts {
		b = w.EncodeAll([]byte(p), b)
	}
	return string(b)
}

func TestSplit(t *testing.T) {
	contents := []string{
		"", "\n", "a", "a\n", "a\nb", "a\r\nb\r\n\r\n", "\x00\x00\nb\x00\n", "12345678\nb\n", "12345678\r\nb\n",
		"123456789\nb\n", "123456789\r\nb\n", "12345678\r", "123456789\r", "1234567890\r\nb",
		"1234567890abcdefghijklmnopqrstuvw\n\nb\n", "b\n1234567890abcdefghijklmnopqrstuvw", strings.Repeat("x\n\n", 50),
	}
	paths := make([]string, len(contents))
	for i, c := range contents {
		paths[i] = file(t, "log", c)
	}
	for _, o := range []SplitOptions{{}, {MaxLine: 8}, {MaxLine: 8, BlockSize: 3}, {MaxLine: 8, BlockSize: 1}, {MaxLine: 8, BlockSize: 8, Workers: 5}, {BlockSize: 4}} {
		var plain, streams, packed []Input
		for i, c := range contents {
			plain = append(plain, Input{Path: paths[i]})
			streams = append(streams, Input{R: iotest.OneByteReader(strings.NewReader(c))})
			packed = append(packed, Input{Path: file(t, "log.gz", gzipped(c[:len(c)/2], c[len(c)/2:]))}, Input{R: strings.NewReader(zstded(t, c[:len(c)/2], c[len(c)/2:]))})
		}
		name := fmt.Sprintf("%+v", o)
		equal(t, name, split(t, plain, o), want(o.MaxLine, contents...))
		equal(t, name+" streams", split(t, streams, o), want(o.MaxLine, contents...))
		var twice []string
		for _, c := range contents {
			twice = append(twice, c, c)
		}
		equal(t, name+" packed", split(t, packed, o), want(o.MaxLine, twice...))
	}
}

// TestSplit_StoppedProgress: what was read of an input that was not read to its end counts, and no more.
func TestSplit_StoppedProgress(t *testing.T) {
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintln(&text, "line", i*7919%100_003)
	}
	for name, content := range map[string]string{"plain": text.String(), "gzip": gzipped(text.String())} {
		ctx, stop := context.WithCancel(t.Context())
		var far int64
		err := Split(ctx, []Input{{Path: file(t, name, content)}}, SplitOptions{Workers: 2, BlockSize: 4 << 10,
			Progress: func(done, _ int64) { far = done }}, func(int, *Block) error { stop(); return nil })
		if err == nil || far <= 0 || far > int64(len(content))/2 {
			t.Errorf("%s: %d of %d bytes, %v", name, far, len(content), err)
		}
	}
}
