//go:build !race

package buckets

import "testing"

func TestAllocations(t *testing.T) {
	var s, o Stats
	for i := range 4096 {
		s.Add(float64(i) * 1e-3)
		o.Add(float64(i) * 1e-3)
	}
	i := 0
	f := func(name string, do func()) {
		t.Helper()
		if n := testing.AllocsPerRun(1000, do); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	f("Index", func() { Index(float64(i)); i++ })
	f("Add", func() { s.Add(float64(i&4095) * 1e-3); i++ })
	f("Merge", func() { s.Merge(&o) })
	f("Summary", func() { s.Summary() })
}
