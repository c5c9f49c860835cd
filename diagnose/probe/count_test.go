package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/logs/slowlog"
)

// counted makes a count of slots of 100 ms: of endpoint -1 nothing was asked.
func counted(endpoints []int, all ...seen) *count {
	var slots []slot
	for i, e := range endpoints {
		slots = append(slots, slot{length: 100 * time.Millisecond, endpoint: e, request: i})
	}
	var classes []slowlog.Class
	for n, id := range []string{"LIST", "LOOKUP", "JOB"} {
		classes = append(classes, slowlog.Class{Query: kasoku.Query{ID: id, Fingerprint: id}, Number: n + 1})
	}
	return newCount("db", slots, all, classes)
}

// times is so many statements of a class in a slot on one connection.
func times(n, slot, class int, rows uint64) []seen {
	return slices.Repeat([]seen{{slot, class, 1, rows}}, n)
}

func TestCallers(t *testing.T) {
	c := counted([]int{-1, 0, 0, 0, -1, 1, 1, 1}, slices.Concat(
		times(1, 1, 1, 3), times(3, 1, 2, 1), times(1, 2, 1, 7), times(7, 2, 2, 1), times(1, 3, 1, 5), times(5, 3, 2, 1), // a loop over a list
		times(2, 0, 3, 0), times(2, 4, 3, 0), times(2, 2, 3, 0), times(2, 6, 3, 0), // a job
		times(1, 5, 2, 1), // once
	)...)
	first := c.callers(0)
	if len(first) != 2 || first[0].QueryID != "LOOKUP" || first[0].PerRequest != 5 || first[0].Least != 3 || first[0].Most != 7 || !first[0].Loop ||
		first[0].List != "LIST" || first[0].Slope != 1 || first[1].PerRequest != 1 || first[1].Loop || first[1].List != "" {
		t.Errorf("callers %+v", first)
	}
	second := c.callers(1)
	if len(second) != 1 || second[0].Class != kasoku.CallerPossible || Sentence(&second[0], "Q") == "" {
		t.Errorf("seen once: %+v", second)
	}
	if b := c.background(); len(b) != 1 || b[0].QueryID != "JOB" || b[0].Count != 4 || b[0].PerSec != 20 {
		t.Errorf("background %+v", b)
	}
	if least, most, mean := c.statements(0); least != 4 || most != 10 || mean < 6.66 || mean > 6.67 {
		t.Errorf("statements %d–%d, %v", least, most, mean)
	}
}

// TestCallersBesideAJob: what an endpoint runs more of than a job does is its own.
func TestCallersBesideAJob(t *testing.T) {
	c := counted([]int{-1, -1, 0, 0, 0, 0}, slices.Concat(times(1, 0, 1, 1), times(1, 1, 1, 1), times(11, 2, 1, 1), times(11, 3, 1, 1), times(11, 4, 1, 1), times(11, 5, 1, 1))...)
	got := c.callers(0)
	if len(got) != 1 || got[0].PerRequest != 10 || got[0].Note == "" {
		t.Errorf("callers %+v", got)
	}
}

func TestFit(t *testing.T) {
	for _, x := range []struct {
		name         string
		rows, calls  []float64
		slope, close float64
	}{
		{"one for each row", []float64{3, 5, 9}, []float64{3, 5, 9}, 1, 1},
		{"two and a first one", []float64{3, 5, 9}, []float64{7, 11, 19}, 2, 1},
		{"always as many", []float64{4, 4, 4}, []float64{4, 4, 4}, 1, 1},
		{"always other", []float64{4, 4, 4}, []float64{8, 8, 8}, 0, 0},
		{"one row", []float64{1, 1, 1}, []float64{1, 1, 1}, 0, 0},
	} {
		if s, r := fitLine(x.rows, x.calls); s-x.slope > 1e-9 || x.slope-s > 1e-9 || r-x.close > 1e-9 || x.close-r > 1e-9 {
			t.Errorf("%s: slope %v, correlation %v", x.name, s, r)
		}
	}
}

