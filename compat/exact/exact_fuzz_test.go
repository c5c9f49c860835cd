package exact

import (
	"math"
	"strconv"
	"testing"
)

// FuzzParse: the value is that of strconv.ParseFloat.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.021", "1.", ".5", "-", "", "1e3", "0x1p-2", "123456789012345", "0.00000000000001", "1_0"} {
		f.Add([]byte(s), -3)
	}
	f.Fuzz(func(t *testing.T, text []byte, scale int) {
		factor := math.Pow10(scale)
		want, err := strconv.ParseFloat(string(text), 64)
		good := err == nil && !math.IsNaN(want) && !math.IsInf(want, 0)
		if !good {
			want = 0
		}
		want *= factor
		n, ok := Parse(text, factor)
		if math.IsNaN(want) || math.IsInf(want, 0) {
			return
		}
		if n.Value != want || ok != good {
			t.Fatalf("%q: %v %v, want %v %v", text, n.Value, ok, want, good)
		}
		var c Tally
		c.Add(n, n.Frac)
		if s := c.Append(nil, n.Frac, factor); len(s) != 1 || s[0].Value != want {
			t.Fatalf("%q is counted as %v, want %v", text, s, want)
		}
	})
}
