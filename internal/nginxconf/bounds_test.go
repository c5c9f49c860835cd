package nginxconf

import (
	"errors"
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

// TestDirectives: a configuration of too many directives or server blocks is read up to the
// limit, in one file or in many, which is said.
func TestDirectives(t *testing.T) {
	f := func(what, text string, included string) {
		t.Helper()
		conf, err := ReadFrom(Files{
			Read: func(_, path string) ([]byte, error) {
				if path == "/n/nginx.conf" {
					return []byte(text), nil
				}
				return []byte(included), nil
			},
			Glob: func(_, pattern string) []string { return []string{pattern} },
		}, "/n/nginx.conf")
		servers := 0
		for i := range conf {
			if conf[i].Name() == "server" {
				servers++
			}
			if p := conf[i].Parent; p >= i {
				t.Fatalf("%s: directive %d stands in %d", what, i, p)
			}
		}
		if len(conf) > maxDirectives || servers > maxServers || len(conf) < 1000 {
			t.Errorf("%s: %d directives, %d servers", what, len(conf), servers)
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !syntax.Cut || strings.Count(err.Error(), "left out") != 1 {
			t.Errorf("%s: %.200v", what, err)
		}
	}
	f("directives", strings.Repeat("a;", 10*maxDirectives), "")
	f("servers", strings.Repeat("server{}", 10*maxServers), "")
	f("servers in one another", strings.Repeat("server{", 10*maxServers), "")
	f("a fault before", "}"+strings.Repeat("a;", 10*maxDirectives), "")
	f("many files", strings.Repeat("include x; include y;", 500), strings.Repeat("server { a b; }", 100))
}
