package scenario

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPin: while a run goes on all threads are on the cores that were asked for, and
// afterwards where they were.
func TestPin(t *testing.T) {
	before, procs := affinities(t), runtime.GOMAXPROCS(0)
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		t.Fatal(err)
	}
	core := 0
	for !mine.IsSet(core) {
		core++
	}
	r := runAll(t, t.Context(), Options{CPUs: []int{core}}, loading(func(context.Context, *Step) {
		for id, set := range affinities(t) {
			if set.Count() != 1 || !set.IsSet(core) {
				t.Errorf("thread %d is on %d cores", id, set.Count())
			}
		}
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("GOMAXPROCS is %d", n)
		}
	}))
	if len(r.Warnings) != 0 || r.Generator.Available != 1 {
		t.Errorf("%v, %+v", r.Warnings, r.Generator)
	}
	for id, set := range affinities(t) {
		if was, known := before[id]; known && was != set {
			t.Errorf("thread %d stays on %d cores", id, set.Count())
		}
	}
	if n := runtime.GOMAXPROCS(0); n != procs {
		t.Errorf("GOMAXPROCS is %d, was %d", n, procs)
	}
}

func affinities(t *testing.T) map[int]unix.CPUSet {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]unix.CPUSet{}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(id, &set); err == nil { // else it has ended
			out[id] = set
		}
	}
	return out
}

func TestBadCPUs(t *testing.T) {
	for _, cpu := range []int{-1, 100_000} {
		if _, err := New(Options{CPUs: []int{cpu}}); err == nil || !strings.Contains(err.Error(), "bad core "+strconv.Itoa(cpu)) {
			t.Errorf("core %d: %v", cpu, err)
		}
	}
}
