package histogram

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// durations draws durations of every size, with many equal ones and edges.
func durations() *rapid.Generator[[]time.Duration] {
	one := rapid.OneOf(
		rapid.Map(rapid.Float64Range(0, 63*math.Ln2), func(x float64) time.Duration {
			return time.Duration(min(math.Exp(x), math.MaxInt64/2))
		}),
		rapid.Map(rapid.IntRange(0, 2000), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }),
		rapid.Map(rapid.UintRange(0, buckets-1), func(b uint) time.Duration { lo, _ := bounds(b); return time.Duration(lo) }),
		rapid.Map(rapid.UintRange(0, buckets-1), func(b uint) time.Duration { lo, w := bounds(b); return time.Duration(lo + w - 1) }),
		rapid.SampledFrom([]time.Duration{0, 1, 127, 128, 255, 256, math.MaxInt64, -1, math.MinInt64}),
	)
	return rapid.SliceOfN(one, 0, 300)
}

func record(ds []time.Duration) *Histogram {
	h := New()
	for _, d := range ds {
		h.Record(d)
	}
	return h
}

// TestAgainstSortedSlice compares with the obvious way: keep all and sort.
func TestAgainstSortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := durations().Draw(t, "durations")
		h := record(ds)
		for i := range ds {
			ds[i] = max(ds[i], 0)
		}
		slices.Sort(ds)
		n := uint64(len(ds))
		var sumHi, sumLo uint64
		for _, d := range ds {
			if sumLo+uint64(d) < sumLo {
				sumHi++
			}
			sumLo += uint64(d)
		}
		if h.Count() != n || h.sumHi != sumHi || h.sumLo != sumLo {
			t.Fatalf("count %d sum %d,%d, want %d %d,%d", h.Count(), h.sumHi, h.sumLo, n, sumHi, sumLo)
		}
		if n == 0 {
			return
		}
		if h.Min() != ds[0] || h.Max() != ds[n-1] {
			t.Errorf("min %d max %d, want %d %d", h.Min(), h.Max(), ds[0], ds[n-1])
		}
		q := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 0.9, 0.95, 0.99, 0.999, 1})).Draw(t, "q")
		want := ds[Rank(q, n)-1]
		if got := h.Quantile(q); !within(got, want) {
			t.Errorf("Quantile(%v) of %d = %d, want %d", q, n, got, want)
		}
		checkRanges(t, h, ds)
	})
}

// within reports whether got is as near to want as the package promises.
func within(got, want time.Duration) bool {
	return math.Abs(float64(got-want)) <= float64(want)/256
}

// checkRanges compares Each and CountBetween with the sorted durations.
func checkRanges(t *rapid.T, h *Histogram, ds []time.Duration) {
	var seen uint64
	last := time.Duration(-1)
	h.Each(func(lo, hi time.Duration, n uint64) {
		from, _ := slices.BinarySearch(ds, lo)
		to, _ := slices.BinarySearch(ds, hi)
		if hi == math.MaxInt64 {
			to = len(ds)
		}
		if uint64(to-from) != n || lo <= last || hi <= lo {
			t.Errorf("Each gave [%d, %d) %d, want %d", lo, hi, n, to-from)
		}
		seen, last = seen+n, lo
	})
	if seen != h.Count() {
		t.Errorf("Each gave %d of %d", seen, h.Count())
	}
	at := time.Duration(rapid.Int64Min(0).Draw(t, "at"))
	below, above := h.CountBetween(0, at), h.CountBetween(at, math.MaxInt64)
	atEnd := h.Count() - h.CountBetween(0, math.MaxInt64) // those of the longest Duration itself
	if below+above+atEnd != h.Count() {
		t.Errorf("CountBetween: %d below %d, %d from it, of %d", below, at, above, h.Count())
	}
	least, _ := slices.BinarySearch(ds, at-at/128-1)
	most := len(ds)
	if at < math.MaxInt64-at/128-1 {
		most, _ = slices.BinarySearch(ds, at+at/128+1)
	}
	if below < uint64(least) || below > uint64(most) {
		t.Errorf("CountBetween(0, %d) = %d, want %d to %d", at, below, least, most)
	}
}

