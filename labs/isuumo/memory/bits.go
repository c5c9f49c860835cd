package memory

import (
	"math/bits"
	"sync/atomic"
)

// A set is a set of ranks, or of other small numbers.
type set []uint64

func words(n int) int { return (n + 63) / 64 }

// newSets returns empty sets of numbers below n in one piece of memory.
func newSets(count, n int) []set {
	all := make(set, count*words(n))
	out := make([]set, count)
	for i := range out {
		out[i] = all[i*words(n) : (i+1)*words(n) : (i+1)*words(n)]
	}
	return out
}

func (s set) add(i uint32) { s[i/64] |= 1 << (i % 64) }

// and keeps what is in o as well, which has the same length.
func (s set) and(o set) {
	o = o[:len(s)]
	for i := range s {
		s[i] &= o[i]
	}
}

func (s set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls f with each member in ascending order.
func (s set) each(f func(i uint32)) {
	for at, w := range s {
		for ; w != 0; w &= w - 1 {
			f(uint32(at*64 + bits.TrailingZeros64(w)))
		}
	}
}

// keep drops the members that f does not hold for.
func (s set) keep(f func(i uint32) bool) {
	for at, w := range s {
		for ; w != 0; w &= w - 1 {
			if bit := bits.TrailingZeros64(w); !f(uint32(at*64 + bit)) {
				s[at] &^= 1 << bit
			}
		}
	}
}

// appendMembers appends the members number from to number to, counted from 0 in
// ascending order.
func (s set) appendMembers(dst []uint32, from, to int) []uint32 {
	before := 0 // members in the words so far
	for at, w := range s {
		if before >= to {
			break
		}
		n := bits.OnesCount64(w)
		if before+n > from {
			for i := before; w != 0 && i < to; i++ {
				if i >= from {
					dst = append(dst, uint32(at*64+bits.TrailingZeros64(w)))
				}
				w &= w - 1
			}
		}
		before += n
	}
	return dst
}

// marks is a set from which members are taken while others read it.
type marks []atomic.Uint64

func (m marks) has(i uint32) bool { return m[i/64].Load()&(1<<(i%64)) != 0 }
func (m marks) remove(i uint32)   { m[i/64].And(^(uint64(1) << (i % 64))) }
