package labcmd

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/procstat"
)

// TestCrowdHint: a quiet host needs no word, a busy one has its share named.
func TestCrowdHint(t *testing.T) {
	if got := crowdHint(0.24); got != "" {
		t.Errorf("a quiet host: %q", got)
	}
	if got := crowdHint(0.625); !strings.HasPrefix(got, "other programs use 62.5 % of this host's CPU") {
		t.Errorf("a busy host: %q", got)
	}
}

// TestCrowded: a core that is kept busy is seen.
func TestCrowded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of CPU")
	}
	var stop atomic.Bool
	defer stop.Store(true)
	go func() {
		for !stop.Load() {
		}
	}()
	h, err := procstat.ReadHost()
	if err != nil {
		t.Fatal(err)
	}
	// Where others hold the cores it gets less than one of them; the cores are at work all the same.
	least := 0.8 / float64(h.Cores)
	if got := crowded(); got < least || got > 1 {
		t.Errorf("%.2f of the CPU in use, want %.2f or more", got, least)
	}
	if watchedFor < 100*time.Millisecond {
		t.Error("too short to count ticks of 10 ms")
	}
}
