package accesslog

import "testing"

// TestSameSize: frames of chunks make no other answer, bytes of a small one do.
func TestSameSize(t *testing.T) {
	f := func(a, b uint64, want bool) {
		t.Helper()
		if sameSize(a, b) != want || sameSize(b, a) != want {
			t.Errorf("%d, %d: want %v", a, b, want)
		}
	}
	f(0, 0, true)
	f(500, 501, false)
	f(12288, 12314, true) // three frames more
	f(12288, 12400, false)
	f(900<<10, 900<<10+2000, true)
}
