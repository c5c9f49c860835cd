//go:build !race

package vegeta

import (
	"bytes"
	"io"
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
	var out bytes.Buffer
	out.Grow(64 << 20)
	w := newTestWriter(t, &out, WriterOptions{Encoding: CSV})
	hits := hitsFrom(0, 64)
	hits[5].Err = "connection refused"
	batch := func() {
		for range 100 {
			w.Hits(hits)
		}
	}
	for range 10 {
		batch()
	}
	// A chunk is made anew when all the spare ones wait.
	if got := testing.AllocsPerRun(50, batch); got > 100*64/chunkHits+5 {
		t.Errorf("%v allocations for 6,400 hits", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
