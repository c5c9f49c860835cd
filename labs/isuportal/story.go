package isuportal

import (
	"slices"

	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/writeup"
)

// The endpoints whose mean latency the story follows, as nginx writes them.
const (
	AudienceEndpoint      = "GET /api/audience/dashboard"
	NotificationsEndpoint = "GET /api/contestant/notifications"
)

// story is the write-up. Its score has the contest's points, over a shorter time and with the users of our
// own benchmark, so that only ratios can be compared. Steps by which a server moved to another host are left
// out; where one lies between two published scores, the gain of the step alone is held against.
func story() *writeup.Story {
	none := writeup.Missing
	return &writeup.Story{
		Lab:   "isuportal",
		About: "nothing is busy and it does not get faster: which answer may be old, and which constant caps?",
		Figures: []writeup.Figure{
			{Key: "score", Name: "score"},
			{Key: "dashboard_mean_ms", Name: "audience's dashboard, mean", Unit: "ms", Less: true},
			{Key: "notifications_mean_ms", Name: "notifications, mean", Unit: "ms", Less: true},
		},
		Steps: []writeup.Step{
			{Name: "initial", Did: "the service as it was shipped, ten teams", Author: []float64{none, 156.9, 192}},
			{Name: "indexes", Saw: "the audience's dashboard leads the access log: 11,606 requests, 1,821 s",
				Did:     "indexes on contestants and benchmark_jobs (control)",
				Against: []string{"initial"}, Expect: writeup.Same},
			{Name: "cached", Saw: "the manual allows the audience's dashboard to be a second old, nothing else",
				Did:     "Varnish in front of it, for a second; a ban in /initialize",
				Against: []string{"initial"}, Author: []float64{none, 9.6},
				Differs: "what the ranking costs is how many jobs and viewers there are, and the contest had more"},
			{Name: "shorter", Saw: "errors under load: a second, and the time that the answer takes",
				Did: "0.7 s", Against: []string{"cached"}},
			{Name: "dequeue", Saw: "a job is taken by SELECT … FOR UPDATE and UPDATE",
				Did:     "one UPDATE that looks whether the job still waits (just in case)",
				Against: []string{"shorter"}, Expect: writeup.Same},
			{Name: "gzip", Saw: "CPU and memory idle, and the load does not grow",
				Did:     "gzip of dashboards (control, taken back)",
				Against: []string{"dequeue"}, Expect: writeup.Same},
			{Name: "capacity-60", Saw: "TeamCapacity = 10; “too many open files” with more",
				Did: "60 teams, 30 connections, no request log, values sent in the text, no LOCK TABLES",
				// 25,455 was published of it, and nothing of the step before.
				Against: []string{"gzip"}, Author: []float64{25_455, none, 133.9}, Expect: writeup.Better},
			{Name: "push", Saw: "notifications lead: 19,604 requests, 2,625 s, nearly all of them empty",
				Did:     "Web Push; what is polled for is a constant empty list",
				Against: []string{"capacity-60"}, Author: []float64{32_173, none, 79.7}, Gain: 32_173.0 / 30_244,
				Differs: "the benchmark decrypts each push on the same cores, which sixty teams keep busy; there it had " +
					"a host of its own"},
			{Name: "capacity-120", Saw: "with more teams the score still rises",
				Did:     "120 teams: one run of three passed there",
				Against: []string{"push"}, Author: []float64{44_269},
				Differs: "how many teams the machine bears is how many cores it has: beyond that answers come late, " +
					"or fail"},
		},
	}
}

// steps are the states of the story after the first.
func steps(initial kit.Set) (out []kit.Variant) {
	d := initial
	for _, s := range []struct {
		name, about   string
		mends, brings kit.Set
		pool, teams   int
	}{
		{"indexes", "initial, and two indexes that bring nothing", nil, kit.Set{"IDX-10"}, 0, 0},
		{"cached", "the ranking in Varnish for a second", kit.Set{"CCH-01", "CCH-02"}, kit.Set{"CCH-04S"}, 0, 0},
		{"shorter", "for 0.7 s", kit.Set{"CCH-04S"}, nil, 0, 0},
		{"dequeue", "a job is taken by one UPDATE", kit.Set{"LCK-03"}, nil, 0, 0},
		{"gzip", "nginx packs what it sends", nil, kit.Set{"NGX-09"}, 0, 0},
		{"capacity-60", "60 teams, 30 connections, no request log",
			kit.Set{"NGX-09", "APP-05", "APP-01", "DRV-01", "LCK-04"}, nil,
			30, authorTeams},
		{"push", "notifications are pushed", kit.Set{"APP-06"}, nil, 30, authorTeams},
		{"capacity-120", "120 teams", nil, nil, 30, 120},
	} {
		d = append(slices.DeleteFunc(slices.Clone(d), s.mends.Has), s.brings...)
		out = append(out, kit.Variant{Name: s.name, About: s.about, Defects: d, Pool: s.pool, Capacity: s.teams})
	}
	return out
}
