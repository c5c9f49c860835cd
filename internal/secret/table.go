package secret

// A class is what a byte can be, as bits.
type class uint8

const (
	initial class = 1 << iota // a secret's name may start with it
	ends                      // it ends the word in which user:password@ stands
	stops                     // it ends a value
	marks                     // it is : that begins a password
)

var (
	classOf = makeClasses()
	byStart = makeStarts()
)

func makeClasses() (t [256]class) {
	for c := range t {
		if c <= ' ' {
			t[c] |= ends
		}
	}
	for _, c := range []byte("\"'<>(,") {
		t[c] |= ends
	}
	for _, c := range []byte(" \t,;&)}]'\"\r\n") {
		t[c] |= stops
	}
	t[':'] |= marks
	for _, n := range names() {
		t[n.text[0]] |= initial
		t[n.text[0]-'a'+'A'] |= initial
	}
	return t
}

// makeStarts groups the names by how they start.
func makeStarts() (t [32 * 32][]name) {
	for _, n := range names() {
		at := startOf(n.text[0], n.text[1])
		t[at] = append(t[at], n)
	}
	return t
}

// startOf returns the place in byStart of a name that starts with two letters. Other
// bytes may fall on the places of letters.
func startOf(a, b byte) int { return int(a&31)<<5 | int(b&31) }

func isQuote(c byte) bool { return c == '"' || c == '\'' }

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// hasFold reports whether text starts with the prefix, which is in lower case, in any.
func hasFold(text []byte, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}
