package callers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/trace"
)

// TestSummed_Choices: the endpoints of a trace are those of the log where the application chooses by a key
// of the query, and its paths where no log says so.
func TestSummed_Choices(t *testing.T) {
	var log strings.Builder
	for i := range 120 {
		uri, took := "/index.php?action=list", 0.01
		if i%3 == 0 {
			uri, took = "/index.php?action=export", 0.4
		}
		fmt.Fprintf(&log, "time:2026-11-20T14:02:11+09:00\tmethod:GET\turi:%s&id=%d\tstatus:200\treqtime:%.3f\n", uri, i,
			took*(1+float64(i%7)/20))
	}
	table, _, err := accesslog.Collect(lines.NewReader(strings.NewReader(log.String()), 0), accesslog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &trace.Result{Classes: []trace.Class{{ID: "1", Fingerprint: "select ?", Count: 9}}}
	for _, path := range []string{"/index.php?action=list", "/index.php?action=export", "/index.php?action=never", "/index.php"} {
		r.Endpoints = append(r.Endpoints, trace.Endpoint{Method: "GET", Path: path, Requests: 1,
			Calls: []trace.Calls{{Class: 0, With: 1, Count: 1}}})
	}
	f := func(table *accesslog.Table, want string) {
		t.Helper()
		var got []string
		for _, e := range summed(r, LocateBy(table)).Endpoints {
			got = append(got, fmt.Sprint(e.Route, " ", e.Requests))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
	f(table, "/index.php?action=list 1, /index.php?action=export 1, /index.php 2")
	f(nil, "/index.php 4")
}

// TestMatchRoute_Choices: a comment that names the path is of all that its query chooses.
func TestMatchRoute_Choices(t *testing.T) {
	endpoints := []kasoku.Endpoint{{Method: "GET", Route: "/index.php", Count: 5},
		{Method: "GET", Route: "/index.php?action=list", Count: 7}, {Method: "GET", Route: "/other", Count: 9}}
	f := func(name string, requests uint64) {
		t.Helper()
		if m := matchRoute(name, endpoints); m.requests != requests {
			t.Errorf("%s: %+v, want %d requests", name, m, requests)
		}
	}
	f("GET /index.php", 12)
	f("GET /index.php?action=list", 7)
	f("/other", 9)
}
