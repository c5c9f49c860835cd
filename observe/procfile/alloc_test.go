//go:build !race

package procfile

import "testing"

func TestNoAllocationsInSteadyState(t *testing.T) {
	file, err := Open("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dir, err := OpenDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	buf := make([]byte, 1<<16)
	pids := make([]uint64, 0, 1<<15)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := file.Append(buf[:0]); err != nil {
			t.Fatal(err)
		}
		if _, err := dir.AppendNumbers(pids[:0]); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
