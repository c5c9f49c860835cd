package lines

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// logText is 1,000,000 lines that compress as those of an access log do.
func logText() string {
	var b strings.Builder
	for i := range 1_000_000 {
		h := uint32(i) * 2654435761
		fmt.Fprintf(&b, "10.0.%d.%d - - [10/Oct/2026:13:55:%02d +0900] \"GET /api/item/%d HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d\n",
			h>>8&255, h&255, i/20000, h>>12&0xffff, h>>16&0x3fff, h>>20%1000)
	}
	return b.String()
}

// BenchmarkSplit: f=none does nothing with the blocks, f=lines finds each line.
func BenchmarkSplit(b *testing.B) {
	text := logText()
	path := file(b, "log", text)
	gz, zs := file(b, "log.gz", gzipped(text)), file(b, "log.zst", zstded(b, text))
	sources := []struct {
		name string
		in   func() Input
	}{
		{"file", func() Input { return Input{Path: path} }},
		{"stream", func() Input { return Input{R: struct{ io.Reader }{strings.NewReader(text)}} }},
		{"gzip", func() Input { return Input{Path: gz} }},
		{"zstd", func() Input { return Input{Path: zs} }},
	}
	for _, src := range sources {
		for _, workers := range []int{1, 2} {
			for _, do := range []string{"none", "lines"} {
				b.Run(fmt.Sprintf("source=%s/workers=%d/f=%s", src.name, workers, do), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					for b.Loop() {
						var n [2]struct {
							lines int
							_     [7]int // a cache line each
						}
						err := Split(b.Context(), []Input{src.in()}, SplitOptions{Workers: workers}, func(w int, bl *Block) error {
							if do == "lines" {
								for d := bl.Data; len(d) > 0; n[w].lines++ {
									d = d[bytes.IndexByte(d, '\n')+1:]
								}
							}
							return nil
						})
						if err != nil || do == "lines" && n[0].lines+n[1].lines != 1_000_000 {
							b.Fatal(n, err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkTail(b *testing.B) {
	text := strings.Repeat("0123456789012345678901234567890123456789012345678901234567890123456789\n", 20_000)
	l := newLog(b, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		t, err := TailFrom(Mark{Path: l.path, Missing: true})
		if err != nil {
			b.Fatal(err)
		}
		if n, err := t.Next(func([]byte) {}); n != 20_000 || err != nil {
			b.Fatal(n, err)
		}
		t.Close()
	}
}
