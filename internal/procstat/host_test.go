package procstat

import (
	"testing"
	"time"
)

// TestHost: idle, waiting and stolen time is no work, guests are within user time, and lines of other things are left out.
func TestHost(t *testing.T) {
	at := time.Unix(1000, 0)
	before := parseHost("cpu  100 10 50 9000 70 3 2 40 60 0\ncpu0 50 5 25 4500 35 2 1 20 30 0\ncpu1 50 5 25 4500 35 1 1 20 30 0\nintr 9 1 2 3 4 5 6 7 8\n", at)
	if before.Busy != 165 || before.Cores != 2 {
		t.Fatalf("%+v, want 165 ticks of 2 cores", before)
	}
	after := parseHost("cpu  200 10 100 9000 70 3 2 90 60 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n", at.Add(time.Second))
	if got := after.CoresSince(before); got != 1.5 {
		t.Errorf("%v cores, want 1.5", got)
	}
	if got := before.CoresSince(before); got != 0 {
		t.Errorf("%v cores within no time", got)
	}
	if got := before.CoresSince(after); got != 0 {
		t.Errorf("%v cores backwards", got)
	}
	if h, err := ReadHost(); err != nil || h.Cores < 1 || h.Busy <= 0 {
		t.Errorf("this host: %+v, %v", h, err)
	}
}
