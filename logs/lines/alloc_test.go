//go:build !race

package lines

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestSplit_Allocation: the memory that Split takes does not depend on how much
// there is to read: a buffer for each worker, and two for a stream.
func TestSplit_Allocation(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		b.WriteString(strings.Repeat("x", 50+i%101) + "\n")
	}
	large := b.String()
	small := large[:len(large)/10]
	f := func(name string, workers, buffers int, in func(text string) Input) {
		t.Helper()
		measure := func(text string) (bytes, count uint64) {
			var before, after runtime.MemStats
			least := ^uint64(0)
			for range 3 {
				input := in(text)
				runtime.ReadMemStats(&before)
				err := Split(t.Context(), []Input{input}, SplitOptions{Workers: workers}, func(int, *Block) error { return nil })
				runtime.ReadMemStats(&after)
				if err != nil {
					t.Fatal(err)
				}
				least, count = min(least, after.TotalAlloc-before.TotalAlloc), after.Mallocs-before.Mallocs
			}
			return least, count
		}
		_, few := measure(small)
		bytes, many := measure(large)
		if bytes > uint64(buffers*DefaultBlockSize+100<<10) {
			t.Errorf("%s, %d workers: %d bytes", name, workers, bytes)
		}
		if many > few+40 {
			t.Errorf("%s, %d workers: %d allocations, %d for a tenth of it", name, workers, many, few)
		}
	}
	for _, workers := range []int{1, 2, 4} {
		f("file", workers, workers, func(text string) Input { return Input{Path: file(t, "log", text)} })
		f("stream", workers, workers+2, func(text string) Input { return Input{R: struct{ io.Reader }{strings.NewReader(text)}} })
	}
}

func TestTail_Allocation(t *testing.T) {
	l := newLog(t, "")
	tail := newTail(t, l.path)
	l.write(strings.Repeat("0123456789\n", 1000))
	n := testing.AllocsPerRun(1, func() { tail.Next(func([]byte) {}) })
	if n > 20 {
		t.Errorf("1000 lines take %v allocations", n)
	}
}
