//go:build !race

package host

import (
	"testing"

	kasoku "github.com/kasoku/kasoku"
)

func TestNoAllocationsInSteadyState(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	var f kasoku.Frame
	if n := testing.AllocsPerRun(20, func() {
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkCollect(b *testing.B) {
	s, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx := b.Context()
	var f kasoku.Frame
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			b.Fatal(err)
		}
	}
}
