package histogram

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPacked_Equivalence: a histogram that was decoded is in all it does the one
// that was encoded.
func TestPacked_Equivalence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string) *Histogram {
			h, least := New(), 0
			if rapid.IntRange(0, 9).Draw(t, label+" exact") == 0 {
				h, least = NewExact(time.Millisecond), 1 // an empty one is written without its form
			}
			for range rapid.IntRange(least, 20).Draw(t, label) {
				h.RecordN(time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(0, 62).Draw(t, "bits")).Draw(t, "ns")), rapid.Uint64Range(1, 1<<40).Draw(t, "n"))
			}
			return h
		}
		h, o := some("h"), some("o")
		decode := func(of *Histogram) *Histogram {
			b, err := of.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			var out Histogram
			if err := out.UnmarshalBinary(b); err != nil {
				t.Fatal(err)
			}
			for i := range b {
				b[i] = 0xff // it is the caller's to use again
			}
			return &out
		}
		d, do := decode(h), decode(o)
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "do") {
			case 0:
				v := time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "v"))
				h.Record(v)
				d.Record(v)
			case 1:
				h.Merge(o)
				d.Merge(do)
			case 2:
				h.Merge(o)
				d.Merge(o)
			case 3:
				h.Merge(h)
				d.Merge(d)
			case 4:
				h, d = h.Clone(), d.Clone()
			case 5:
				h, d = New(), New()
				h.Merge(o)
				d.Merge(do)
			case 6:
				if unit, exact := h.Exact(); unit > 0 && !exact {
					continue // it is written without its unit, to which Reset returns
				}
				h.Reset()
				d.Reset()
			}
			equal(t, d, h)
		}
		equal(t, d, h)
		equal(t, do, o)
	})
}

// equal compares everything that two histograms return.
func equal(t *rapid.T, got, want *Histogram) {
	describe := func(h *Histogram) string {
		b, err := h.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprint(h.Count(), h.Sum(), h.Mean(), h.Min(), h.Max(), h.Quantile(0.5), h.Quantile(0.99), h.CountBetween(1000, time.Second), bytes.Clone(b))
		h.Each(func(lo, hi time.Duration, n uint64) { s += fmt.Sprint(" ", lo, hi, n) })
		return s
	}
	if a, b := describe(got), describe(want); a != b {
		t.Fatalf("decoded: %s\nencoded: %s", a, b)
	}
}
