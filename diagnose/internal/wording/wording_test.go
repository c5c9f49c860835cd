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
