package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestZeroValue(t *testing.T) {
	var zero Histogram
	for name, h := range map[string]*Histogram{"nil": nil, "zero": &zero, "New": New()} {
		if h.Count() != 0 || h.Sum() != 0 || h.Mean() != 0 || h.Min() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 {
			t.Errorf("%s: an empty histogram is not all 0", name)
		}
		if n := h.CountBetween(0, math.MaxInt64); n != 0 {
			t.Errorf("%s: CountBetween = %d", name, n)
		}
		h.Each(func(lo, hi time.Duration, n uint64) { t.Errorf("%s: Each gave %v %v %d", name, lo, hi, n) })
		if c := h.Clone(); c == nil || c.Count() != 0 {
			t.Errorf("%s: Clone = %v", name, c)
		}
	}
	var h Histogram
	h.Merge(nil)
	h.Merge(&zero)
	h.Record(3)
	if h.Count() != 1 || h.Min() != 3 {
		t.Errorf("zero value does not record: %d %v", h.Count(), h.Min())
	}
}

func TestBuckets(t *testing.T) {
	var next uint64
	for b := uint(0); b < buckets; b++ {
		lo, width := bounds(b)
		if lo != next {
			t.Fatalf("bucket %d begins at %d, want %d", b, lo, next)
		}
		next = lo + width
		if bucketOf(lo) != b || bucketOf(next-1) != b {
			t.Fatalf("bucket %d: [%d, %d) is not its own", b, lo, next)
		}
		if width > 1 && width*sub > lo {
			t.Fatalf("bucket %d is %d wide at %d", b, width, lo)
		}
	}
	if next != 1<<63 {
		t.Errorf("the buckets end at %d", next)
	}
	if pages > math.MaxUint8 {
		t.Errorf("%d pages do not fit a byte", pages)
	}
}

func TestEdges(t *testing.T) {
	h := New()
	h.Record(-time.Second) // counts as 0
	h.Record(0)
	h.Record(math.MaxInt64)
	h.Record(math.MaxInt64)
	if h.Min() != 0 || h.Max() != math.MaxInt64 || h.Sum() != math.MaxInt64 {
		t.Errorf("min %d max %d sum %d", h.Min(), h.Max(), h.Sum())
	}
	if want := time.Duration(math.MaxInt64 / 2); h.Mean() != want {
		t.Errorf("Mean = %d, want %d", h.Mean(), want)
	}
	if q := h.Quantile(0.5); q != 0 {
		t.Errorf("median of two zeros and two others = %v", q)
	}
	var last time.Duration
	h.Each(func(_, hi time.Duration, _ uint64) { last = hi })
	if last != math.MaxInt64 {
		t.Errorf("last bucket ends at %d", last)
	}
}

func TestRank(t *testing.T) {
	f := func(q float64, n, want uint64) {
		t.Helper()
		if got := Rank(q, n); got != want {
			t.Errorf("Rank(%v, %d) = %d, want %d", q, n, got, want)
		}
	}
	f(0, 10, 1)
	f(-1, 10, 1)
	f(math.NaN(), 10, 1)
	f(1, 10, 10)
	f(2, 10, 10)
	f(math.Inf(1), 10, 10)
	f(0.5, 1, 1)
	f(0.5, 2, 1)
	f(0.5, 3, 2)
	f(0.99, 100, 99)
	f(0.99, 101, 100)
	f(0.95, 20, 19)
	f(0.07, 100, 7) // 0.07*100 is 7.000000000000001
	f(0.29, 100, 29)
	f(0.999, 1000, 999)
	f(1e-300, 10, 1)
	f(0.5, math.MaxUint64, 1<<63)
	for n := uint64(1); n <= 1000; n++ {
		for k := uint64(1); k <= n; k++ {
			if got := Rank(float64(k)/float64(n), n); got != k {
				t.Fatalf("Rank(%d/%d, %d) = %d", k, n, n, got)
			}
		}
	}
}

func TestCountPast32Bits(t *testing.T) {
	h := New()
	h.RecordN(time.Millisecond, math.MaxUint32)
	h.Record(time.Millisecond)
	h.Record(time.Millisecond)
	h.Record(time.Second)
	h.Merge(h) // into itself: twice
	c := New()
	c.RecordN(time.Millisecond, math.MaxUint32)
	c.Merge(c.Clone()) // a carry out of the low halves
	if got := c.CountBetween(0, time.Hour); got != 2*math.MaxUint32 {
		t.Errorf("twice 2^32-1 is %d", got)
	}
	want := map[time.Duration]uint64{time.Millisecond: 2 * (math.MaxUint32 + 2), time.Second: 2}
	var n uint64
	for d, w := range want {
		lo, width := bounds(bucketOf(uint64(d)))
		got := h.CountBetween(time.Duration(lo), time.Duration(lo+width))
		if got != w {
			t.Errorf("%v: %d, want %d", d, got, w)
		}
		n += got
	}
	if n != h.Count() {
		t.Errorf("counts %d, Count %d", n, h.Count())
	}
	if b, _ := h.AppendBinary(nil); len(b) > 40 {
		t.Errorf("encoding takes %d bytes", len(b))
	} else if err := New().UnmarshalBinary(b); err != nil {
		t.Error(err)
	}
	h.Reset()
	h.Record(time.Millisecond)
	if h.CountBetween(0, time.Hour) != 1 {
		t.Error("Reset left a count")
	}
}

func TestReset(t *testing.T) {
	h := New()
	for i := range 1000 {
		h.Record(time.Duration(i*i) * time.Microsecond)
	}
	h.Reset()
	a, _ := h.AppendBinary(nil)
	b, _ := New().AppendBinary(nil)
	if !slices.Equal(a, b) {
		t.Errorf("after Reset % x, new % x", a, b)
	}
}

// TestSize holds the promises of the package comment on memory and disk.
func TestSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	logNormal := func(n int) *Histogram {
		h := New()
		for range n {
			h.Record(time.Duration(math.Exp(r.NormFloat64()*0.6) * float64(9*time.Millisecond)))
		}
		return h
	}
	f := func(n, maxMemory, maxDisk int) {
		t.Helper()
		h := logNormal(n)
		if got := 4 * cap(h.counts.low); got > maxMemory {
			t.Errorf("%d durations take %d bytes of memory, want at most %d", n, got, maxMemory)
		}
		b, _ := h.AppendBinary(nil)
		if len(b) > maxDisk {
			t.Errorf("%d durations take %d bytes on disk, want at most %d", n, len(b), maxDisk)
		}
	}
	f(0, 0, 2)
	f(10, 2<<10, 60)
	f(1_000, 5<<10, 800)
	f(100_000, 6<<10, 2<<10)
}
