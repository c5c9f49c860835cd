package load

import (
	"math/bits"
	"strconv"
)

func fillSeq() fillFunc {
	return func(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }
}

func fillInt(key uint64, least, most int64) fillFunc {
	span := uint64(most-least) + 1 // 0 when it is all of them
	return func(dst []byte, n uint64) []byte {
		d := newDraw(key, n)
		return strconv.AppendInt(dst, least+int64(d.below(span)), 10)
	}
}

// fillDecimal writes a number between two that are given in units of its last decimal.
func fillDecimal(key uint64, least, most int64, decimals int) fillFunc {
	span := uint64(most-least) + 1
	unit := uint64(1)
	for range decimals {
		unit *= 10
	}
	return func(dst []byte, n uint64) []byte {
		d := newDraw(key, n)
		v := least + int64(d.below(span))
		u := uint64(v)
		if v < 0 {
			dst, u = append(dst, '-'), -u
		}
		dst = strconv.AppendUint(dst, u/unit, 10)
		dst = append(dst, '.')
		frac := u % unit
		for p := unit / 10; p > 0; p /= 10 {
			dst = append(dst, byte('0'+frac/p%10))
		}
		return dst
	}
}

const hexDigits = "0123456789abcdef"

// fillUUID writes UUIDs of version 4 (RFC 9562, 5.4).
func fillUUID(key uint64) fillFunc {
	return func(dst []byte, n uint64) []byte {
		d := newDraw(key, n)
		hi := d.next()&^0xf000 | 0x4000 // version
		lo := d.next()&^(3<<62) | 2<<62 // variant
		var b [36]byte
		putHex(b[0:8], hi)
		b[8] = '-'
		putHex(b[9:13], hi<<32)
		b[13] = '-'
		putHex(b[14:18], hi<<48)
		b[18] = '-'
		putHex(b[19:23], lo)
		b[23] = '-'
		putHex(b[24:36], lo<<16)
		return append(dst, b[:]...)
	}
}

// putHex writes the first digits of a word, as many as there is room for.
func putHex(dst []byte, word uint64) {
	for i := range dst {
		dst[i] = hexDigits[word>>60]
		word <<= 4
	}
}

func fillHex(key uint64, digits int) fillFunc {
	return func(dst []byte, n uint64) []byte {
		d := newDraw(key, n)
		var b [16]byte
		for left := digits; left > 0; left -= len(b) {
			putHex(b[:], d.next())
			dst = append(dst, b[:min(left, len(b))]...)
		}
		return dst
	}
}

const alnumChars = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func fillAlnum(key uint64, chars int) fillFunc {
	return func(dst []byte, n uint64) []byte {
		d := newDraw(key, n)
		var word, c uint64
		for i := range chars {
			// A word is a fraction of 2^64, whose digits to the base 62 are taken from the
			// front. It holds ten: 62^10 is less than 2^60.
			if i%10 == 0 {
				word = d.next()
			}
			c, word = bits.Mul64(word, uint64(len(alnumChars)))
			dst = append(dst, alnumChars[c])
		}
		return dst
	}
}

func fillPick(key uint64, items []string) fillFunc {
	return func(dst []byte, n uint64) []byte {
		d := newDraw(key, n)
		return append(dst, items[d.below(uint64(len(items)))]...)
	}
}

func fillColumn(t *Table, column int, where spot) fillFunc {
	return func(dst []byte, n uint64) []byte {
		return where.append(dst, t.cell(n%t.rows, column))
	}
}

// append appends a value as it has to be where it goes.
func (s spot) append(dst []byte, v string) []byte {
	switch s {
	case inPath:
		return appendEscaped(dst, v, &pathSafe)
	case inQuery:
		return appendEscaped(dst, v, &querySafe)
	}
	return append(dst, v...)
}

// The bytes that stay as they are (RFC 3986, 2.3 and 3.3).
var (
	querySafe   = charSet("-._~")
	pathSafe    = charSet("-._~$&+=:@/")
	rawPathSafe = charSet("-._~!$&'()*+,;=:@/[]%") // of a path that is written as it goes out
)

// charSet returns letters, digits and more.
func charSet(more string) (set [256]bool) {
	for _, c := range []byte(alnumChars + more) {
		set[c] = true
	}
	return set
}

func appendEscaped(dst []byte, s string, safe *[256]bool) []byte {
	const upper = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; safe[c] {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upper[c>>4], upper[c&15])
		}
	}
	return dst
}
