package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/query"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestCrowdedStreaks holds QRY-05 to what streaks on connections prove where no endpoint is
// known: a loop only where the requests of those seconds are too few to run one statement each.
func TestCrowdedStreaks(t *testing.T) {
	list := class("L", "SELECT * FROM orders WHERE shop = ?", 100, 20, time.Second)
	// A request of a search a second, 600 ms long, with 221 lookups, beside ten others.
	loops := func(perSecond, requests uint64, streak uint64) *diagnose.Case {
		lookup := class("P", "SELECT name FROM customers WHERE id = ?", 10*perSecond, 1, 40*time.Second)
		lookup.Seconds = map[int]kasoku.QuerySecond{}
		e := kasoku.Endpoint{Method: "GET", Route: "/search", Count: 10 * requests, Total: 100 * time.Second,
			Seconds: map[int]kasoku.EndpointSecond{}, Last: 9 * time.Second, Latency: histogram.New()}
		e.Latency.Record(600 * time.Millisecond)
		for s := range 10 {
			lookup.Seconds[s] = kasoku.QuerySecond{Calls: perSecond}
			e.Seconds[s] = kasoku.EndpointSecond{Count: requests}
		}
		lookup.Streak = streak
		if streak >= 10 {
			lookup.Streaks = lookup.Calls
		}
		return diagnose.NewCase(&kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second},
			Endpoints: []kasoku.Endpoint{e}, Queries: []kasoku.Query{list, lookup}}, nil)
	}
	possible := func(c *diagnose.Case, share float64) *diagnose.Case {
		q := &c.Queries[1]
		c.Callers = []kasoku.Caller{{QueryID: "P", Method: "GET", Route: "/search", Class: kasoku.CallerPossible,
			Requests: 110, Calls: share * float64(q.Calls), Share: share, PerRequest: share * float64(q.Calls) / 110}}
		return c
	}
	f := func(c *diagnose.Case, want string) {
		t.Helper()
		found, _ := query.EachRow{}.Check(c)
		got := ""
		if len(found) > 0 {
			got = found[0].Object.String() + ": " + found[0].Title + "; " + found[0].Evidence[0].Value
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for i := range found {
			if strings.Contains(found[i].Cause+found[i].Title, "7.91") || strings.Contains(found[i].Evidence[0].Value, "×") {
				t.Errorf("calls divided by all requests: %s %s", found[i].Cause, found[i].Evidence[0].Value)
			}
		}
	}
	const loop = "table customers: A loop runs one SELECT per row of customers; up to 221 in a row"
	f(loops(221, 8, 221), loop)
	f(possible(loops(221, 8, 221), 0.3), loop)
	f(possible(loops(221, 8, 221), 0.9), "endpoint GET /search: GET /search may run one SELECT per row; up to 221 in a row")
	// As many as one lookup a request, in rows of any length: no loop.
	f(loops(221, 221, 2210), "")
	f(possible(loops(221, 221, 2210), 0.9), "")
	// Four for each that was open are no loop either; the requests of neighbouring seconds count.
	f(possible(loops(221, 12, 2210), 0.9), "")
	// No streaks, no loop: as from many connections.
	f(possible(loops(221, 8, 3), 0.3), "")
	// What is known to be another's is not taken from it.
	known := possible(loops(221, 8, 221), 0.9)
	known.Callers[0].Class, known.Callers[0].PerRequest = kasoku.CallerConfirmed, 2
	f(known, "")
	// The seconds in which the service was initialized count for nothing.
	initial := loops(221, 8, 221)
	initial.Queries[1].Calls = 221 // fewer than five for each request of all
	initial.Queries[1].Streaks = 221
	initial.Phases = []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: kasoku.Interval{To: 10 * time.Second}}}
	f(initial, "")
	// The same text in all calls is one thing, not the rows of a list.
	same := loops(221, 8, 221)
	same.Queries[1].Repeated, same.Queries[1].Distinct = same.Queries[1].Calls, 1
	f(same, "")
}

// TestSameForAll holds statements that every page runs with the same constants apart from the
// rows of a list: QRY-05 is silent about them, and about them alone.
func TestSameForAll(t *testing.T) {
	of := func(distinct uint64, pages int) *diagnose.Case {
		setting := class("P", "SELECT value FROM settings WHERE name = ?", 20000, 1, 40*time.Second)
		setting.Distinct, setting.Streak, setting.Streaks = distinct, 20, 20000
		c := queryRun("GET /a", []kasoku.Query{setting}, runBy("P", 20, kasoku.CallerConfirmed))
		c.Callers[0].Requests, c.Callers[0].Share = 500, 0.5
		if pages == 2 {
			x := c.Callers[0]
			x.Route = "/b"
			c.Callers = append(c.Callers, x)
			e := c.Endpoints[0]
			e.Route = "/b"
			c.Endpoints = append(c.Endpoints, e)
		}
		return c
	}
	f := func(c *diagnose.Case, want int) {
		t.Helper()
		if found, _ := (query.EachRow{}).Check(c); len(found) != want {
			t.Errorf("%d findings, want %d", len(found), want)
		}
	}
	f(of(20, 2), 0)
	f(of(20, 1), 1) // the same rows on the one page that runs them: its list
	f(of(400, 2), 2)
	f(of(0, 2), 2) // not counted
}

// TestUnusedRowsOfPossible holds QRY-01 to what can be said where an endpoint is only possible:
// all answers of the run together must be too small for the rows.
func TestUnusedRowsOfPossible(t *testing.T) {
	f := func(bytes uint64, share float64, want string) {
		t.Helper()
		q := class("P", "SELECT id, subject FROM issues WHERE subject LIKE ?", 1000, 4000, 40*time.Second)
		c := queryRun("GET /search", []kasoku.Query{q}, runBy("P", 1, kasoku.CallerPossible))
		c.Callers[0].Share = share
		c.Endpoints[0].Bytes = 1000 * 200
		c.Endpoints = append(c.Endpoints, kasoku.Endpoint{Method: "GET", Route: "/logo.png", Count: 10, Bytes: bytes})
		found, _ := query.UnusedRows{}.Check(c)
		got := ""
		if len(found) > 0 {
			got = found[0].Title + "; " + found[0].Clause
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const said = "GET /search may read 4,000 rows a call and send few; GET /search may read 4,000 rows of issues and send few of them"
	f(1<<19, 0.9, said)
	f(1<<20, 0.9, "") // another endpoint's answers could hold them
	f(1<<19, 0.4, "") // most of the class overlaps with no endpoint
}
