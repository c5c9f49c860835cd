package ptquerydigest

import "testing"

// TestSeconds: sums of times are cut as Perl writes them, which sprintf's rounding is not.
func TestSeconds(t *testing.T) {
	ninety := 0.0
	for range 90 {
		ninety += 0.000001
	}
	for v, want := range map[float64]string{
		0: "0", -1: "0", 1e-7: "0", 0.000001: "1us", ninety: "90us", 0.000249: "249us", 0.000242999999999999: "242us", 0.000242999999999999999: "243us",
		0.001: "1ms", 0.5115: "511ms", 0.5125: "512ms", 0.999999: "1000ms", 0.9999999: "1000ms", 1: "1s", 12.5: "12s", 100000: "100000s",
	} {
		if got := formatSeconds(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
