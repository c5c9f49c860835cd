package sample

import (
	"time"

	"github.com/kasoku/kasoku"
)

// shopCallers are which of the shop's endpoints run which statements: one of each
// class and source, and one that no statement is known of.
func shopCallers() []kasoku.Caller {
	return []kasoku.Caller{
		{Host: "web1", QueryID: authorID, Method: "GET", Route: "/posts", Class: kasoku.CallerConfirmed,
			Source: kasoku.FromProbe, PerRequest: 19.5, Least: 5, Most: 20,
			Requests: 12, Calls: 81900, Share: 0.96, Decisive: 1, Loop: true, List: postsID, Slope: 1, Correlation: 1},
		{Host: "web1", QueryID: orderID, Method: "POST", Route: "/orders", Class: kasoku.CallerConfirmed,
			Source: kasoku.FromComments, PerRequest: 1, Least: 1, Most: 1,
			Requests: 1480, Calls: 1480, Share: 1, Decisive: 1},
		{Host: "web1", QueryID: tagsID, Method: "GET", Route: "/posts/:id", Class: kasoku.CallerHigh,
			Source: kasoku.FromOverlap, PerRequest: 8.31, Least: 7.6, Most: 9.02,
			Requests: 8900, Calls: 73959, Share: 0.88, Likelihood: 9120, Decisive: 0.74},
		{Host: "web1", QueryID: stockID, Method: "GET", Route: "/posts/:id <b>\x1b[31m", Class: kasoku.CallerPossible,
			Source: kasoku.FromOverlap, PerRequest: 0.06, Least: 0.02, Most: 0.1,
			Requests: 8900, Calls: 534, Share: 0.06, Likelihood: 14, Decisive: 0.1},
		{Host: "web1", QueryID: postsID, Method: "GET", Route: "/posts", With: []string{"GET /favicon.ico"},
			Class: kasoku.CallerGroup, Source: kasoku.FromOverlap,
			PerRequest: 1, Least: 0.97, Most: 1.03, Requests: 4200, Calls: 4200, Share: 0.99, Likelihood: 4010,
			Decisive: 0.9, Note: "these endpoints are always called together"},
		{Host: "web1", QueryID: "FFFF0000AAAA", Method: "GET", Route: "/gone", Class: kasoku.CallerConfirmed,
			Source: kasoku.FromComments, Calls: 3, Share: 1, Decisive: 1,
			Note: "the access log has no such endpoint"},
	}
}

// shopJoin describes how well that is known.
func shopJoin() []kasoku.Join {
	return []kasoku.Join{{
		Host: "web1", Source: "slow log, looked at every 5 ms", Resolution: 5800 * time.Microsecond,
		Interval: kasoku.Interval{From: 12 * time.Second, To: 42 * time.Second},
		Requests: 7411, Statements: 88120, Questions: 190231, Background: 412, Connections: 10, Busy: 3.7,
		Checks: []kasoku.JoinCheck{
			{Name: "logged statements", Holds: true,
				Text: "190,001 of 190,231 statements are in the slow log (99.9 %), at least 98 % are needed"},
			{Name: "requests given up",
				Text: "41 of 14,580 requests have status 499 (0.28 %), at most 0.1 % may; their statements run on " +
					"afterwards, unless nginx has proxy_ignore_client_abort on"},
		},
		Loops: []kasoku.QueryLoop{{QueryIDs: []string{stockID, orderID}, Runs: 31, Calls: 620, Longest: 40},
			{QueryIDs: []string{authorID}, Runs: 4011, Calls: 80220, Longest: 20}},
		CPU: 410 * time.Millisecond,
	}}
}
