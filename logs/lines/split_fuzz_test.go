package lines

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// FuzzSplit: any block size and number of workers give the lines that there are,
// at their places, of a file, a stream and a compressed stream.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "a\nb\r\n\r\nc", "\x00\n\n\nlonger than the limit\nx", "\r\n\r", "123456789\r\nb\n"} {
		f.Add([]byte(s), 4, 3, 2, 2)
		f.Add([]byte(s), 8, 8, 1, 100)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in []byte, limit, block, workers, chunk int) {
		o := SplitOptions{MaxLine: 1 + abs(limit)%100, BlockSize: 1 + abs(block)%100, Workers: 1 + abs(workers)%4}
		path := filepath.Join(dir, fmt.Sprint(os.Getpid()))
		if err := os.WriteFile(path, in, 0o600); err != nil {
			t.Fatal(err)
		}
		w := want(o.MaxLine, string(in))
		if !isPacked(in[:min(len(in), magicLen)]) {
			equal(t, "file", split(t, []Input{{Path: path}}, o), w)
			equal(t, "stream", split(t, []Input{{R: &chunked{slices.Clone(in), 1 + abs(chunk)%100}}}, o), w)
		}
		equal(t, "gzip", split(t, []Input{{R: strings.NewReader(gzipped(string(in)))}}, o), w)
	})
}

// FuzzPacked: whatever bytes claim to be compressed, Split and Window read the
// same lines of them, or both fail.
func FuzzPacked(f *testing.F) {
	text := strings.Repeat("a line\nand another one\n", 20)
	for _, s := range []string{gzipped(text), gzipped(text, text), zstded(f, text), zstded(f, text, text), bzipped, "\xfd7zXZ\x00", "\x04\x22\x4d\x18", "\x50\x2a\x4d\x18\x01\x00\x00\x00x"} {
		f.Add([]byte(s))
		f.Add([]byte(s[:len(s)*2/3]))
		f.Add([]byte(s + "garbage"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var notes []string
		var mu sync.Mutex
		blocks := map[int]*Block{}
		o := SplitOptions{Workers: 2, BlockSize: 64, MaxLine: 1000, Note: func(_ int, s string) { notes = append(notes, s) }}
		err := Split(t.Context(), []Input{{R: bytes.NewReader(in)}}, o, func(_ int, b *Block) error {
			mu.Lock()
			defer mu.Unlock()
			c := *b
			c.Data = bytes.Clone(b.Data)
			blocks[b.Seq] = &c
			return nil
		})
		w, openErr := Open([]Input{{R: bytes.NewReader(in)}}, 1000)
		if openErr != nil {
			t.Fatal(openErr)
		}
		defer w.Close()
		var lines []placed
		for w.Scan() {
			lines = append(lines, placed{0, w.Offset(), w.Width(), string(w.Bytes()), w.Truncated()})
		}
		if (err == nil) != (w.Err() == nil) {
			t.Fatalf("Split says %v, Window %v", err, w.Err())
		}
		if strings.Join(notes, "; ") != w.Note() {
			t.Fatalf("Split notes %q, Window %q", notes, w.Note())
		}
		if err == nil && (len(notes) == 0 || !isBzip2(in)) { // compress/bzip2 gives an error early or late, as it is read
			equal(t, "Split", merged(t, blocks, 1000), lines)
		}
	})
}
