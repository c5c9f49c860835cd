package callers

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
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

// TestTraceCallers_Untied: statements that could not be tied are of the class all the same.
func TestTraceCallers_Untied(t *testing.T) {
	f := func(seen, unresolved uint64, share, calls float64, note string) {
		t.Helper()
		r := &trace.Result{Counts: trace.Counts{Statements: seen, Unresolved: unresolved, Unfinished: seen - 50 - unresolved}, Classes: []trace.Class{{ID: "1", Fingerprint: "select ?", Count: seen}},
			Endpoints: []trace.Endpoint{{Method: "GET", Path: "/a", Requests: 10, Calls: []trace.Calls{
				{Class: 0, With: 10, Count: 50}}}}}
		got := traceCallers(summed(r, LocateBy(nil)), []kasoku.Query{{ID: "1", Calls: 1000}})
		if len(got) != 1 || got[0].Share != share || got[0].Calls != calls || got[0].Note != note {
			t.Errorf("of %d, %d unresolved: %+v", seen, unresolved, got)
		}
	}
	f(50, 0, 1, 1000, "")
	f(200, 150, 0.25, 50, "of 200 statements of the class 50 could be tied to what ran them")
	f(200, 0, 1, 1000, "") // those of requests that the trace cut off are of the same endpoints
}

// TestTraceCallers_CutOff: of an endpoint whose requests take about as long as the trace few are seen
// whole. What the trace saw of no request stays apart, and so does what drivers send by themselves.
func TestTraceCallers_CutOff(t *testing.T) {
	f := func(name string, tied, partial, outside, setup uint64, share float64, note string) {
		t.Helper()
		seen := tied + partial + outside + setup
		r := &trace.Result{Counts: trace.Counts{Statements: seen, Unfinished: partial, Outside: outside, Setup: setup},
			Classes: []trace.Class{{ID: "1", Fingerprint: "select ?", Count: seen, Outside: outside}},
			Endpoints: []trace.Endpoint{{Method: "GET", Path: "/a", Requests: tied, Calls: []trace.Calls{
				{Class: 0, With: tied, Count: tied}}}}}
		got := traceCallers(summed(r, LocateBy(nil)), []kasoku.Query{{ID: "1", Calls: 1000}})
		if len(got) != 1 || got[0].Share != share || got[0].Note != note {
			t.Errorf("%s: %+v", name, got)
		}
	}
	f("three of forty", 3, 37, 0, 0, 1, "of 40 statements of the class 3 could be tied to what ran them")
	f("half by a job", 3, 17, 20, 0, 0.5, "")
	f("most when connecting", 3, 7, 0, 30, 0.075, "of 40 statements of the class 3 could be tied to what ran them")
}

// TestOverrule_Outside: that no request's goroutine sends a statement does not say that none waits for it: what
// overlap in time says of it stays.
func TestOverrule_Outside(t *testing.T) {
	r := &trace.Result{Counts: trace.Counts{Statements: 700, Outside: 650}, Classes: []trace.Class{
		{ID: "1", Fingerprint: "update stock", Count: 600, Outside: 600}, {ID: "2", Fingerprint: "select ?", Count: 100, Outside: 50}},
		Endpoints: []trace.Endpoint{{Method: "POST", Path: "/buy", Requests: 500, Calls: []trace.Calls{{Class: 1, With: 50, Count: 50}}}}}
	known := []kasoku.Caller{{QueryID: "1", Method: "POST", Route: "/buy", Class: kasoku.CallerHigh, Source: kasoku.FromOverlap, Share: 1},
		{QueryID: "2", Method: "POST", Route: "/buy", Class: kasoku.CallerHigh, Source: kasoku.FromOverlap, Share: 1}}
	got, _ := Overrule(summed(r, LocateBy(nil)), []kasoku.Query{{ID: "1", Calls: 600}, {ID: "2", Calls: 100}}, known, nil)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, c := range got {
		if want := map[string]string{"1": kasoku.FromOverlap, "2": kasoku.FromTrace}[c.QueryID]; c.Source != want ||
			c.QueryID == "2" && c.Share != 0.5 {
			t.Errorf("%+v", c)
		}
	}
}

// TestSummed_Members: what two members did for one endpoint is not added up.
func TestSummed_Members(t *testing.T) {
	r := &trace.Result{Classes: []trace.Class{{ID: "1", Fingerprint: "select ?", Count: 20}},
		Endpoints: []trace.Endpoint{{Member: "gateway", Method: "GET", Path: "/a", Requests: 10},
			{Member: "app", Method: "GET", Path: "/a", Requests: 10, Calls: []trace.Calls{{Class: 0, With: 10, Count: 20}}},
			{Member: "gateway", Method: "GET", Path: "/b", Requests: 3}}}
	got := summed(r, LocateBy(nil))
	if len(got.Endpoints) != 2 || got.Endpoints[0].Requests != 10 || got.Calls[0].PerRequest() != 2 ||
		len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "1 paths of gateway") {
		t.Errorf("%+v", got)
	}
}