// TestAgainstHdrHistogram compares with Gil Tene's histogram at 3 digits, whose
// buckets are finer; both are within their promise of the same rank.
func TestAgainstHdrHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	shapes := map[string]func() float64{
		"lognormal":   func() float64 { return math.Exp(r.NormFloat64()) * 1e7 },
		"exponential": func() float64 { return r.ExpFloat64() * 2e6 },
		"uniform":     func() float64 { return r.Float64() * 3e9 },
		"bimodal":     func() float64 { return 8e6 + float64(r.IntN(2))*1.1e9 + r.NormFloat64()*1e5 },
		"tiny":        func() float64 { return float64(r.IntN(400)) },
	}
	for name, draw := range shapes {
		h, hdr := New(), hdrhistogram.New(1, int64(time.Hour), 3)
		for range 20_000 {
			v := int64(min(max(draw(), 0), float64(time.Hour)))
			h.Record(time.Duration(v))
			if err := hdr.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		if h.Count() != uint64(hdr.TotalCount()) {
			t.Errorf("%s: count %d, HdrHistogram %d", name, h.Count(), hdr.TotalCount())
		}
		for _, q := range []float64{0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1} {
			got, want := float64(h.Quantile(q)), float64(hdr.ValueAtQuantile(q*100))
			if math.Abs(got-want) > want*(1.0/256+1.0/1000)+1 {
				t.Errorf("%s: q %v = %.0f, HdrHistogram %.0f", name, q, got, want)
			}
		}
		if got, want := float64(h.Mean()), hdr.Mean(); math.Abs(got-want) > want*0.001+1 {
			t.Errorf("%s: mean %.0f, HdrHistogram %.0f", name, got, want)
		}
	}
}

// TestMergeProperty: any split of the durations, merged in any order, gives the
// bytes of the whole.
func TestMergeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := durations().Draw(t, "durations")
		whole := encoded(t, record(ds))
		parts := make([]*Histogram, rapid.IntRange(1, 5).Draw(t, "parts"))
		for i := range parts {
			if rapid.Bool().Draw(t, "nil") {
				continue
			}
			parts[i] = New()
		}
		parts[0] = New()
		for _, d := range ds {
			i := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
			if parts[i] == nil {
				i = 0
			}
			parts[i].Record(d)
		}
		var merged Histogram
		for _, i := range rapid.Permutation(indices(len(parts))).Draw(t, "order") {
			before := encoded(t, parts[i])
			merged.Merge(parts[i])
			if !bytes.Equal(before, encoded(t, parts[i])) {
				t.Fatal("Merge changed its argument")
			}
		}
		if !bytes.Equal(whole, encoded(t, &merged)) {
			t.Errorf("merged differs from whole")
		}
		double := merged.Clone()
		double.Merge(double)
		if double.Count() != 2*merged.Count() || !bytes.Equal(whole, encoded(t, &merged)) {
			t.Errorf("merging a clone with itself: %d of %d", double.Count(), merged.Count())
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// encoded takes a *testing.T, *testing.F or *rapid.T.
func encoded(t interface{ Fatal(...any) }, h *Histogram) []byte {
	b, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRecordN: n at once are n one by one.
func TestRecordN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, many := New(), New()
		for range rapid.IntRange(0, 10).Draw(t, "kinds") {
			d := time.Duration(rapid.Int64().Draw(t, "d"))
			n := rapid.Uint64Range(0, 20).Draw(t, "n")
			many.RecordN(d, n)
			for range n {
				one.Record(d)
			}
		}
		if !bytes.Equal(encoded(t, one), encoded(t, many)) {
			t.Error("RecordN differs from Record")
		}
	})
}

// TestRoundTrip: what is decoded is what was encoded, and encodes the same.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := record(durations().Draw(t, "durations"))
		if rapid.Bool().Draw(t, "large") {
			h.RecordN(time.Second, rapid.Uint64().Draw(t, "n")/2)
		}
		b := encoded(t, h)
		var back Histogram
		back.Record(5) // is replaced
		if err := back.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, encoded(t, &back)) || back.Count() != h.Count() || back.Mean() != h.Mean() || back.Quantile(0.9) != h.Quantile(0.9) {
			t.Error("decoded differs from encoded")
		}
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); back.UnmarshalBinary(b[:cut]) == nil || back.Count() != 0 {
			t.Errorf("%d of %d bytes were taken", cut, len(b))
		}
	})
}
