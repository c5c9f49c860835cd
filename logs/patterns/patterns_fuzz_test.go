package patterns

import (
	"regexp"
	"strings"
	"testing"
)

// FuzzFirst: any list of expressions (a line each) and any text: no panic, an
// expression is refused where Go refuses it, and the answer is Go's.
func FuzzFirst(f *testing.F) {
	for _, r := range requests {
		f.Add(strings.Join(bundles, "\n"), []byte(r))
	}
	f.Add("a$\n^b\n(?m)^c$\n(?i)k\\b", []byte("x\nc\nK\xff\xe6\x97"))
	f.Add(`[^\x00-\x{10FFFF}]|\pL+\B`, []byte("日本\x00"))
	f.Add("(a|b)*a(a|b){9}", []byte("abababbbaabababab"))
	f.Fuzz(func(t *testing.T, list string, text []byte) {
		if len(list) > 2000 || len(text) > 2000 {
			return
		}
		exprs := strings.Split(list, "\n")
		set, err := Compile(exprs)
		want := -1
		for i, e := range exprs {
			re, slowErr := regexp.Compile(e)
			if slowErr != nil {
				if err == nil {
					t.Fatalf("%q is taken, regexp says %v", e, slowErr)
				}
				return
			}
			if want < 0 && re.Match(text) {
				want = i
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		m := set.Matcher()
		for range 2 {
			if got := m.First(text); got != want {
				t.Fatalf("First(%q) of %q = %d, want %d", text, exprs, got, want)
			}
		}
	})
}

// FuzzFind: any expression and any text: no panic, and the offsets are Go's.
func FuzzFind(f *testing.F) {
	for _, expr := range logFormats {
		for _, line := range logLines {
			f.Add(expr, []byte(line))
		}
	}
	f.Add(`(?:(?:a|ab)c|abcd)`, []byte("abcd"))
	f.Fuzz(func(t *testing.T, expr string, text []byte) {
		if len(expr) > 1000 || len(text) > 2000 {
			return
		}
		finder, err := CompileFinder(expr)
		if _, slowErr := regexp.Compile(expr); (err == nil) != (slowErr == nil) {
			t.Fatalf("%q: %v, regexp says %v", expr, err, slowErr)
		}
		if err == nil {
			checkFind(t, finder, text)
		}
	})
}
