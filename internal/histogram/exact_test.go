package histogram

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// bytes returns how much memory the counts take.
func (e *exact) bytes() int { return 2*cap(e.page) + cap(e.low) + 2*cap(e.next) }

func TestExact(t *testing.T) {
	f := func(h *Histogram, unit time.Duration, want bool) {
		t.Helper()
		if u, ok := h.Exact(); u != unit || ok != want {
			t.Errorf("Exact() = %v, %v; want %v, %v", u, ok, unit, want)
		}
	}
	f(nil, 0, false)
	f(New(), 0, false)
	f(NewExact(0), 0, false)
	f(NewExact(-1), 0, false)
	f(NewExact(maxUnit+1), 0, false)
	f(NewExact(maxUnit), maxUnit, true)

	h := NewExact(time.Millisecond)
	for ms := range 8000 {
		h.Record(time.Duration(ms) * time.Millisecond)
	}
	f(h, time.Millisecond, true)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.999} {
		if got, want := h.Quantile(q), time.Duration(q*8000-1)*time.Millisecond; got != want {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if n := h.CountBetween(4321*time.Millisecond, 4322*time.Millisecond); n != 1 {
		t.Errorf("%d at 4.321 s", n)
	}
	h.Record(2*time.Millisecond + 1)
	f(h, time.Millisecond, false)
	if h.Count() != 8001 || !within(h.Quantile(0.5), 3999*time.Millisecond) {
		t.Errorf("count %d, median %v after giving up", h.Count(), h.Quantile(0.5))
	}
	f(h.Clone(), time.Millisecond, false)
	h.Reset()
	f(h, time.Millisecond, true)
	h.Record(5 * time.Hour) // beyond the table
	f(h, time.Millisecond, false)
	if h.Count() != 1 || h.CountBetween(0, 6*time.Hour) != 1 {
		t.Errorf("count %d", h.Count())
	}
}

// TestExact_GivesUp: what does not fit 16 KiB is counted in buckets.
func TestExact_GivesUp(t *testing.T) {
	h := NewExact(time.Millisecond)
	r := rand.New(rand.NewPCG(1, 2))
	var n uint64
	for ; h.exact != nil && n < 1e6; n++ {
		if h.exact.bytes() > exactBytes {
			t.Fatalf("%d bytes", h.exact.bytes())
		}
		h.Record(time.Duration(r.IntN(100_000)) * time.Millisecond)
	}
	if n < 300 || n == 1e6 || h.Count() != n || h.CountBetween(0, time.Hour) != n {
		t.Errorf("gave up after %d, count %d", n, h.Count())
	}
}

// TestExact_GivesUpWithinACount: the last free page takes one byte of a count
// that needs six; nothing of it is lost.
func TestExact_GivesUpWithinACount(t *testing.T) {
	h := NewExact(time.Millisecond)
	var fits uint64
	for fits = 0; ; fits++ {
		if h.Record(time.Duration(fits*pageSize) * time.Millisecond); h.exact == nil {
			break
		}
	}
	h.Reset()
	n := fits
	for i := range n - 1 {
		h.Record(time.Duration(i*pageSize) * time.Millisecond)
	}
	if h.exact == nil || len(h.exact.next) != int(fits-1) {
		t.Fatal("the test does not leave one page free")
	}
	h.RecordN(0, 1<<42+12345)
	if h.exact != nil || h.Count() != n-1+1<<42+12345 || h.CountBetween(0, time.Hour) != h.Count() {
		t.Errorf("exact %v, count %d, want %d", h.exact != nil, h.Count(), n-1+1<<42+12345)
	}
	if got := h.CountBetween(0, 1); got != 1<<42+12346 {
		t.Errorf("%d zeros", got)
	}
}

// millis draws milliseconds, many and few different ones.
func millis() *rapid.Generator[[]time.Duration] {
	return rapid.Custom(func(t *rapid.T) []time.Duration {
		span := rapid.SampledFrom([]int{3, 300, 20_000, 200_000}).Draw(t, "span")
		ds := make([]time.Duration, rapid.IntRange(0, 2000).Draw(t, "n"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range ds {
			ds[i] = time.Duration(r.IntN(span)) * time.Millisecond
		}
		return ds
	})
}

// TestExactAgainstSortedSlice: every rank is the value itself, or within the
// promise of buckets after giving up, and no count is lost.
func TestExactAgainstSortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := millis().Draw(t, "durations")
		h, plain := NewExact(time.Millisecond), New()
		for _, d := range ds {
			h.Record(d)
			plain.Record(d)
		}
		_, ok := h.Exact()
		slices.Sort(ds)
		for k := range ds {
			got := h.Quantile(float64(k+1) / float64(len(ds)))
			if got != ds[k] && (ok || !within(got, ds[k])) {
				t.Fatalf("rank %d of %d is %v, want %v", k+1, len(ds), got, ds[k])
			}
		}
		at := time.Duration(rapid.IntRange(0, 200_000).Draw(t, "at")) * time.Millisecond
		if below, _ := slices.BinarySearch(ds, at); ok && h.CountBetween(0, at) != uint64(below) {
			t.Errorf("%d below %v, want %d", h.CountBetween(0, at), at, below)
		}
		var seen uint64
		h.Each(func(lo, hi time.Duration, n uint64) {
			if seen += n; ok && (hi != lo+1 || !slices.Contains(ds, lo)) {
				t.Fatalf("Each gave [%v, %v)", lo, hi)
			}
		})
		if seen != uint64(len(ds)) || h.Sum() != plain.Sum() || h.Min() != plain.Min() || h.Max() != plain.Max() {
			t.Errorf("%d of %d, sum %v, want %v", seen, len(ds), h.Sum(), plain.Sum())
		}
		if h.exact != nil {
			h.giveUp()
		}
		if !bytes.Equal(encoded(t, h), encoded(t, plain)) {
			t.Error("after giving up it differs from a histogram that never was exact")
		}
	})
}

