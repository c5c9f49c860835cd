//go:build !race

package redis

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

// Reading INFO allocates nothing once its names are known.
func TestNoAllocationsInSteadyState(t *testing.T) {
	s := &Source{names: names{}}
	var f kasoku.Frame
	text := []byte(small + "cmdstat_get:calls=21,usec=175,usec_per_call=8.33\r\n")
	if n := testing.AllocsPerRun(100, func() {
		f.Reset()
		if err := s.info(text, &f); err != nil {
			t.Fatal(err)
		}
		s.commands(text, &f)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkInfo(b *testing.B) {
	s := &Source{names: names{}}
	var f kasoku.Frame
	text := []byte(small + strings.Repeat("some_other_field:12345\r\n", 180))
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := s.info(text, &f); err != nil {
			b.Fatal(err)
		}
	}
}
