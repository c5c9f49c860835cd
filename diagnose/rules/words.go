package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// capital returns s with its first letter in upper case.
func capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// containsFold reports whether s holds one of the parts, given in lower case.
func containsFold(s string, parts ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// containsWord reports whether s holds the word with no letter or digit beside
// it, so that 1040 is not found in 210408.
func containsWord(s, word string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 || word == "" {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || !isWordByte(s[from-1])) && (to == len(s) || !isWordByte(s[to])) {
			return true
		}
		at = from + 1
	}
}

func isWordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

// cut shortens s to at most n runes.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
