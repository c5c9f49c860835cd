package diagnose

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestSummarise_Refused: of a load of which every answer is 4xx or 5xx nothing succeeded; some 4xx are right.
func TestSummarise_Refused(t *testing.T) {
	f := func(codes map[int]uint64, succeeded uint64) {
		t.Helper()
		e := kasoku.Endpoint{Method: "GET", Route: "/none", Codes: codes, Latency: histogram.New(),
			Seconds: map[int]kasoku.EndpointSecond{}}
		for code, n := range codes {
			e.Count += n
			s := e.Seconds[0]
			s.Count += n
			if code >= 500 {
				s.Failed += n
			}
			e.Seconds[0] = s
		}
		rec := &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Endpoints: []kasoku.Endpoint{e},
			Logs: []kasoku.LogWindow{{Kind: "access"}}}
		s := Summarise(rec)
		if s.Succeeded != succeeded || (s.PerSec > 0) != (succeeded > 0) {
			t.Errorf("%v: %d succeeded, %v a second, want %d", codes, s.Succeeded, s.PerSec, succeeded)
		}
	}
	f(map[int]uint64{404: 5}, 0)
	f(map[int]uint64{404: 5, 502: 2}, 0)
	f(map[int]uint64{404: 5, 200: 1}, 6)
	f(map[int]uint64{302: 4, 401: 1}, 5)
}
