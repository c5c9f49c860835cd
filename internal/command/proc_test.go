package command

import (
	"os"
	"slices"
	"testing"
)

func TestChildren(t *testing.T) {
	p, err := Start(t.Context(), Spec{Path: "sleep", Args: []string{"60"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Children(os.Getpid()); !slices.Contains(got, p.Pid()) {
		t.Errorf("%v, want %d among them", got, p.Pid())
	}
	if resident, peak, err := Memory(p.Pid()); err != nil || resident == 0 || peak < resident {
		t.Errorf("%d resident, peak %d, %v", resident, peak, err)
	}
	if _, err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Memory(p.Pid()); err == nil || len(Children(p.Pid())) != 0 {
		t.Errorf("of a process that has ended: %v", err)
	}
}

func TestKibibytes(t *testing.T) {
	f := func(status string, want uint64, ok bool) {
		t.Helper()
		if got, err := kibibytes([]byte(status), "VmHWM:"); got != want || (err == nil) != ok {
			t.Errorf("%q: %d, %v", status, got, err)
		}
	}
	f("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t  12 kB\nVmRSS:\t 3 kB\n", 12<<10, true)
	f("", 0, false)
	f("VmHWM:\n", 0, false)
	f("VmHWM:\t-1 kB\n", 0, false)
	f("VmHWM:\t99999999999999999999 kB\n", 0, false)
}
