package unit

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want {
			t.Errorf("%q to %q: %d, want %d", a, b, got, want)
		}
		if got := distance(b, a); got != want {
			t.Errorf("%q to %q: %d, want %d", b, a, got, want)
		}
	}
	f("", "", 0)
	f("", "abc", 3)
	f("before", "before", 0)
	f("befor", "before", 1)
	f("beofre", "before", 1)
	f("Before", "before", 0)
	f("defaultsFile", "defaults_file", 0)
	f("defaults-file", "defaults_file", 0)
	f("kitten", "sitting", 3)
	f("後", "前後", 1)
	f(strings.Repeat("a", 50), strings.Repeat("b", 50), 50)
}

func TestNearest(t *testing.T) {
	f := func(word, want string, names ...string) {
		t.Helper()
		if got, ok := Nearest(word, names); got != want || ok != (want != "") {
			t.Errorf("%q among %q: %q, %v, want %q", word, names, got, ok, want)
		}
	}
	f("befor", "before", "after", "before")
	f("a", "", "", "before")  // nothing is no name
	f("ab", "ax", "ax", "ay") // the first of several that are as near
	f("", "")
	f("interval", "", "price", "load")
}
