package histogram

import (
	"math"
	"math/bits"
	"time"
)

// A Histogram counts durations. The zero value is empty and ready to use. A nil
// Histogram reads as an empty one and may be merged into another.
//
// Its methods that read may run concurrently with each other; those that change
// it may not run concurrently with anything.
type Histogram struct {
	count        uint64
	sumLo, sumHi uint64 // 128 bits: 1e9 answers of 10 s overflow 63 bits
	min, max     uint64 // ns; meaningless while count is 0

	// Counts lie in pages of pageSize neighbouring buckets, made when the first
	// duration falls into them. page[i] is one more than the page's place in
	// counts, 0 when there is none: there are fewer than 256 pages.
	page   [pages]uint8
	counts counts

	// The counts as they were decoded, instead of pages, until something is added:
	// the seconds of a long run are many and only read. See [packed].
	packed packed

	unit  uint64 // ns; of NewExact, else 0
	exact *exact // counts each multiple of the unit instead of the pages; nil when it cannot
}

// New returns an empty histogram.
func New() *Histogram { return &Histogram{} }

// Record adds one duration. A negative one, which only a clock that was set
// back can give, counts as 0.
func (h *Histogram) Record(d time.Duration) {
	v := uint64(max(d, 0))
	if v < h.min || h.count == 0 {
		h.min = v
	}
	if v > h.max {
		h.max = v
	}
	h.count++
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, v, 0)
	h.sumHi += carry

	if h.exact != nil {
		if !h.exact.record(h.exact.multiple(v)) {
			h.addValue(v, 1)
		}
		return
	}
	b := bucketOf(v)
	p := h.page[b>>pageBits]
	if p == 0 {
		p = h.addPage(b >> pageBits)
	}
	c := &h.counts.low[uint(p-1)<<pageBits|b&pageMask]
	*c++
	if *c == 0 {
		h.counts.addHigh(uint(p-1)<<pageBits|b&pageMask, 1)
	}
}

// RecordN adds n equal durations.
func (h *Histogram) RecordN(d time.Duration, n uint64) {
	if n == 0 {
		return
	}
	v := uint64(max(d, 0))
	hi, lo := bits.Mul64(v, n)
	h.addTotals(n, hi, lo, v, v)
	h.addValue(v, n)
}

// Merge adds all durations of o, which stays as it is. The order of merges does
// not matter. The result is exact when both are, of the same unit, or one is and
// the other is empty.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil || o.count == 0 {
		return
	}
	if o == h && h.exact != nil {
		o = h.Clone()
	}
	if o == h && h.packed != "" {
		h.unpack()
	}
	h.takeForm(o)
	h.addTotals(o.count, o.sumHi, o.sumLo, o.min, o.max)
	if o.packed != "" {
		o.packed.addTo(h)
		return
	}
	if o.exact != nil {
		o.exact.each(func(q uint, n uint64) bool {
			h.addValue(uint64(q)*o.unit, n)
			return true
		})
		return
	}
	for i, p := range o.page {
		if p == 0 {
			continue
		}
		if h.page[i] == 0 {
			h.addPage(uint(i))
		}
		h.counts.addPage(uint(h.page[i]-1)<<pageBits, &o.counts, uint(p-1)<<pageBits)
	}
}

// Reset empties the histogram and keeps its memory for the next durations. One
// that was exact is so again.
func (h *Histogram) Reset() {
	h.count, h.sumLo, h.sumHi, h.min, h.max = 0, 0, 0, 0, 0
	h.packed = ""
	clear(h.counts.low)
	h.counts.high = nil
	switch {
	case h.exact != nil:
		h.exact.reset()
	case h.unit > 0:
		h.exact = newExact(h.unit)
	}
}

// Clone returns an independent copy, an empty one of nil.
func (h *Histogram) Clone() *Histogram {
	if h == nil {
		return New()
	}
	c := NewExact(time.Duration(h.unit))
	c.Merge(h)
	return c
}

