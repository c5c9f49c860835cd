package load

import "math/bits"

// A draw is a source of random words for one place of one request. It is
// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014), whose words can be computed from anywhere on: so a request
// needs no state of the one before, and nothing is allocated.
type draw uint64

const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio, odd: SplitMix64's step

// newDraw returns the words of request n. The key stands for the seed and the place.
func newDraw(key, n uint64) draw { return draw(mixBits(key + n*golden)) }

// keyOf returns the key of a place, counted from 0.
func keyOf(seed, place uint64) uint64 { return mixBits(mixBits(seed+golden) + place*golden) }

// mixBits is the finalizer of SplitMix64: each bit of x moves about half of the result's.
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (d *draw) next() uint64 {
	*d += golden
	return mixBits(uint64(*d))
}

// below returns a number in [0, n), each as likely as the others; with n = 0 any
// number (Lemire, "Fast random integer generation in an interval", 2019).
func (d *draw) below(n uint64) uint64 {
	if n == 0 {
		return d.next()
	}
	hi, lo := bits.Mul64(d.next(), n)
	if lo < n {
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(d.next(), n)
		}
	}
	return hi
}