// TestExactMerge: any split in any order gives the bytes of the whole, also when
// the whole is not exact, or some parts are not.
func TestExactMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := millis().Draw(t, "durations")
		if rapid.Bool().Draw(t, "odd") {
			ds = append(ds, 1)
		}
		parts := []*Histogram{NewExact(time.Millisecond), NewExact(time.Millisecond), NewExact(time.Millisecond)}
		other := rapid.SampledFrom([]*Histogram{nil, New(), NewExact(time.Microsecond)}).Draw(t, "other")
		whole := NewExact(time.Millisecond)
		for i, d := range ds {
			whole.Record(d)
			if other != nil && i%4 == 3 {
				other = other.Clone()
				other.Record(d)
				continue
			}
			parts[i%len(parts)].Record(d)
		}
		if other.Count() > 0 && whole.exact != nil {
			whole.giveUp() // units differ
		}
		parts = append(parts, other)
		into := rapid.SampledFrom([]*Histogram{New(), NewExact(time.Millisecond), NewExact(time.Hour)}).Draw(t, "into").Clone()
		for _, i := range rapid.Permutation(indices(len(parts))).Draw(t, "order") {
			before := encoded(t, parts[i])
			into.Merge(parts[i])
			if !bytes.Equal(before, encoded(t, parts[i])) {
				t.Fatal("Merge changed its argument")
			}
		}
		if !bytes.Equal(encoded(t, into), encoded(t, whole)) {
			t.Fatal("merged differs from whole")
		}
		var back Histogram
		if err := back.UnmarshalBinary(encoded(t, whole)); err != nil || !bytes.Equal(encoded(t, &back), encoded(t, whole)) {
			t.Fatalf("decoded differs: %v", err)
		}
		if c := into.Clone(); !bytes.Equal(encoded(t, c), encoded(t, into)) {
			t.Fatal("a clone differs")
		}
		into.Merge(into)
		if into.Count() != 2*whole.Count() || into.CountBetween(0, time.Hour) != into.Count() {
			t.Fatalf("twice %d is %d", whole.Count(), into.Count())
		}
	})
}

// TestExactRecordN: n at once are n one by one, whatever bytes they carry over.
func TestExactRecordN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, want := NewExact(time.Microsecond), map[time.Duration]uint64{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			d := time.Duration(rapid.IntRange(0, 5).Draw(t, "d")) * time.Microsecond
			n := rapid.OneOf(rapid.Uint64Range(0, 300), rapid.Uint64Range(0, 1<<40)).Draw(t, "n")
			h.RecordN(d, n)
			if n > 0 {
				want[d] += n
			}
		}
		got := map[time.Duration]uint64{}
		h.Each(func(lo, _ time.Duration, n uint64) { got[lo] = n })
		if len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for d, n := range want {
			if got[d] != n {
				t.Errorf("%v: %d, want %d", d, got[d], n)
			}
		}
		var back Histogram
		if err := back.UnmarshalBinary(encoded(t, h)); err != nil || back.Count() != h.Count() || back.sumLo != h.sumLo || back.sumHi != h.sumHi {
			t.Errorf("decoded: %v", err)
		}
	})
}
