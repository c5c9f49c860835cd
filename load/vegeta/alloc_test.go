//go:build !race

package vegeta

import (
	"io"
	"runtime"
	"testing"
)

// TestHotPathsDoNotAllocate covers what runs for each result of a file and for
// each hit of a load.
func TestHotPathsDoNotAllocate(t *testing.T) {
	const n = 1000
	f := func(what string, fn func()) {
		t.Helper()
		fn()
		if got := testing.AllocsPerRun(n/2, fn); got != 0 {
			t.Errorf("%s: %v allocations a result", what, got)
		}
	}
	results := benchResults(2 * n)
	for _, e := range []Encoding{Gob, JSON, CSV} {
		enc, err := NewEncoder(io.Discard, e)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		f("encode "+string(e), func() {
			i++
			if err := enc.Encode(&results[i%n]); err != nil {
				t.Fatal(err)
			}
		})
		data := encode(t, e, results)
		var r Result
		var h headers
		full, brief := newTestDecoder(e, data), newTestDecoder(e, data)
		brief.LeaveOut()
		f("decode "+string(e), func() {
			if err := full.read(&r, &h); err != nil {
				t.Fatal(err)
			}
		})
		f("decode "+string(e)+" without bodies", func() {
			if err := brief.Decode(&r); err != nil {
				t.Fatal(err)
			}
		})
	}
	var m Metrics
	i := 0
	for range n {
		m.Add(&results[0]) // t-digest makes its lists as it grows
	}
	f("metrics", func() {
		i++
		m.Add(&results[i%n])
	})
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w := newTestWriter(t, io.Discard, WriterOptions{Encoding: CSV})
	hits := hitsFrom(0, chunkHits)
	hits[5].Err = "connection refused"
	written := func() bool {
		w.backlog.mu.Lock()
		defer w.backlog.mu.Unlock()
		return w.backlog.bytes == 0
	}
	f := func() {
		w.Hits(hits)
		for !written() {
			runtime.Gosched()
		}
	}
	for range 100 {
		f()
	}
	if got := testing.AllocsPerRun(500, f); got != 0 {
		t.Errorf("%v allocations for %d hits", got, chunkHits)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