// Count returns how many durations were recorded.
func (h *Histogram) Count() uint64 {
	if h == nil {
		return 0
	}
	return h.count
}

// Sum returns the exact sum, or the longest Duration (292 years) when the sum is
// beyond it.
func (h *Histogram) Sum() time.Duration {
	if h == nil {
		return 0
	}
	if h.sumHi > 0 || h.sumLo > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(h.sumLo)
}

// Mean returns the exact mean, rounded down to a nanosecond; 0 when empty. It
// is right even where Sum is beyond its range.
func (h *Histogram) Mean() time.Duration {
	if h == nil || h.count == 0 {
		return 0
	}
	mean, _ := bits.Div64(h.sumHi, h.sumLo, h.count)
	return time.Duration(mean)
}

// Min returns the exact least duration, 0 when empty.
func (h *Histogram) Min() time.Duration {
	if h == nil || h.count == 0 {
		return 0
	}
	return time.Duration(h.min)
}

// Max returns the exact greatest duration, 0 when empty.
func (h *Histogram) Max() time.Duration {
	if h == nil || h.count == 0 {
		return 0
	}
	return time.Duration(h.max)
}

// addTotals adds n durations with that sum, least and greatest value.
func (h *Histogram) addTotals(n, sumHi, sumLo, least, greatest uint64) {
	if least < h.min || h.count == 0 {
		h.min = least
	}
	if greatest > h.max {
		h.max = greatest
	}
	h.count += n
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, sumLo, 0)
	h.sumHi += sumHi + carry
}

// addBucket adds n to bucket b.
func (h *Histogram) addBucket(b uint, n uint64) {
	p := h.page[b>>pageBits]
	if p == 0 {
		p = h.addPage(b >> pageBits)
	}
	h.counts.add(uint(p-1)<<pageBits|b&pageMask, n)
}

// addPage makes the page and returns its number, counted from 1.
//
//go:noinline
func (h *Histogram) addPage(i uint) uint8 {
	if h.packed != "" {
		if h.unpack(); h.page[i] != 0 {
			return h.page[i]
		}
	}
	h.page[i] = h.counts.newPage()
	return h.page[i]
}

// counts are 64 bits each, of which most need half.
type counts struct {
	low  []uint32 // the low half of each count
	high []uint32 // the high half; nil until the first count passes 2^32
}

// at returns the count at place i.
func (c *counts) at(i uint) uint64 {
	if c.high == nil {
		return uint64(c.low[i])
	}
	return uint64(c.high[i])<<32 | uint64(c.low[i])
}

// add adds n to the count at place i.
func (c *counts) add(i uint, n uint64) {
	low, carry := bits.Add32(c.low[i], uint32(n), 0)
	c.low[i] = low
	if high := uint32(n>>32) + carry; high > 0 {
		c.addHigh(i, high)
	}
}

// addHigh adds n·2^32 to the count at place i.
//
//go:noinline
func (c *counts) addHigh(i uint, n uint32) {
	if c.high == nil {
		c.high = make([]uint32, len(c.low))
	}
	c.high[i] += n
}

// addPage adds o's page at place from to the page at place to.
func (c *counts) addPage(to uint, o *counts, from uint) {
	if o.high != nil {
		for k := range uint(pageSize) {
			c.add(to+k, o.at(from+k))
		}
		return
	}
	dst, src := (*[pageSize]uint32)(c.low[to:]), (*[pageSize]uint32)(o.low[from:])
	for k, n := range src {
		dst[k] += n
		if dst[k] < n {
			c.addHigh(to+uint(k), 1)
		}
	}
}

// newPage makes a page of zeros and returns its number, counted from 1.
func (c *counts) newPage() uint8 {
	var zero [pageSize]uint32
	c.low = append(c.low, zero[:]...)
	if c.high != nil {
		c.high = append(c.high, zero[:]...)
	}
	return uint8(len(c.low) >> pageBits)
}
