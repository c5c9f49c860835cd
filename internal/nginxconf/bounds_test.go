package nginxconf

import (
	"fmt"
	"strings"
	"testing"
)

// TestIncludes: a configuration that includes without end is read up to a limit, which
// is said once.
func TestIncludes(t *testing.T) {
	f := func(what, text string, glob func(pattern string) []string) {
		t.Helper()
		reads, globs := 0, 0
		conf, err := ReadFrom(Files{
			Read: func(_, path string) ([]byte, error) {
				if reads++; path == "/n/nginx.conf" {
					return []byte(text), nil
				}
				return nil, fmt.Errorf("no %s", path)
			},
			Glob: func(_, pattern string) []string { globs++; return glob(pattern) },
		}, "/n/nginx.conf")
		if reads > maxFiles || globs > maxIncludes || len(conf) == 0 {
			t.Errorf("%s: %d files, %d patterns, %d directives", what, reads, globs, len(conf))
		}
		if n := strings.Count(fmt.Sprint(err), "are left out"); n != 1 {
			t.Errorf("%s: said %d times", what, n)
		}
	}
	many := strings.Repeat("include x;\n", 10*maxIncludes)
	f("names", many, func(pattern string) []string { return []string{pattern} })
	f("patterns", many, func(string) []string { return nil })
	f("one pattern", "include x;\ninclude y;\ninclude z;", func(string) (out []string) {
		for i := range 10 * maxFiles {
			out = append(out, fmt.Sprint("/n/", i))
		}
		return out
	})
}
