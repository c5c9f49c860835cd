package unit

import (
	"math"
	"testing"
)

func TestChange(t *testing.T) {
	f := func(before, after float64, want string) {
		t.Helper()
		if got := Change(before, after); got != want {
			t.Errorf("Change(%v, %v) = %q, want %q", before, after, got, want)
		}
	}
	f(1116, 137, "÷8.15")
	f(305, 1000, "×3.28")
	f(331, 24.1, "÷13.7")
	f(1, 0.01002, "÷99.8")
	f(8.904, 8.12, "−8.8 %")
	f(0.300, 0.304, "+1.3 %")
	f(100, 149, "+49.0 %")
	f(100, 150, "×1.50")
	f(150, 100, "÷1.50")
	f(150, 101, "−32.7 %")
	f(5, 5, "0 %")
	f(0, 0, "0 %")
	f(10000, 10001, "< 0.1 %")
	f(10001, 10000, "< 0.1 %")
	f(0, 5, "from 0")
	f(5, 0, "to 0")
	f(-5, 5, Missing)
	f(-10, -20, "×2.00")
	f(1, 1e6, "×1,000,000")
	f(math.NaN(), 5, Missing)
	f(5, math.NaN(), Missing)
	f(math.Inf(1), 5, Missing)
	f(5e-324, 1e300, Missing)
}

func TestRatioRange(t *testing.T) {
	f := func(a, b float64, want string) {
		t.Helper()
		if got := RatioRange(a, b); got != want {
			t.Errorf("RatioRange(%v, %v) = %q, want %q", a, b, got, want)
		}
	}
	f(0.903, 0.933, "−9.7 to −6.7 %")
	f(0.933, 0.903, "−9.7 to −6.7 %")
	f(0.895, 1.022, "−10.5 to +2.2 %")
	f(1/14.0, 1/13.2, "÷13.2 to ÷14.0")
	f(3.21, 3.35, "×3.21 to ×3.35")
	f(0.5, 0.9, "÷2.00 to −10.0 %")
	f(0.9, 2, "−10.0 % to ×2.00")
	f(0.5, 2, "÷2.00 to ×2.00")
	f(0, 0.9, "to 0 to −10.0 %")
	f(math.NaN(), 1, Missing)
	f(1, math.Inf(1), Missing)
}

func TestPoints(t *testing.T) {
	f := func(before, after float64, want string) {
		t.Helper()
		if got := Points(before, after); got != want {
			t.Errorf("Points(%v, %v) = %q, want %q", before, after, got, want)
		}
	}
	f(0.305, 1, "+69.5 points")
	f(1, 0.305, "−69.5 points")
	f(0.5, 0.5, "0 points")
	f(0.5, 0.5001, "< 0.1 points")
	f(0.5001, 0.5, "< 0.1 points")
	f(math.NaN(), 1, Missing)
	if got, want := PointsRange(0.702, 0.686), "+68.6 to +70.2"; got != want {
		t.Errorf("PointsRange = %q, want %q", got, want)
	}
	if got, want := PointsRange(-0.01, 0.02), "−1.0 to +2.0"; got != want {
		t.Errorf("PointsRange = %q, want %q", got, want)
	}
	if got := PointsRange(0, math.NaN()); got != Missing {
		t.Errorf("PointsRange = %q", got)
	}
}
