//go:build !race

package scenario

import (
	"context"
	"testing"
	"time"
)

// TestCountingDoesNotAllocate: successes and requests come by the thousand.
func TestCountingDoesNotAllocate(t *testing.T) {
	runAll(t, t.Context(), Options{Levels: []int64{10, 1e9}}, loading(func(_ context.Context, s *Step) {
		now := time.Now()
		for name, f := range map[string]func(){
			"Score":  func() { s.Score("buy") },
			"Record": func() { s.Record(Record{Step: "GET /", Sent: now, Done: now, Code: 200}) },
		} {
			f()
			if n := testing.AllocsPerRun(1000, f); n != 0 {
				t.Errorf("%s: %v allocations, want 0", name, n)
			}
		}
	}))
}
