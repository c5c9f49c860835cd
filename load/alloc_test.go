//go:build !race

package load

import (
	"testing"
	"time"
)

func TestRecorderDoesNotAllocatePerHit(t *testing.T) {
	r := NewRecorder(Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}}}, 0)
	hits := []Hit{{Step: 1, Due: 1, Sent: 2, Done: 3 * time.Millisecond, Code: 200}, {Step: 1, Due: 1, Sent: 2, Done: 5 * time.Millisecond, Code: 500, Err: "500 Internal Server Error"}}
	r.Hits(hits)
	if n := testing.AllocsPerRun(1000, func() { r.Hits(hits) }); n != 0 {
		t.Errorf("%v allocations for each batch, want 0", n)
	}
}
