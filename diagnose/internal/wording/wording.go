// Package wording has words that findings share: counts, lists, and titles that fit.
package wording

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

// Capital returns s with its first letter in upper case.
func Capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// ContainsFold reports whether s holds one of the parts, given in lower case.
func ContainsFold(s string, parts ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// ContainsWord reports whether s holds the word with no letter or digit beside
// it, so that 1040 is not found in 210408.
func ContainsWord(s, word string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 || word == "" {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || !IsWordByte(s[from-1])) && (to == len(s) || !IsWordByte(s[to])) {
			return true
		}
		at = from + 1
	}
}

// IsWordByte reports whether b is an ASCII letter, a digit or an underscore.
func IsWordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

// Cut shortens s to at most n runes.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// CutMiddle shortens s to at most n runes, and keeps somewhat more of its end than of its beginning.
func CutMiddle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	end := n / 2
	return string(r[:n-1-end]) + "…" + string(r[len(r)-end:])
}

// OrMissing returns s, or the sign for what is missing when s is empty.
func OrMissing(s string) string {
	if s == "" {
		return unit.Missing
	}
	return s
}

// List names at most n things.
func List(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}

// MaxTitle is how long a title may be.
const MaxTitle = 70

// MaxQuoted is how much of a statement is quoted.
const MaxQuoted = 100

// Average prints a count for each request: 169, 16.4, 1.25, 1.
func Average(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return diagnose.Whole(v)
	}
	return unit.Sig3(v)
}

// Times prints how often something happened: once, 2 times.
func Times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}

// Process names a process by its program first, so that its number does not read like a
// count: "28359 bash" is bash (pid 28359).
func Process(instance string) string {
	pid, name, ok := strings.Cut(instance, " ")
	if !ok || pid == "" || strings.Trim(pid, "0123456789") != "" {
		return instance
	}
	return name + " (pid " + pid + ")"
}
