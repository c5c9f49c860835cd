package procfile

import (
	"bytes"
	"math"
	"strings"
	"unicode"
)

// Line cuts the first line off a text. ok is false at the end of the text. A
// last line without a newline counts.
func Line(text []byte) (line, rest []byte, ok bool) {
	if len(text) == 0 {
		return nil, nil, false
	}
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, nil, true
}

// Word cuts the first word off a line; words are separated by spaces and tabs.
// The word is empty at the end of the line.
func Word(line []byte) (word, rest []byte) {
	i := 0
	for i < len(line) && isSpace(line[i]) {
		i++
	}
	line = line[i:]
	for i = 0; i < len(line) && !isSpace(line[i]); i++ {
	}
	return line[:i], line[i:]
}

// Skip cuts n words off a line.
func Skip(line []byte, n int) []byte {
	for range n {
		_, line = Word(line)
	}
	return line
}

// Uint reads a word of decimal digits. ok is false for anything else and for
// numbers above 64 bits.
func Uint(word []byte) (n uint64, ok bool) {
	if len(word) == 0 {
		return 0, false
	}
	for _, c := range word {
		d := uint64(c - '0')
		if c < '0' || c > '9' || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// Hex reads a word of hexadecimal digits. ok is false for anything else and for
// numbers above 64 bits.
func Hex(word []byte) (n uint64, ok bool) {
	if len(word) == 0 {
		return 0, false
	}
	for _, c := range word {
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		default:
			return 0, false
		}
		if n > math.MaxUint64>>4 {
			return 0, false
		}
		n = n<<4 | uint64(d)
	}
	return n, true
}

// Uints fills dst with the numbers that a line begins with and returns how many
// there were. It stops at the first word that is no number.
func Uints(dst []uint64, line []byte) int {
	for i := range dst {
		var word []byte
		word, line = Word(line)
		n, ok := Uint(word)
		if !ok {
			return i
		}
		dst[i] = n
	}
	return len(dst)
}

// Decimal reads a number such as 12 or 0.35: digits, and at most one point with
// digits after it.
func Decimal(word []byte) (v float64, ok bool) {
	whole, part, found := bytes.Cut(word, []byte{'.'})
	n, ok := Uint(whole)
	if !ok {
		return 0, false
	}
	if !found {
		return float64(n), true
	}
	m, ok := Uint(part)
	if !ok {
		return 0, false
	}
	return float64(n) + float64(m)/math.Pow10(len(part)), true
}

// Printable returns a name with what could harm a terminal replaced: processes,
// groups and sockets may bear any.
func Printable(name []byte) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(name))
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
