//go:build !race

package process

import (
	"os/exec"
	"testing"

	kasoku "github.com/kasoku/kasoku"
)

// sleepers starts idle processes.
func sleepers(t testing.TB, n int) {
	t.Helper()
	for range n {
		c := exec.Command("sleep", "600")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
}

// The short file of a process that is known is read without allocating.
func TestNoAllocationsForIdleProcesses(t *testing.T) {
	dir := unpack(t)
	s := open(t, Options{Proc: dir})
	var f kasoku.Frame
	ctx := t.Context()
	collect(t, s)
	if n := testing.AllocsPerRun(50, func() {
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkCollect(b *testing.B) {
	sleepers(b, 300)
	s := open(b, Options{})
	var f kasoku.Frame
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			b.Fatal(err)
		}
	}
}
