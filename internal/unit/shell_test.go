package unit

import "testing"

func TestShellQuote(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := ShellQuote(in); got != want {
			t.Errorf("%q: got %s", in, got)
		}
	}
	f("/var/log/a.log", "/var/log/a.log")
	f("", "''")
	f("a b", "'a b'")
	f("it's", `'it'\''s'`)
	f("$(x)", "'$(x)'")
}
