package diagnose

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"pgregory.net/rapid"
)

// logOf is an access log of one endpoint with as many requests in each second.
func logOf(host string, seconds map[int]uint64) kasoku.Endpoint {
	e := kasoku.Endpoint{Host: host, Method: "GET", Route: "/", Codes: map[int]uint64{}, Seconds: map[int]kasoku.EndpointSecond{}}
	for s, n := range seconds {
		e.Count += n
		e.Codes[200] += n
		e.Seconds[s] = kasoku.EndpointSecond{Count: n}
	}
	return e
}

// TestRequestsOfShortRun: a run of a few milliseconds has its request.
func TestRequestsOfShortRun(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 60 * time.Millisecond}, Endpoints: []kasoku.Endpoint{logOf("", map[int]uint64{0: 1})}}
	if got, want := Diagnose(NewCase(rec, nil), nil).Verdict, "Nothing broke: 100 % of 1 requests succeed."; got != want {
		t.Errorf("verdict %q, want %q", got, want)
	}
}

// TestRequestsOfWholeRun: the headline of any run has as many requests as its
// endpoints.
func TestRequestsOfWholeRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.Int64Range(1, 20e9).Draw(t, "length"))
		last := int((length - 1) / time.Second)
		e := logOf("", rapid.MapOfN(rapid.IntRange(0, last), rapid.Uint64Range(1, 5000), 1, -1).Draw(t, "seconds"))
		rec := &kasoku.Recording{Run: kasoku.Run{Length: length}, Endpoints: []kasoku.Endpoint{e}}
		r, err := NewCase(rec, nil).Requests(rec.Whole())
		if err != nil || r.Count != e.Count {
			t.Errorf("%d requests, %v, want %d", r.Count, err, e.Count)
		}
	})
}

func TestRequestsAtEdges(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: sec(10)}, Endpoints: []kasoku.Endpoint{
		logOf("", map[int]uint64{1: 10, 2: 100, 3: 100, 4: 100, 5: 1000}),
	}}
	iv := kasoku.Interval{From: 2500 * time.Millisecond, To: 4500 * time.Millisecond}
	f := func(what string, want uint64) {
		t.Helper()
		c := NewCase(rec, nil)
		if r, err := c.Requests(iv); err != nil || r.Count != want {
			t.Errorf("%s: %d requests, %v, want %d", what, r.Count, err, want)
		}
	}
	f("any interval", 200)
	rec.Phases = []kasoku.Phase{{Kind: kasoku.PhaseLoad, Interval: iv}}
	f("load phase", 300)
	rec.Steps = []kasoku.Step{{Number: 1, PerSec: 100, Interval: iv}}
	f("step", 200)
	rec.Steps, rec.Phases[0].Kind = nil, kasoku.PhaseVerify
	f("other phase", 200)
}

// TestRequestsOfSeveralHosts: a proxy and the server that it passes to log the same requests.
func TestRequestsOfSeveralHosts(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: sec(3)}, Endpoints: []kasoku.Endpoint{
		logOf("app", map[int]uint64{0: 100, 1: 1000, 2: 21}), logOf("proxy", map[int]uint64{0: 300, 1: 1000, 2: 200}),
	}}
	if host, es := rec.FrontLog(); host != "proxy" || len(es) != 1 {
		t.Errorf("front log is of %q: %v", host, es)
	}
	c := NewCase(rec, nil)
	if r, err := c.Requests(rec.Whole()); err != nil || r.Count != 1500 {
		t.Errorf("%d requests, %v, want 1500", r.Count, err)
	}
	if counts, _ := c.BySecond(); counts[1] != 1000 {
		t.Errorf("by second %v", counts)
	}
	if s := Summarise(rec); s.Requests != 1500 || s.PerSec != 1000 {
		t.Errorf("summary %+v", s)
	}
	if host, es := (&kasoku.Recording{}).FrontLog(); host != "" || es != nil {
		t.Errorf("of nothing %q, %v", host, es)
	}
	rec.Endpoints[1] = logOf("proxy", map[int]uint64{0: 1121})
	if host, _ := rec.FrontLog(); host != "app" {
		t.Errorf("of equals %q, want the first", host)
	}
}

// TestMostFailed: the endpoint whose requests failed is named, not the one with most of them.
func TestMostFailed(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}}
	add := func(method, route string, count, failed uint64) {
		rec.Endpoints = append(rec.Endpoints, kasoku.Endpoint{Method: method, Route: route, Count: count, Codes: map[int]uint64{200: count - failed, 500: failed},
			Seconds: map[int]kasoku.EndpointSecond{1: {Count: count, Failed: failed}}})
	}
	says := func(want string, wantShare float64) {
		t.Helper()
		if name, share := MostFailed(NewCase(rec, nil), rec.Whole()); name != want || share != wantShare {
			t.Errorf("%s, %g; want %s, %g", name, share, want, wantShare)
		}
	}
	says("", 0)
	add("GET", "/list", 900, 0)
	says("", 0)
	add("PUT", "/scores", 60, 45)
	says("PUT /scores", 1)
	add("POST", "/scores", 60, 15)
	says("PUT /scores", 0.75)
	rec.Endpoints, rec.Seconds = nil, []kasoku.LoadSecond{
		{Second: 1, Target: "GET /", Asked: 90, Codes: map[int]uint64{200: 90}}, {Second: 1, Target: "PUT /a", Asked: 10, Codes: map[int]uint64{200: 2, 500: 8}}}
	says("PUT /a", 1)
}
