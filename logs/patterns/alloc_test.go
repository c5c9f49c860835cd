//go:build !race

package patterns

import "testing"

// TestFirst_Allocs: once the states are made, a search allocates nothing.
func TestFirst_Allocs(t *testing.T) {
	for _, exprs := range [][]string{bundles, endless} {
		m := mustCompile(t, exprs...).Matcher()
		texts, _ := bytesOf(append([]string{"GET /日本 \xff HTTP/1.1"}, requests...))
		if n := testing.AllocsPerRun(100, func() {
			for _, b := range texts {
				m.First(b)
			}
		}); n != 0 {
			t.Errorf("%v allocations a run", n)
		}
	}
}