func TestFromTargets(t *testing.T) {
	all := []load.Target{
		{Method: "GET", URL: "http://127.0.0.1/users/1"}, {Method: "GET", URL: "http://127.0.0.1/users/2?x=1"},
		{Method: "POST", URL: "http://127.0.0.1/search"}, {Method: "DELETE", URL: "http://127.0.0.1/users/3"},
	}
	got, skipped, err := FromTargets(all, Selection{Allow: []string{"POST:/search"}})
	if err != nil || len(got) != 2 || got[0].String() != "GET /users/:id" || len(got[0].Targets) != 2 || got[1].String() != "POST /search" ||
		len(skipped) != 1 || skipped[0].Endpoint != "DELETE /users/:id" {
		t.Errorf("%v: %v, skipped %v", err, got, skipped)
	}
}

func TestFromRecording(t *testing.T) {
	ok := map[int]uint64{200: 1}
	rec := &kasoku.Recording{
		Endpoints: []kasoku.Endpoint{
			{Method: "GET", Route: "/users/:id", Codes: ok}, {Method: "GET", Route: "/top", Codes: ok}, {Method: "GET", Route: "/gone", Codes: map[int]uint64{404: 3}},
			{Method: "POST", Route: "/search", Codes: ok}, {Method: "POST", Route: "/buy", Codes: ok}, {Method: "GET", Route: "/pages/:name", Codes: ok},
		},
		Slowest: []kasoku.SlowRequest{{Method: "GET", URI: "/users/7", Status: 200}, {Method: "GET", URI: "/users/8?token=***", Status: 200}, {Method: "GET", URI: "/users/9", Status: 500}},
	}
	s := NewSampler()
	s.Add("GET", "/users/1")
	s.Add("GET", "/users/1")
	got, skipped := FromRecording(rec, s.Samples(), Selection{Base: "http://127.0.0.1:8080/", Allow: []string{"POST /search"}})
	var urls []string
	for _, e := range got {
		for _, x := range e.Targets {
			urls = append(urls, x.Method+" "+x.URL)
		}
	}
	want := []string{"GET http://127.0.0.1:8080/users/1", "GET http://127.0.0.1:8080/users/7", "GET http://127.0.0.1:8080/top"}
	if !slices.Equal(urls, want) {
		t.Errorf("asked %v", urls)
	}
	why := map[string]bool{}
	for _, x := range skipped {
		why[x.Endpoint+": "+x.Why] = true
	}
	for _, x := range []string{"GET /gone: it was never answered well", "POST /search: its body is in no log: name it in targets", "POST /buy: " + notIdempotent, "GET /pages/:name: no request to it was kept"} {
		if !why[x] {
			t.Errorf("no %q in %v", x, why)
		}
	}
}

// TestFromTargets_Choices: targets are of the endpoints that the log has, and of their paths without one.
func TestFromTargets_Choices(t *testing.T) {
	all := []load.Target{{Method: "GET", URL: "http://h/i.php?action=list&id=1"}, {Method: "GET", URL: "http://h/i.php?action=edit"},
		{Method: "POST", URL: "http://h/i.php?action=save"}}
	log := []kasoku.Endpoint{{Method: "GET", Route: "/i.php?action=list", Count: 9, Codes: map[int]uint64{200: 9}},
		{Method: "GET", Route: "/i.php", Count: 9, Codes: map[int]uint64{200: 9}}, {Method: "POST", Route: "/i.php?action=save", Count: 9}}
	f := func(s Selection, want string) {
		t.Helper()
		got, _, err := FromTargets(all, s)
		var names []string
		for _, e := range got {
			names = append(names, fmt.Sprint(e.String(), " ", len(e.Targets)))
		}
		if joined := strings.Join(names, ", "); err != nil || joined != want {
			t.Errorf("got %s %v, want %s", joined, err, want)
		}
	}
	f(Selection{}, "GET /i.php 2")
	f(Selection{Endpoints: log}, "GET /i.php?action=list 1, GET /i.php 1")
	f(Selection{Endpoints: log, Allow: []string{"POST /i.php"}}, "GET /i.php?action=list 1, GET /i.php 1, POST /i.php?action=save 1")
	samples := []Sample{{"GET", "/i.php?id=3&action=list"}, {"GET", "/i.php?action=edit"}}
	got, _ := FromRecording(&kasoku.Recording{Endpoints: log[:2]}, samples, Selection{Base: "http://h"})
	if len(got) != 2 || got[0].Targets[0].URL != "http://h/i.php?id=3&action=list" || len(got[0].Targets) != 1 ||
		got[1].Targets[0].URL != "http://h/i.php?action=edit" || len(got[1].Targets) != 1 {
		t.Errorf("%+v", got)
	}
}
