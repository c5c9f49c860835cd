// Package lazyregexp makes regular expressions of package level that cost nothing
// until they are used: one compiled at start takes some 5 kB and 10 µs of every
// command, of which most need none.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// New returns a function that compiles the expression when it is first called, as
// [regexp.MustCompile] does, and returns the same one ever after. It may be called
// from several goroutines. In tests the expression is compiled at once, so that a
// wrong one is found though no test uses it.
func New(expr string) func() *regexp.Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	if len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test") {
		compiled()
	}
	return compiled
}
