package diagnose

import (
	"testing"

	"github.com/kasoku/kasoku"
)

func TestSaidText(t *testing.T) {
	f := func(code, sample, want string) {
		t.Helper()
		if got := (Said{Message: &kasoku.Message{Code: code, Sample: sample}}).Text(); got != want {
			t.Errorf("%s %q: %q, want %q", code, sample, got, want)
		}
	}
	// The client's own address is another one in each run.
	f("1040", "add order: connect to root@127.0.0.1:37841: Error 1040: Too many connections", "Error 1040: Too many connections")
	f("1040", "2026/11/20 14:02:39 ERROR 1040 (08004): Too many connections", "ERROR 1040 (08004): Too many connections")
	f("1062", "Error 1062", "Error 1062")
	// A line that has the number elsewhere, another number, or none, stays whole.
	f("1040", "SQLSTATE[08004] [1040] Too many connections", "SQLSTATE[08004] [1040] Too many connections")
	f("104", "put: Error 1040: Too many", "put: Error 1040: Too many")
	f("", "put: Error 1040", "put: Error 1040")
	f("1040", "", "")
}
