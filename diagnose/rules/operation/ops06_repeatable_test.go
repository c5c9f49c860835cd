package operation

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestFailureImpact: one failed answer of a thousand is no half of the runs.
func TestFailureImpact(t *testing.T) {
	f := func(codes map[int]uint64, want float64) {
		t.Helper()
		rec := &kasoku.Recording{}
		if codes != nil {
			rec.Endpoints = []kasoku.Endpoint{{Method: "GET", Route: "/", Count: 1000, Codes: codes}}
		}
		if got := failureImpact([]*kasoku.Recording{rec}, 2).Share; got != want {
			t.Errorf("%v: %v, want %v", codes, got, want)
		}
	}
	f(map[int]uint64{200: 999, 500: 1}, 0.001)
	f(map[int]uint64{500: 1000}, 0.5)
	f(map[int]uint64{200: 1000}, 0.5)
	f(nil, 0.5)
}
