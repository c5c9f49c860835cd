package routes

import (
	"bytes"
	"encoding/binary"
)

// Classes of bytes, as bits. A byte of class 0 ends a segment.
const (
	digit = 1 << iota
	hexLower
	lower // g to z
	hexUpper
	upper // G to Z
	point // stands between the digits of dates, versions, lists and coordinates
	other
	percent

	hex     = digit | hexLower | hexUpper
	letters = hexLower | lower | hexUpper | upper
)

// class is the class of each byte.
var class = makeClasses()

func makeClasses() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c >= 'a' && c <= 'f':
			t[c] = hexLower
		case c >= 'g' && c <= 'z':
			t[c] = lower
		case c >= 'A' && c <= 'F':
			t[c] = hexUpper
		case c >= 'G' && c <= 'Z':
			t[c] = upper
		case bytes.IndexByte([]byte("-+.,:_~"), byte(c)) >= 0:
			t[c] = point
		case c == '%':
			t[c] = percent
		case bytes.IndexByte([]byte("/?#;"), byte(c)) >= 0:
		default:
			t[c] = other
		}
	}
	return t
}

// plain are the bytes of names: all but digits, percent signs and what ends a
// segment.
var plain = func() (t [256]bool) {
	for c, k := range makeClasses() {
		t[c] = k != 0 && k&(digit|percent) == 0
	}
	return t
}()

// surveyBytes returns the classes of the bytes of b together, and how many of them
// are digits.
func surveyBytes(b []byte) (mask uint8, digits int) {
	for _, c := range b {
		k := class[c]
		mask |= k
		digits += int(k & digit)
	}
	return mask, digits
}

// The least lengths of values. Each is chosen so that names of endpoints as they
// are written do not reach it: the longest English words that are hexadecimal
// digits only have 8 letters, and words with digits in them (oauth2, x264,
// base64) are short or have their digits in one place.
const (
	minHex     = 8  // hexadecimal digits, of which some are 0 to 9
	minHexWord = 16 // hexadecimal digits, all of them letters
	minToken   = 16 // letters and digits mixed
	minShort   = 10 // letters of both cases and digits, mixed at nearly every byte
)

// isID reports whether b is a value by its form: a number, signed or with
// fractions, a date or time, a version or address of numbers, a uuid, a ulid, a
// hash, a token of base64 or base62, a JWT, or a list of those with commas.
func isID(b []byte) bool {
	mask, digits := surveyBytes(b)
	return isValue(b, mask, digits)
}

// isValue is isID with what a survey of b found.
func isValue(b []byte, mask uint8, digits int) bool {
	n := len(b)
	switch {
	case n == 0:
		return false
	case digits == 0 && mask&^hex == 0:
		return n >= minHexWord
	case digits == 0:
		return n >= minToken && isList(b)
	case mask&^(digit|point) == 0:
		return true
	case mask&^hex == 0:
		return n >= minHex || n == 26 && isULID(b, digits)
	case mask&(other|percent) != 0:
		return isTokenBytes(b, digits)
	case mask&^(hex|point) == 0 && isUUID(b), isDate(b):
		return true
	case b[0] == '0' && n > 2 && b[1] == 'x':
		rest, _ := surveyBytes(b[2:])
		return rest&^hex == 0
	}
	return n == 26 && isULID(b, digits) || isToken(b, digits) || isList(b) || isJWT(b)
}

// isUUID reports whether b is written as 8-4-4-4-12 hexadecimal digits. It looks
// at eight bytes at a time: two words hold the four dashes, and the last word
// overlaps the one before it.
func isUUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	second, third := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	const (
		inSecond, secondDashes = 0x0000ff00000000ff, 0x00002d000000002d
		inThird, thirdDashes   = 0xff00000000ff0000, 0x2d000000002d0000
		digits                 = 0x3030303030303030
	)
	return second&inSecond == secondDashes && third&inThird == thirdDashes &&
		allHex(binary.LittleEndian.Uint64(b))&allHex(second&^inSecond|digits&inSecond)&
			allHex(third&^inThird|digits&inThird)&allHex(binary.LittleEndian.Uint64(b[24:]))&
			allHex(uint64(binary.LittleEndian.Uint32(b[32:]))|digits&^0xffffffff) == highBits
}

const highBits = 0x8080808080808080

// allHex returns the highest bit of each of the eight bytes that is a
// hexadecimal digit: adding what is missing to 128 carries into it. Bytes beyond
// ASCII have it already, and are taken out.
func allHex(v uint64) uint64 {
	const ones = 0x0101010101010101
	ascii := v &^ highBits
	small := ascii | 0x20*ones
	return ((ascii+(128-'0')*ones)&^(ascii+(128-'9'-1)*ones) | (small+(128-'a')*ones)&^(small+
		(128-'f'-1)*ones)) & highBits &^ v
}

