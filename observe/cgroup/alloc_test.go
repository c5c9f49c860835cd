//go:build !race

package cgroup

import (
	"fmt"
	"os"
	"testing"

	kasoku "github.com/kasoku/kasoku"
)

// tenGroups makes a tree of ten units, each with one process.
func tenGroups(t testing.TB) *Source {
	t.Helper()
	root := unpack(t, "v2")
	var pids []int
	for i := range 10 {
		pid, unit := 5000+i, fmt.Sprintf("/sys/fs/cgroup/system.slice/unit%d.service/", i)
		write(t, root, fmt.Sprintf("proc/%d/cgroup", pid), fmt.Sprintf("0::/system.slice/unit%d.service\n", i))
		for _, name := range []string{"pids.current", "pids.max", "pids.events", "cpu.stat", "cpu.max", "memory.current", "memory.max", "memory.events", "io.stat", "cpu.pressure"} {
			text, err := os.ReadFile(root + "/sys/fs/cgroup/system.slice/nginx.service/" + name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, root, unit+name, string(text))
		}
		pids = append(pids, pid)
	}
	return open(t, root, watching(pids...))
}

// Between two readings of costly files, limits and members a tick allocates nothing.
func TestNoAllocationsInSteadyState(t *testing.T) {
	s := tenGroups(t)
	var f kasoku.Frame
	ctx := t.Context()
	collect(t, s)
	if n := testing.AllocsPerRun(slowTicks-3, func() {
		f.Reset()
		if err := s.Collect(ctx, &f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkCollect(b *testing.B) {
	s := tenGroups(b)
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
