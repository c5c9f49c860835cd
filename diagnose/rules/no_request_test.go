package rules

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/durability"
	"github.com/kasoku/kasoku/diagnose/rules/query"
)

// joined gives a run a join that found no request for any statement.
func joined(c *diagnose.Case) *diagnose.Case {
	host := c.Queries[0].Host
	c.Joins = []kasoku.Join{{Host: host, Interval: kasoku.Interval{To: time.Hour}}}
	for i := range c.Queries {
		c.Queries[i].Seconds = map[int]kasoku.QuerySecond{1: {Calls: c.Queries[i].Calls, Total: c.Queries[i].Total}}
	}
	return c
}

// TestNoRequest: statements that the join found no request for are a share of the
// statements' time and a remark; part of a class counts as that part, and where there is no
// join the share is the most that it can be.
func TestNoRequest(t *testing.T) {
	r := query.Aggregate{}
	q := class("S", "SELECT SUM(score) FROM papers GROUP BY pupil", 1000, 10, 30*time.Second)
	q.RowsExamined, q.Tables = 20_000*1000, []string{"papers"}
	f := func(c *diagnose.Case) kasoku.Finding {
		t.Helper()
		found, silent := r.Check(c)
		if len(found) != 1 {
			t.Fatalf("%d findings, %+v", len(found), silent)
		}
		return found[0]
	}
	x := f(joined(queryRun(ordersGet, []kasoku.Query{q})))
	if x.Severity != kasoku.Info || x.Impact.Of != "of the statements' time, in no request" || !x.Impact.Estimate {
		t.Errorf("of no request: %s, %+v", x.Severity, x.Impact)
	}
	all := f(queryRun(ordersGet, []kasoku.Query{q}, runBy("S", 1, kasoku.CallerConfirmed)))
	if all.Severity != kasoku.Problem || all.Impact.Of != "of request time" || all.Impact.Estimate {
		t.Errorf("of requests: %s, %+v", all.Severity, all.Impact)
	}
	part := runBy("S", 1, kasoku.CallerHigh)
	part.Source = kasoku.FromOverlap
	c := joined(queryRun(ordersGet, []kasoku.Query{q}, part))
	c.Callers[0].Share = 0.25
	if x := f(c); x.Impact.Share < 0.24*all.Impact.Share || x.Impact.Share > 0.26*all.Impact.Share {
		t.Errorf("a quarter of the class: %+v of %+v", x.Impact, all.Impact)
	}
	if x := f(queryRun(ordersGet, []kasoku.Query{q})); x.Impact.Of != "of request time at most" || !x.Impact.Estimate {
		t.Errorf("no join: %+v", x.Impact)
	}
	c = joined(queryRun(ordersGet, []kasoku.Query{q}))
	c.Joins[0].Checks = []kasoku.JoinCheck{{Name: "requests given up"}}
	if x := f(c); x.Impact.Of != "of request time at most" {
		t.Errorf("statements that outlive their requests: %+v", x.Impact)
	}
	c = joined(queryRun(ordersGet, []kasoku.Query{q}))
	c.Queries[0].Seconds = map[int]kasoku.QuerySecond{1: {Calls: 19}}
	if x := f(c); x.Impact.Of != "of request time at most" {
		t.Errorf("few calls within the join: %+v", x.Impact)
	}
	c = joined(queryRun(ordersGet, []kasoku.Query{q}))
	few := c.Endpoints[0]
	few.Route, few.Count, few.Seconds = "/v1/seldom", 19, map[int]kasoku.EndpointSecond{3: {Count: 19}}
	c.Endpoints = append(c.Endpoints, few)
	if x := f(c); x.Impact.Of != "of the statements' time, in no request" {
		t.Errorf("a few requests beside many: %+v", x.Impact)
	}
	c.Queries[0].Seconds = map[int]kasoku.QuerySecond{1: {Calls: 38}}
	if x := f(c); x.Impact.Of != "of request time at most" {
		t.Errorf("as few calls as requests of an endpoint that is seldom asked: %+v", x.Impact)
	}
	c = joined(queryRun(ordersGet, []kasoku.Query{q}))
	c.Endpoints[0].Seconds = map[int]kasoku.EndpointSecond{3: {Count: 19}}
	if x := f(c); x.Impact.Of != "of request time at most" {
		t.Errorf("few requests within the join: %+v", x.Impact)
	}
}

// TestWaitInLine: requests that wait for one of the application's workers do so for what the
// workers do, and a statement is the share of that.
func TestWaitInLine(t *testing.T) {
	q := class("S", "SELECT SUM(score) FROM papers GROUP BY pupil", 1000, 10, 9*time.Second)
	q.RowsExamined, q.Tables = 20_000*1000, []string{"papers"}
	more := 0 // processes that are there for the whole run
	f := func(workers, threads, answered int) kasoku.Impact {
		t.Helper()
		c := queryRun(ordersGet, []kasoku.Query{q}, runBy("S", 1, kasoku.CallerConfirmed))
		e := &c.Endpoints[0]
		e.Total, e.Seconds = 300*time.Second, map[int]kasoku.EndpointSecond{}
		for s := range answered {
			e.Seconds[s] = kasoku.EndpointSecond{Count: 10}
		}
		c.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Workers: workers, Threads: threads}}}
		for pid := range more {
			m := c.Service.Members[0]
			c.Service.Members[0].Processes = append(m.Processes, kasoku.MemberProcess{PID: pid + 10, Leader: pid == 0})
			c.Series = append(c.Series, kasoku.Series{Key: kasoku.Key{Source: diagnose.Process, Name: "cpu.user",
				Instance: strconv.Itoa(pid+10) + " php-fpm"}, Kind: kasoku.Counter,
				Points: []kasoku.Point{{At: c.Whole().From}, {At: c.Whole().To}}})
		}
		found, silent := query.Aggregate{}.Check(c)
		if len(found) != 1 {
			t.Fatalf("%d findings, %+v", len(found), silent)
		}
		return found[0].Impact
	}
	for _, x := range []struct {
		workers, threads, answered int
		share                      float64
	}{{3, 1, 10, 0.3}, {2, 5, 10, 0.09}, {3, 0, 10, 0.03}, {30, 1, 10, 0.03}} {
		if got := f(x.workers, x.threads, x.answered); math.Abs(got.Share-x.share) > 1e-9 || got.Of != "of request time" || got.Estimate != (x.share > 0.03) {
			t.Errorf("%d workers of %d: %+v, want %v", x.workers, x.threads, got, x.share)
		}
	}
	// PHP-FPM began with two, and has a leader and six under load.
	if more = 7; math.Abs(f(2, 1, 10).Share-0.15) > 1e-9 {
		t.Errorf("six workers: %+v, want 0.15", f(2, 1, 10))
	}
}

// TestCommitsOfNoRequest: commits of a worker are no wait of requests.
func TestCommitsOfNoRequest(t *testing.T) {
	r := durability.CommitSync{}
	for _, k := range keptRuns(t, r.ID()) {
		if k.kind != "fires" {
			continue
		}
		found, _ := r.Check(k.c)
		if len(found) != 1 || !strings.HasSuffix(found[0].Impact.Of, " at most") {
			t.Errorf("%s: without a join: %+v", k.path, found)
		}
		if found, silent := r.Check(joined(k.c)); len(found) > 0 || !strings.Contains(silent[0].Reason, "0 % of the requests' time") {
			t.Errorf("%s: speaks of commits that no request waits for: %+v %+v", k.path, found, silent)
		}
	}
}
