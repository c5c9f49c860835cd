package wording

import "testing"

func TestProcess(t *testing.T) {
	for in, want := range map[string]string{"28359 bash": "bash (pid 28359)", "bash": "bash", "7 a b": "a b (pid 7)",
		"at 80": "at 80", "": ""} {
		if got := Process(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCutMiddle: routes differ at their ends, which stay.
func TestCutMiddle(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"GET /lists/dev/top-posters", 26, "GET /lists/dev/top-posters"}, {"GET /lists/dev/top-posters", 21, "GET /lists…op-posters"},
		{"GET /été/àéîõü", 8, "GET…éîõü"}, {"ab", 1, "…"},
	} {
		if got := CutMiddle(tt.s, tt.n); got != tt.want {
			t.Errorf("%q at %d: %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
