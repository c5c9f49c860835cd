package callers

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// TestSummed_LongStatements: statements that differ after what is kept of their fingerprints are two.
func TestSummed_LongStatements(t *testing.T) {
	long := "select " + strings.Repeat("a, ", 700)
	r := &trace.Result{
		Classes: []trace.Class{{ID: "1", Fingerprint: long, Count: 3}, {ID: "2", Fingerprint: long, Count: 5}},
		Endpoints: []trace.Endpoint{{Method: "GET", Path: "/a", Requests: 1, Calls: []trace.Calls{
			{Class: 0, With: 1, Count: 3}, {Class: 1, With: 1, Count: 5}}}},
	}
	got := summed(r, LocateBy(nil)).Calls
	if len(got) != 2 || got[0].QueryID != "2" || got[0].Calls != 5 || got[1].QueryID != "1" || got[1].Calls != 3 {
		t.Errorf("%+v", got)
	}
}
