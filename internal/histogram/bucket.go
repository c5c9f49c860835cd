package histogram

import (
	"math"
	"math/bits"
	"time"
)

// Buckets are numbered from 0. The first 2^(mantissa+1) hold one nanosecond
// each; then each power of two is cut into 2^mantissa equal ones, so that a
// bucket is never wider than 1/128 of its lower end.
const (
	mantissa = 7
	sub      = 1 << mantissa               // buckets in a power of two
	buckets  = (63-mantissa-1)*sub + 2*sub // 7,296, up to the longest Duration, 2^63-1 ns

	// 32 neighbours span a quarter of a power of two. Larger pages waste more on
	// scattered durations, smaller ones would not let a page number fit in a byte.
	pageBits = 5
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
	pages    = (buckets + pageMask) / pageSize // 228
)

// bucketOf returns the bucket of v ns, v < 2^63.
func bucketOf(v uint64) uint {
	// v|sub keeps the shift from falling below 0 for v < sub.
	shift := uint(bits.Len64(v|sub)) - mantissa - 1
	return shift<<mantissa + uint(v>>shift)
}

// bounds returns the least value of bucket b and its width, in ns.
func bounds(b uint) (lo, width uint64) {
	if b < 2*sub {
		return uint64(b), 1
	}
	shift := b>>mantissa - 1
	return uint64(b-shift<<mantissa) << shift, 1 << shift
}

// value returns the duration that stands for all those of bucket b: its middle,
// but never outside what was recorded.
func (h *Histogram) value(b uint) time.Duration {
	if h.exact != nil {
		return time.Duration(uint64(b) * h.unit)
	}
	lo, width := bounds(b)
	return time.Duration(min(max(lo+(width-1)/2, h.min), h.max))
}

// each calls f for every bucket that holds something, from the shortest
// durations up, until f returns false. An exact histogram has a bucket for each
// multiple of its unit.
func (h *Histogram) each(f func(b uint, n uint64) bool) {
	if h.exact != nil {
		h.exact.each(f)
		return
	}
	if h.packed != "" {
		h.packed.each(f)
		return
	}
	for i, p := range h.page {
		if p == 0 {
			continue
		}
		base := uint(p-1) << pageBits
		for k := range uint(pageSize) {
			if n := h.counts.at(base + k); n > 0 && !f(uint(i)<<pageBits+k, n) {
				return
			}
		}
	}
}

// Each calls f for every bucket that holds something, from the shortest
// durations up: n durations are at least lo and shorter than hi. The end of the
// last possible bucket is the longest Duration, which belongs to it. Of an exact
// histogram all n are lo, and hi is 1 ns more.
func (h *Histogram) Each(f func(lo, hi time.Duration, n uint64)) {
	if h == nil {
		return
	}
	h.each(func(b uint, n uint64) bool {
		lo, width := bounds(b)
		if h.exact != nil {
			lo, width = uint64(b)*h.unit, 1
		}
		f(time.Duration(lo), time.Duration(min(lo+width, math.MaxInt64)), n)
		return true
	})
}

// CountBetween returns how many durations are at least from and shorter than to.
// A bucket that an edge cuts counts whole, on the side of the value that
// Quantile gives for it, so that neighbouring ranges add up; the edge is thus
// right to 0.4 %. An exact histogram counts exactly.
func (h *Histogram) CountBetween(from, to time.Duration) uint64 {
	if h == nil {
		return 0
	}
	var sum uint64
	h.each(func(b uint, n uint64) bool {
		v := h.value(b)
		if v >= from && v < to {
			sum += n
		}
		return v < to
	})
	return sum
}

// Quantile returns the duration at nearest rank: the k-th shortest, with k =
// [Rank](q, count). It is exact where [Histogram.Exact] says so, below 256 ns and
// at both ends, and within 0.4 % elsewhere. It is 0 when the histogram is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h == nil || h.count == 0 {
		return 0
	}
	rank := Rank(q, h.count)
	switch rank {
	case 1:
		return time.Duration(h.min)
	case h.count:
		return time.Duration(h.max)
	}
	var seen uint64
	var at time.Duration
	h.each(func(b uint, n uint64) bool {
		seen += n
		at = h.value(b)
		return seen < rank
	})
	return at
}

// Rank returns the nearest rank ⌈q·n⌉, counted from 1, of the quantile q among n
// sorted values; at least 1 and at most n. A q outside 0..1 gives the nearer
// end, NaN the lower one. n must not be 0.
//
// A product that differs from a whole number only by rounding is that number:
// 0.07 of 100 values is the 7th, although 0.07*100 is 7.000000000000001.
func Rank(q float64, n uint64) uint64 {
	if !(q > 0) {
		return 1
	}
	if q >= 1 {
		return n
	}
	r := q * float64(n)
	k := math.Ceil(r)
	if whole := math.Round(r); math.Abs(r-whole) <= r*1e-14 {
		k = whole
	}
	return min(max(uint64(k), 1), n)
}
