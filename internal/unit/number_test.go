package unit

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSig3(t *testing.T) {
	f := func(v float64, want string) {
		t.Helper()
		if got := Sig3(v); got != want {
			t.Errorf("Sig3(%v) = %q, want %q", v, got, want)
		}
	}
	f(0.98, "0.98")
	f(8.9, "8.90")
	f(56.6, "56.6")
	f(357, "357")
	f(1116, "1,116")
	f(1116.4, "1,116")
	f(118220, "118,220")
	f(1234567.8, "1,234,568")
	f(0, "0")
	f(math.Copysign(0, -1), "0")
	f(0.1, "0.10")
	f(0.01, "0.01")
	f(0.006, "0.01")
	f(0.004, "< 0.01")
	f(1e-300, "< 0.01")
	f(-0.004, "> −0.01")
	f(9.996, "10.0") // not 10.00
	f(9.994, "9.99")
	f(99.96, "100")
	f(99.94, "99.9")
	f(999.6, "1,000")
	f(0.996, "1.00")
	f(-12.34, "−12.3")
	f(-1116, "−1,116")
	f(1e20, "100,000,000,000,000,000,000")
	f(math.NaN(), Missing)
	f(math.Inf(1), Missing)
	f(math.Inf(-1), Missing)
}

func TestSig3Fine(t *testing.T) {
	f := func(v float64, want string) {
		t.Helper()
		if got := Sig3Fine(v); got != want {
			t.Errorf("Sig3Fine(%v) = %q, want %q", v, got, want)
		}
	}
	f(5.31, "5.31")
	f(0.98, "0.980")
	f(1, "1.00")
	f(0.01, "0.010")
	f(0.2074, "0.207")
	f(0.304, "0.304")
	f(0.0004, "< 0.001")
	f(1116, "1,116")
}

func TestFixedPlainCount(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(Fixed(1258.12, 1), "1,258.1")
	f(Fixed(305, 1), "305.0")
	f(Fixed(0, 1), "0")
	f(Fixed(0.04, 1), "< 0.1")
	f(Fixed(0.4, 0), "< 1")
	f(Fixed(999999.96, 1), "1,000,000.0")
	f(Plain(1000), "1,000")
	f(Plain(0.5), "0.5")
	f(Plain(2.25), "2.25")
	f(Plain(100), "100")
	f(Plain(0), "0")
	f(Plain(0.001), "< 0.01")
	f(Plain(math.NaN()), Missing)
	f(Count(6612), "6,612")
	f(Count(0), "0")
	f(Count(999), "999")
	f(Count(1000), "1,000")
	f(Count(-1234), "−1,234")
	f(Count(int8(-128)), "−128")
	f(Count(int64(math.MinInt64)), "−9,223,372,036,854,775,808")
	f(Count(uint64(math.MaxUint64)), "18,446,744,073,709,551,615")
	f(Counted(0, "run", "runs"), "0 runs")
	f(Counted(uint64(1), "run", "runs"), "1 run")
	f(Counted(6612, "run", "runs"), "6,612 runs")
}

// TestSig3Property: what is printed is the value, to half a unit of its last
// digit; it has three digits or more, or two decimals; commas fall every three.
func TestSig3Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(math.Log(0.005001), math.Log(1e14)).Draw(t, "log"))
		s := Sig3(v)
		bare := strings.ReplaceAll(s, ",", "")
		got, err := strconv.ParseFloat(bare, 64)
		if err != nil {
			t.Fatalf("Sig3(%v) = %q: %v", v, s, err)
		}
		whole, part, _ := strings.Cut(bare, ".")
		if math.Abs(got-v) > 0.5000001*math.Pow10(-len(part))+v*1e-15 {
			t.Errorf("Sig3(%v) = %q", v, s)
		}
		if len(part) > 2 || len(part) < 2 && len(whole)+len(part) < 3 {
			t.Errorf("Sig3(%v) = %q: wrong number of digits", v, s)
		}
		for i, g := range strings.Split(strings.Split(s, ".")[0], ",") {
			if len(g) > 3 || i > 0 && len(g) != 3 {
				t.Errorf("Sig3(%v) = %q: commas", v, s)
			}
		}
	})
}
