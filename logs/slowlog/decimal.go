package slowlog

import (
	"math/bits"
	"time"
)

// A decimal is a number as a log writes it: digits, which may have a fraction.
type decimal struct {
	n      uint64 // all its digits
	places int    // of them, after the point
	end    int    // where the number ends
	ok     bool   // the text is such a number, and n holds it
}

// maxDigits is how many digits a decimal holds.
const maxDigits = 19

// read reads the number at b[i:]. It must end at a blank, the line's end or the
// end of b.
func (v *decimal) read(b []byte, i int) {
	if i+1 < len(b) && b[i]-'0' <= 9 && b[i+1] <= ' ' && endsWord(b[i+1]) { // most are a digit
		*v = decimal{n: uint64(b[i] - '0'), end: i + 1, ok: true}
		return
	}
	from := i
	var n uint64
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - from
	v.places = 0
	if i < len(b) && b[i] == '.' && digits > 0 {
		i++
		point := i
		for i < len(b) && b[i]-'0' <= 9 {
			n = n*10 + uint64(b[i]-'0')
			i++
		}
		v.places = i - point
		if v.places == 0 {
			v.end = i
			v.ok = false
			return
		}
		digits += v.places
	}
	v.n, v.end = n, i
	v.ok = digits > 0 && digits <= maxDigits && (i >= len(b) || endsWord(b[i]))
}

// endsWord reports whether a value ends before the byte.
func endsWord(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// powers are powers of ten.
var powers = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19}

// duration returns the number as seconds.
func (v *decimal) duration(text []byte) (time.Duration, bool) {
	if !v.ok || v.places > 9 {
		return parseSeconds(text)
	}
	scale := powers[9-v.places]
	high, low := bits.Mul64(v.n, scale)
	if high > 0 || low > (maxSeconds-1)*1e9 {
		return parseSeconds(text)
	}
	return time.Duration(low), true
}

// whole returns the number when it is one without a fraction.
func (v *decimal) whole(text []byte) (uint64, bool) {
	if !v.ok || v.places > 0 {
		return parseNumber(text)
	}
	return v.n, true
}

// float returns the number as the nearest float64.
func (v *decimal) float() float64 {
	if v.places == 0 {
		return float64(v.n)
	}
	return float64(v.n) / float64(powers[v.places])
}
