package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// sample is a second of latencies around 9 ms, with a tail.
func sample(n int) []time.Duration {
	r := rand.New(rand.NewPCG(3, 5))
	ds := make([]time.Duration, n)
	for i := range ds {
		ds[i] = time.Duration(math.Exp(r.NormFloat64()*0.7) * float64(9*time.Millisecond))
	}
	return ds
}

func BenchmarkRecord(b *testing.B) {
	ds := sample(1 << 12)
	b.Run("kind=kasoku", func(b *testing.B) {
		h := New()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			h.Record(ds[i&(len(ds)-1)])
		}
	})
	b.Run("kind=exact", func(b *testing.B) {
		h, ms := NewExact(time.Millisecond), slices.Clone(ds)
		for i := range ms {
			ms[i] = ms[i].Truncate(time.Millisecond)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			h.Record(ms[i&(len(ms)-1)])
		}
		if _, ok := h.Exact(); !ok {
			b.Fatal("not exact")
		}
	})
	b.Run("kind=hdr3", func(b *testing.B) {
		h := hdrhistogram.New(1, int64(time.Hour), 3)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_ = h.RecordValue(int64(ds[i&(len(ds)-1)]))
		}
	})
}

func BenchmarkNewSecond(b *testing.B) {
	ds := sample(1000)
	b.ReportAllocs()
	for b.Loop() {
		record(ds)
	}
}

func BenchmarkMerge(b *testing.B) {
	b.Run("kind=kasoku", func(b *testing.B) {
		second, total := record(sample(1000)), New()
		b.ReportAllocs()
		for b.Loop() {
			total.Merge(second)
		}
	})
	b.Run("kind=packed", func(b *testing.B) {
		buf, _ := record(sample(1000)).AppendBinary(nil)
		second, total := New(), New()
		if err := second.UnmarshalBinary(buf); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			total.Merge(second)
		}
	})
	b.Run("kind=exact", func(b *testing.B) {
		second, total := NewExact(time.Millisecond), New()
		for _, d := range sample(1000) {
			second.Record(d.Truncate(time.Millisecond))
		}
		b.ReportAllocs()
		for b.Loop() {
			total.Merge(second)
		}
	})
}

func BenchmarkQuantile(b *testing.B) {
	h := record(sample(100_000))
	b.ReportAllocs()
	for b.Loop() {
		h.Quantile(0.99)
	}
}

func BenchmarkAppendBinary(b *testing.B) {
	h := record(sample(1000))
	buf, _ := h.AppendBinary(nil)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = h.AppendBinary(buf[:0])
	}
}

func BenchmarkUnmarshalBinary(b *testing.B) {
	buf, _ := record(sample(1000)).AppendBinary(nil)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	var h Histogram
	for b.Loop() {
		if err := h.UnmarshalBinary(buf); err != nil {
			b.Fatal(err)
		}
	}
}
