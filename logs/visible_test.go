package logs

import "testing"

func TestAppendVisible(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := string(AppendVisible([]byte("> "), text)); got != "> "+want {
			t.Errorf("AppendVisible(%q) = %q, want %q", text, got, want)
		}
	}
	f("", "")
	f("GET /日本?a=1 HTTP/1.1", "GET /日本?a=1 HTTP/1.1")
	f("\xff\xe6\x97", "\xff\xe6\x97") // not understood by a terminal either
	f("a\x00\x1b[31m\t\n\x7f", "a\\x00\\x1B[31m\t\\x0A\\x7F")
	f("\u009b\u202e", `\x9B\u202E`)
}
