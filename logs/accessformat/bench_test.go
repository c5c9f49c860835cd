package accessformat

import (
	"bytes"
	"os"
	"testing"
)

// sampleLines returns the lines of a file of testdata and their bytes.
func sampleLines(t testing.TB, name string) (lines [][]byte, size int) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")), len(b)
}

// mustDetect returns the format of lines.
func mustDetect(t testing.TB, lines ...[]byte) *Format {
	t.Helper()
	f, err := Detect(bytes.Join(lines, nil))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"combined", "ltsv", "json"} {
		b.Run("format="+name, func(b *testing.B) {
			lines, size := sampleLines(b, name+".log")
			p := mustDetect(b, lines...).Parser(ParserOptions{})
			var r Record
			b.SetBytes(int64(size / len(lines)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if why := p.Parse(lines[i%len(lines)], &r); why != "" {
					b.Fatal(why)
				}
			}
		})
	}
}
