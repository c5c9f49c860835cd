package diagnose

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

func TestCallers(t *testing.T) {
	rec := run(at{10, 0, 10, 1, 100 * time.Millisecond})
	rec.Queries = []kasoku.Query{{ID: "A", Total: 3 * time.Second, Seconds: map[int]kasoku.QuerySecond{0: {Total: time.Second}, 5: {Total: 2 * time.Second}}}, {ID: "B"}}
	rec.Callers = []kasoku.Caller{
		{QueryID: "A", Method: "GET", Route: "/b", Class: kasoku.CallerPossible, Calls: 900},
		{QueryID: "A", Method: "GET", Route: "/c", Class: kasoku.CallerHigh, Calls: 9},
		{QueryID: "B", Method: "GET", Route: "/x", Class: kasoku.CallerConfirmed},
		{QueryID: "A", Method: "GET", Route: "/d", Class: kasoku.CallerHigh, Calls: 90},
		{QueryID: "A", Method: "GET", Route: "/e", Class: kasoku.CallerConfirmed, Calls: 1},
	}
	c := NewCase(rec, nil)
	var got string
	for _, x := range c.Statements().CallersOf("A") {
		got += x.Route
	}
	if got != "/e/d/c/b" {
		t.Errorf("callers %s", got)
	}
	if c.Statements().QueryByID("B") == nil || c.Statements().QueryByID("C") != nil {
		t.Error("queries by id")
	}
	// Without an access log the load's own times count: 100 requests of 100 ms.
	if d := c.Statements().RequestTime(); d < 9900*time.Millisecond || d > 10100*time.Millisecond {
		t.Errorf("request time %v", d)
	}
	rec.Endpoints = []kasoku.Endpoint{{Method: "GET", Route: "/e", Total: 4 * time.Second}, {Method: "POST", Route: "/reset", Total: time.Minute}}
	rec.Phases = []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Why: "POST /reset", Interval: kasoku.Interval{To: time.Second}}}
	if d := c.Statements().RequestTime(); d != 4*time.Second {
		t.Errorf("request time %v", d)
	}
	if s := c.Statements().ShareOf(c.Statements().QueryTime(c.Statements().QueryByID("A"))); s != 0.5 {
		t.Errorf("share %v", s)
	}
	if s := c.Statements().ShareOf(time.Hour); s != 1 {
		t.Errorf("share %v", s)
	}
	if e := c.Statements().EndpointOf("GET /e"); e == nil || e.Total != 4*time.Second || c.Statements().EndpointOf("GET /f") != nil {
		t.Error("endpoint by name")
	}
	if NewCase(nil, nil).Statements().ShareOf(1) != 0 {
		t.Error("a share of nothing")
	}
}
