package score

import (
	"strings"
	"testing"
)

// BenchmarkReadWords: 1 MiB of a benchmark's log, as much as is looked through.
func BenchmarkReadWords(b *testing.B) {
	line := "2026/11/20 14:02:11 POST /api/estate/nazotte: timeout of 1 s\n"
	log := []byte(strings.Repeat(line, (1<<20)/len(line)))
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		ReadWords(log, everyTen)
	}
}