// isDate reports whether b starts as 2021-08-21T10 does and goes on with digits
// and what stands between them.
func isDate(b []byte) bool {
	if len(b) < 12 || b[4] != '-' || b[7] != '-' || b[10] != 'T' && b[10] != 't' {
		return false
	}
	end := len(b)
	if b[end-1] == 'Z' || b[end-1] == 'z' {
		end--
	}
	before, _ := surveyBytes(b[:10])
	after, _ := surveyBytes(b[11:end])
	return before&^(digit|point) == 0 && after&^(digit|point) == 0
}

// isULID reports whether 26 bytes are a ulid: Crockford's base32, of 128 bits,
// so that the first is at most 7. Words of that length are recognised by their
// lack of digits.
func isULID(b []byte, digits int) bool {
	for _, c := range b {
		switch c | 0x20 {
		case 'i', 'l', 'o', 'u', '-' | 0x20, '_' | 0x20:
			return false
		}
		if class[c]&(digit|letters) == 0 {
			return false
		}
	}
	return b[0] <= '7' && digits >= 2
}

// isToken reports whether b is letters and digits as random generators mix
// them. What distinguishes them from words is how often the kind of character changes:
// in base64 at 62 of 100 places, in CamelCase at 40 at most, since a word has
// several letters, and in base36 at 40 of 100, in words with a number at a few.
// Dashes and underlines are characters of base64 but stand between words too, so
// few of them are allowed.
func isToken(b []byte, digits int) bool {
	n := len(b)
	if n < minShort {
		return false
	}
	mask, changes, marks, ok := mixtureOf(b)
	if !ok {
		return false
	}
	both := mask&lower != 0 && mask&upper != 0
	switch {
	case marks*8 > n || n > 512:
		return n > 512 && marks*8 <= n
	case both && n >= minToken && digits >= 2:
		return changes*100 >= n*45
	case both:
		return marks == 0 && changes*100 >= n*60
	}
	return n >= minToken && marks == 0 && digits >= 3 && changes*4 >= n
}

// mixtureOf returns which of lower, upper and digit are in b, how often the kind of
// character changes, and how many are dashes and underlines; ok is false when
// there are others.
func mixtureOf(b []byte) (mask uint8, changes, marks int, ok bool) {
	var last uint8
	for _, c := range b {
		k := class[c]
		switch {
		case k&(hexLower|lower) != 0:
			k = lower
		case k&(hexUpper|upper) != 0:
			k = upper
		case k != digit:
			if c != '-' && c != '_' {
				return 0, 0, 0, false
			}
			marks++
		}
		if last != 0 && k != last {
			changes++
		}
		mask |= k
		last = k
	}
	return mask, changes, marks, true
}

// likeToken reports whether b, which stands beside ids, may be a token of base64
// that by chance has few digits or changes, or many dashes.
func likeToken(b []byte) bool {
	mask, changes, _, ok := mixtureOf(b)
	return ok && len(b) >= minToken && mask&lower != 0 && mask&upper != 0 && changes*100 >= len(b)*30
}

// isTokenBytes reports whether b, which holds bytes that tokens of base64 for
// URLs do not have, is a token of the older alphabet with its padding.
func isTokenBytes(b []byte, digits int) bool {
	end := len(b)
	for end > 0 && b[end-1] == '=' && len(b)-end < 2 {
		end--
	}
	return end < len(b) && isToken(b[:end], digits) || isList(b)
}

// isJWT reports whether b is a JSON Web Token: three parts of base64 with points
// between, of which the first starts with {" encoded.
func isJWT(b []byte) bool {
	return len(b) > 30 && bytes.HasPrefix(b, []byte("eyJ")) && bytes.Count(b, []byte(".")) == 2
}

// isList reports whether b is two or more values with commas between; the commas
// may be written %2C.
func isList(b []byte) bool {
	parts := 0
	for {
		i, n := bytes.IndexByte(b, ','), 1
		if i < 0 {
			if i = bytes.IndexByte(b, '%'); i >= 0 {
				if !bytes.HasPrefix(b[i:], []byte("%2C")) && !bytes.HasPrefix(b[i:], []byte("%2c")) {
					return false
				}
				n = 3
			}
		}
		if i < 0 {
			return parts > 0 && isOne(b)
		}
		if !isOne(b[:i]) {
			return false
		}
		parts++
		b = b[i+n:]
	}
}

// isOne reports whether b is a value and no list.
func isOne(b []byte) bool {
	if bytes.IndexByte(b, ',') >= 0 || bytes.IndexByte(b, '%') >= 0 {
		return false
	}
	return isID(b)
}
