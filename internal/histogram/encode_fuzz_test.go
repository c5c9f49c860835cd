package histogram

import (
	"bytes"
	"math"
	"testing"
	"time"
)

// FuzzUnmarshalBinary: garbage gives an error and an empty histogram, in bounded
// memory; what is taken is just what AppendBinary writes.
func FuzzUnmarshalBinary(f *testing.F) {
	one, many, large := New(), New(), New()
	one.Record(time.Millisecond)
	for i := range 500 {
		many.Record(time.Duration(i*i*i) * time.Microsecond)
	}
	large.RecordN(math.MaxInt64, 1<<40)
	large.Record(0)
	exact := NewExact(time.Millisecond)
	for i := range 500 {
		exact.RecordN(time.Duration(i*i/20)*time.Millisecond, 1<<(i%40))
	}
	for _, h := range []*Histogram{nil, New(), one, many, large, exact} {
		f.Add(encoded(f, h))
	}
	f.Add([]byte{})
	f.Add([]byte{2, 0})
	f.Add([]byte{2, 1, 1, 0})
	f.Add([]byte{1, 1, 0, 5, 5, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Histogram
		err := h.UnmarshalBinary(b)
		if err != nil {
			if h.count != 0 || h.counts.low != nil || h.counts.high != nil || h.exact != nil {
				t.Fatalf("not empty after %v", err)
			}
			return
		}
		if len(h.counts.low) > pages*pageSize || len(h.counts.high) > pages*pageSize {
			t.Fatalf("%d counts", len(h.counts.low))
		}
		if h.exact != nil && h.exact.bytes() > exactBytes {
			t.Fatalf("%d bytes", h.exact.bytes())
		}
		if !bytes.Equal(b, encoded(t, &h)) {
			t.Fatalf("% x was taken but is written % x", b, encoded(t, &h))
		}
		if h.Quantile(0.5) < h.Min() || h.Quantile(0.5) > h.Max() || h.Mean() < h.Min() || h.Mean() > h.Max() {
			t.Fatalf("median %d, mean %d outside %d..%d", h.Quantile(0.5), h.Mean(), h.Min(), h.Max())
		}
	})
}
