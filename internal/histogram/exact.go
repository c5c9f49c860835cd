package histogram

import (
	"math"
	"math/bits"
	"time"
)

// exactBytes is the most memory that the exact form takes, in bytes. Eight
// seconds of milliseconds, all of them met, fit it, and most of a minute's when
// they are met in clusters.
const exactBytes = 16 << 10

// exactMultiples is how many multiples the table of pages reaches at most.
const exactMultiples = exactBytes / exactEntry * pageSize

// maxUnit keeps what [exact.multiple] gives for a duration that is no multiple,
// at least 2^64 / unit, beyond all pages.
const maxUnit = time.Hour

// An exact counts durations that are multiples of a unit, each for itself.
//
// Counts lie in pages of pageSize neighbouring multiples, a byte each. When a byte
// was full, the carries go to another page, linked from this one, and so on: common
// durations take more bytes than rare ones.
type exact struct {
	unit uint64 // ns

	// A multiple v of the unit is v·inverse turned right by shift bits, and what
	// is no multiple becomes greater than any multiple so divided: one
	// multiplication divides and tests (Warren, Hacker's Delight, 10-17).
	inverse uint64
	shift   int

	page []uint16 // by multiple / pageSize: one more than the page's place; 0: none
	low  []uint8  // the pages
	next []uint16 // by place: one more than the place of the page of carries; 0: none
}

// NewExact returns an empty histogram that counts each multiple of the unit for
// itself, so that its quantiles are exact, as long as nothing else is recorded
// and 16 KiB hold it: see [Histogram.Exact]. A unit that is not within 1 ns and an
// hour means New.
func NewExact(unit time.Duration) *Histogram {
	h := New()
	if unit > 0 && unit <= maxUnit {
		h.unit = uint64(unit)
		h.exact = newExact(h.unit)
	}
	return h
}

func newExact(unit uint64) *exact {
	e := &exact{unit: unit, shift: bits.TrailingZeros64(unit)}
	odd := unit >> e.shift
	e.inverse = odd // right to 3 bits; each step of Newton's doubles them
	for range 5 {
		e.inverse *= 2 - odd*e.inverse
	}
	return e
}

// Exact returns the unit of a histogram made by [NewExact], and whether its
// quantiles are exact still. They are not once a duration was recorded that is
// no multiple of the unit, or so many different ones that they take more than
// 16 KiB: then it has become like any other, and nothing but that is lost.
func (h *Histogram) Exact() (unit time.Duration, ok bool) {
	if h == nil {
		return 0, false
	}
	return time.Duration(h.unit), h.exact != nil
}

// multiple returns v / unit, a number beyond all pages when v is no multiple.
func (e *exact) multiple(v uint64) uint64 {
	return bits.RotateLeft64(v*e.inverse, -e.shift)
}

// record adds one duration of q units where its page exists and does not carry.
func (e *exact) record(q uint64) bool {
	i := q >> pageBits
	if i >= uint64(len(e.page)) || e.page[i] == 0 {
		return false
	}
	c := &e.low[uint64(e.page[i]-1)<<pageBits|q&pageMask]
	if *c == math.MaxUint8 {
		return false
	}
	*c++
	return true
}

// add adds n durations of q units. It returns how many of them the memory does
// not suffice for.
func (e *exact) add(q, n uint64) (rest uint64) {
	i := q >> pageBits
	if !e.reach(i) {
		return n
	}
	if e.page[i] == 0 {
		if e.page[i] = e.addPage(); e.page[i] == 0 {
			return n
		}
	}
	at := e.page[i] - 1
	for digit := 0; ; digit += 8 {
		c := &e.low[uint64(at)<<pageBits|q&pageMask]
		sum := uint64(*c) + n&0xff
		*c = uint8(sum)
		if n = n>>8 + sum>>8; n == 0 {
			return 0
		}
		if e.next[at] == 0 {
			p := e.addPage() // before next, which it moves
			if e.next[at] = p; p == 0 {
				return n << (digit + 8)
			}
		}
		at = e.next[at] - 1
	}
}

// Sizes of the exact form, in bytes: what each page takes with its place in
// next, and what each entry of page takes.
const (
	exactPage  = pageSize + 2
	exactEntry = 2
)

// reach makes the table of pages long enough for page i, if memory suffices.
func (e *exact) reach(i uint64) bool {
	const step = 64
	if i < uint64(len(e.page)) {
		return true
	}
	n := i&^(step-1) + step
	if n > exactBytes/exactEntry || n*exactEntry+uint64(len(e.next))*exactPage > exactBytes {
		return false
	}
	e.page = append(make([]uint16, 0, n), e.page...)[:n]
	if most := (exactBytes - int(n)*exactEntry) / exactPage; cap(e.next) > most {
		e.setCapacity(most) // room for pages that the longer table leaves no memory for
	}
	return true
}

// setCapacity moves the pages to memory for n of them.
func (e *exact) setCapacity(n int) {
	e.next = append(make([]uint16, 0, n), e.next...)
	e.low = append(make([]uint8, 0, n*pageSize), e.low...)
}

// addPage makes a page and returns one more than its place, 0 when the memory
// does not suffice.
//
//go:noinline
func (e *exact) addPage() uint16 {
	n, most := len(e.next), (exactBytes-len(e.page)*exactEntry)/exactPage
	if n >= most {
		return 0
	}
	if n == cap(e.next) {
		e.setCapacity(min(max(2*n, 4), most))
	}
	e.next = append(e.next, 0)
	e.low = e.low[:(n+1)*pageSize]
	return uint16(n + 1)
}

// count returns the count at entry k of the page at that place.
func (e *exact) count(at uint16, k uint) (n uint64) {
	n = uint64(e.low[uint(at)<<pageBits|k])
	for digit := 8; e.next[at] != 0; digit += 8 {
		at = e.next[at] - 1
		n |= uint64(e.low[uint(at)<<pageBits|k]) << digit
	}
	return n
}

// each calls f for every multiple that was counted, from the least up, until f
// returns false.
func (e *exact) each(f func(q uint, n uint64) bool) {
	for i, p := range e.page {
		if p == 0 {
			continue
		}
		for k := range uint(pageSize) {
			if n := e.count(p-1, k); n > 0 && !f(uint(i)<<pageBits|k, n) {
				return
			}
		}
	}
}

// reset empties the counts and keeps their memory.
func (e *exact) reset() {
	clear(e.page)
	clear(e.low[:cap(e.low)])
	e.low, e.next = e.low[:0], e.next[:0]
}

// addValue adds n durations of v ns to the counts.
//
//go:noinline
func (h *Histogram) addValue(v, n uint64) {
	if h.exact != nil {
		if n = h.exact.add(h.exact.multiple(v), n); n == 0 {
			return
		}
		h.giveUp()
	}
	h.addBucket(bucketOf(v), n)
}

// giveUp puts the exact counts into buckets.
func (h *Histogram) giveUp() {
	e := h.exact
	h.exact = nil
	e.each(func(q uint, n uint64) bool {
		h.addBucket(bucketOf(uint64(q)*e.unit), n)
		return true
	})
}

// takeForm makes h exact as o is, or not as o is not, before o is merged. An
// empty histogram takes any form; two with different units are exact in none,
// so that the order of merges does not matter.
func (h *Histogram) takeForm(o *Histogram) {
	switch {
	case h.count == 0 && o.exact != nil && (h.exact == nil || h.unit != o.unit):
		h.unit, h.exact = o.unit, newExact(o.unit)
	case h.exact != nil && (o.exact == nil || o.unit != h.unit):
		h.giveUp()
	}
}
