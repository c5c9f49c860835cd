package sqlshape

import "bytes"

// The classes of bytes that numbersAndSpace distinguishes.
const (
	other = iota
	blank // what is collapsed
	number
	mark
	letter // letters that cannot start a number
)

// byteTables sorts bytes into classes. The tables are computed, so that they can be
// read and not only checked.
type byteTables struct {
	class    [256]uint8
	lower    [256]byte
	digitish [256]bool  // [0-9a-f.xb+-]
	word     [256]bool  // \w of a byte string
	stop     [256]uint8 // 1: what a sketch does not take as it is
	inside   [256]uint8 // 1: what may end a plain string, or not be in one
	opens    [256]bool  // what a string, a quoted name or a comment can start with
}

var tab = newByteTables()

func newByteTables() *byteTables {
	t := new(byteTables)
	for i := range 256 {
		c := byte(i)
		t.lower[i] = c
		switch {
		case c >= 'A' && c <= 'Z':
			t.class[i], t.lower[i], t.word[i] = letter, c+'a'-'A', true
		case c >= 'a' && c <= 'z':
			t.class[i], t.word[i] = letter, true
			t.digitish[i] = c <= 'f' || c == 'x'
		case c >= '0' && c <= '9':
			t.class[i], t.digitish[i], t.word[i] = number, true, true
		case c == '+' || c == '-':
			t.class[i], t.digitish[i] = number, true
		case c == '.':
			t.digitish[i] = true
		case c == '?':
			t.class[i] = mark
		case c == '_':
			t.word[i] = true
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			t.class[i] = blank
		}
		t.opens[i] = c == '\'' || c == '"' || c == '`' || c == '/' || c == '#' || c == '-'
		special := c == '#' || c == '\\' || c == '"' || c == '/'
		if t.class[i] == number || c == '\'' || c == '(' || special {
			t.stop[i] = 1
		}
		if c == '\'' || c == '-' || special {
			t.inside[i] = 1
		}
	}
	return t
}

func isWord(c byte) bool  { return tab.word[c] }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isSpace is Perl's \s, which counts the vertical tab since 5.18.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func skipSpace(q []byte, i int) int {
	for i < len(q) && isSpace(q[i]) {
		i++
	}
	return i
}

func skipWord(q []byte, i int) int {
	for i < len(q) && isWord(q[i]) {
		i++
	}
	return i
}

// hasFold reports whether q starts with the lower-case prefix, in any case.
func hasFold(q []byte, prefix string) bool {
	if len(q) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if tab.lower[q[i]] != prefix[i] {
			return false
		}
	}
	return true
}

// indexFold finds the lower-case word in any case.
func indexFold(q []byte, word string) int {
	low, up := bytes.IndexByte(q, word[0]), bytes.IndexByte(q, word[0]-'a'+'A')
	for low >= 0 || up >= 0 {
		at := &low
		if low < 0 || up >= 0 && up < low {
			at = &up
		}
		if hasFold(q[*at:], word) {
			return *at
		}
		next := bytes.IndexByte(q[*at+1:], q[*at])
		if next < 0 {
			*at = -1
		} else {
			*at += 1 + next
		}
	}
	return -1
}

// hasPair reports whether the byte a is followed by b somewhere.
func hasPair(q []byte, a, b byte) bool {
	for {
		i := bytes.IndexByte(q, a)
		if i < 0 || i+1 >= len(q) {
			return false
		}
		if q[i+1] == b {
			return true
		}
		q = q[i+1:]
	}
}

func appendLower(dst, q []byte) []byte {
	for _, c := range q {
		dst = append(dst, tab.lower[c])
	}
	return dst
}

// equalFold reports whether q is the lower-case word, in any case.
func equalFold(q []byte, word string) bool { return len(q) == len(word) && hasFold(q, word) }

// trimSpace cuts blanks from both ends.
func trimSpace(q []byte) []byte { return bytes.Trim(q, " \t\n\v\f\r") }
