package histogram

import "math"

// packed are the counts of log-linear buckets as version 1 encodes them, without
// their number. They were checked when they were decoded. Empty: there are none.
type packed string

// at reads the bucket that is encoded at i: how many empty ones are before it, its
// count, and where the next one is. Most take a byte or two.
func (p packed) at(i int) (skipped uint, n uint64, next int) {
	token, i := p.uvarint(i)
	if token&1 == 0 {
		return uint(token >> 1), 1, i
	}
	n, i = p.uvarint(i)
	return uint(token >> 1), n + 2, i
}

func (p packed) uvarint(i int) (v uint64, next int) {
	if b := p[i]; b < 0x80 {
		return uint64(b), i + 1
	}
	return p.long(i)
}

//go:noinline
func (p packed) long(i int) (v uint64, next int) {
	for shift := 0; ; shift += 7 {
		b := p[i]
		i++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, i
		}
	}
}

// each calls f for every bucket that holds something, until f returns false.
func (p packed) each(f func(b uint, n uint64) bool) {
	b := uint(0)
	for i := 0; i < len(p); b++ {
		skipped, n, next := p.at(i)
		b, i = b+skipped, next
		if !f(b, n) {
			return
		}
	}
}

// addTo adds the counts to those of h, not to its totals.
func (p packed) addTo(h *Histogram) {
	b, page, place := uint(0), uint(pages), uint(0)
	for i := 0; i < len(p); b++ {
		skipped, n, next := p.at(i)
		b, i = b+skipped, next
		if b>>pageBits != page { // neighbours mostly share a page
			page = b >> pageBits
			if h.page[page] == 0 {
				h.addPage(page)
			}
			place = uint(h.page[page]-1) << pageBits
		}
		if c := &h.counts.low[place|b&pageMask]; n <= math.MaxUint32 && *c <= math.MaxUint32-uint32(n) {
			*c += uint32(n)
		} else {
			h.counts.add(place|b&pageMask, n)
		}
	}
}

// unpack puts the counts into pages, so that others can be added.
func (h *Histogram) unpack() {
	p := h.packed
	h.packed = ""
	p.addTo(h)
}
