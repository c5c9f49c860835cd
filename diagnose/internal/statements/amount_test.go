package statements

import "testing"

// TestAmount: no digit is printed that is not known.
func TestAmount(t *testing.T) {
	f := func(per, least, most float64, want string) {
		t.Helper()
		if got := amount(per, least, most); got != want {
			t.Errorf("%v, %v to %v: %q, want %q", per, least, most, got, want)
		}
	}
	f(8, 8, 8, "8")
	f(7.88, 7.67, 8.1, "7.88")
	f(8.92, 8.72, 10.02, "9 to 10")
	f(21, 18.2, 24.4, "18 to 24")
	f(1.1, 0.9, 1.3, "1.10")
}
