package applog

// The classes of bytes that appendPattern distinguishes.
const (
	otherClass = iota
	blankClass
	quoteClass
	wordClass
	signClass
)

// byteTables sorts bytes into classes.
type byteTables struct {
	class      [256]uint8
	verb       [256]bool // first letters of the verbs of SQL
	beforeVerb [256]bool // what may stand right before a statement
	sqlStop    [256]bool // where a statement may end or a string starts
}

var tab = newByteTables()

func newByteTables() *byteTables {
	t := new(byteTables)
	for i := range 256 {
		switch c := byte(i); {
		case c <= ' ' || c == 0x7f:
			t.class[i] = blankClass
		case c == '"' || c == '\'':
			t.class[i] = quoteClass
		case c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
			t.class[i] = wordClass
		case c == '-' || c == '+':
			t.class[i] = signClass
		}
	}
	for _, c := range []byte("isudrISUDR") {
		t.verb[c] = true
	}
	for _, c := range []byte(" \t\"':=])(>|,;*`") {
		t.beforeVerb[c] = true
	}
	for _, c := range []byte("\\\"'`[{") {
		t.sqlStop[c] = true
	}
	return t
}

func isWord(c byte) bool   { return tab.class[c] == wordClass }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func lowerCase(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hasFold reports whether the text starts with the lower-case prefix, in any
// case.
func hasFold(text []byte, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lowerCase(text[i]) != prefix[i] {
			return false
		}
	}
	return true
}
