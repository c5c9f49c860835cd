package symbols

import (
	"strings"
	"unicode"

	"github.com/ianlancetaylor/demangle"
)

// mostName is how many bytes of a name are kept.
const mostName = 400

// demangled returns the name of a function of C++ or Rust as its source has it, without
// parameters; other names as they are.
func demangled(name string, whole bool) string {
	if whole && len(name) <= mostName*2 && (strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z")) {
		// 2⁹ bytes at most: names of templates can grow without end.
		name = demangle.Filter(name, demangle.NoParams, demangle.NoClones, demangle.MaxLength(9))
	}
	name, _, _ = strings.Cut(name, "@") // the version of a symbol of a library
	return clean(name)
}

// clean keeps what a terminal and a file bear of a text.
func clean(s string) string {
	if len(s) > mostName {
		s = s[:mostName]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
