//go:build !race

package sockets

import (
	"testing"
	"time"

	kasoku "github.com/kasoku/kasoku"
)

func TestNoAllocationsInSteadyState(t *testing.T) {
	s := open(t, Options{})
	ctx := t.Context()
	now := time.Unix(1000, 0)
	s.now = func() time.Time { return now }
	var f kasoku.Frame
	for range 20 { // the owners are found
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(rangeTicks-2, func() {
		f.Reset()
		if s.tick%rangeTicks == 0 {
			s.tick++ // the range is read from a file that is opened
		}
		if err := s.Collect(ctx, &f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkListeners(b *testing.B) {
	s := open(b, Options{})
	var f kasoku.Frame
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := s.Collect(b.Context(), &f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConnections(b *testing.B) {
	s := open(b, Options{})
	if s.diag == nil {
		b.Skip("no netlink")
	}
	var f kasoku.Frame
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if _, err := s.count(&f); err != nil {
			b.Fatal(err)
		}
	}
}
