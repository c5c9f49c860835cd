package isuportal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/isuportal/bench"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

type (
	fault    = contesttest.Fault
	exchange = contesttest.Exchange
)

// polled are faults of a service whose notifications are polled for, pushed those of one that pushes them.
func polled() []fault { return slices.Concat(boardFaults(), pollFaults()) }
func pushed() []fault {
	return slices.Concat(teamFaults(), jobFaults(), questionFaults(), pushFaults())
}

// TestFaults: there are many, and no two of a name.
func TestFaults(t *testing.T) { contesttest.CheckNames(t, slices.Concat(polled(), pushed())) }

// TestScore_Faults: the benchmark finds each fault, and names it.
func TestScore_Faults(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server, and runs the benchmark many times")
	}
	const atOnce = 5 // of each kind: a benchmark waits for most of its time
	o := sandboxtest.Unsafe()
	o.Vars["max_connections"] = "500"
	server := sandboxtest.MariaDB(t, o)
	db := sandboxtest.DB(t, server, "")
	var runs sync.WaitGroup
	for kind, d := range map[string]kit.Set{"polled": {"APP-06"}, "pushed": {}} {
		faults := polled()
		if kind == "pushed" {
			faults = pushed()
		}
		slices.SortStableFunc(faults, func(a, b fault) int { return cmp.Compare(b.Lasts, a.Lasts) })
		waiting := make(chan fault, len(faults))
		for _, f := range faults {
			if turn.Takes(f.Name) {
				waiting <- f
			}
		}
		close(waiting)
		for i := range atOnce {
			name := fmt.Sprintf("%s%d", kind, i)
			sandboxtest.Exec(t, db, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
			slot := &contesttest.Slot{Service: newService(t, server.DSN("root", name), d, 12, 8)}
			runs.Go(func() {
				for f := range waiting {
					slot.Find(t, bench.Run, &f, 3*time.Second, 28*time.Second)
				}
			})
		}
	}
	runs.Wait()
}

// How long the load of a fault is that the shortest does not meet: until a team has a second result, or a
// viewer some answers; and until a team ought to have been notified.
const (
	longer  = 7 * time.Second
	longest = 15 * time.Second
)

const (
	audienceAt = "/api/audience/dashboard"
	ownAt      = "/api/contestant/dashboard"
	jobsAt     = "/api/contestant/benchmark_jobs"
	noteAt     = "/api/contestant/notifications"
	questionAt = "/api/contestant/clarifications"
	pushAt     = "/api/contestant/push_subscriptions"
	teamAt     = "/api/registration/team"
)

// later does something to some requests of the load, and to none of the rehearsal before it.
func later(do func(x *exchange)) func(x *exchange) {
	return func(x *exchange) {
		if x.N > 3 && x.N < 9 {
			do(x)
		}
	}
}

// teams changes the teams of a ranking.
func teams(change func(l []any) []any) func(x *exchange) {
	return func(x *exchange) {
		b, _ := x.Object()["leaderboard"].(map[string]any)
		if l, _ := b["teams"].([]any); len(l) > 1 {
			b["teams"] = change(l)
			x.Set(x.V)
		}
	}
}

// scored changes the first team that has so many results.
func scored(least int, change func(team map[string]any, scores []any)) func(x *exchange) {
	return teams(func(l []any) []any {
		for _, v := range l {
			team := v.(map[string]any)
			if scores, _ := team["scores"].([]any); len(scores) >= least {
				change(team, scores)
				break
			}
		}
		return l
	})
}

// kept answers as it did before, for so long.
func kept(d time.Duration) func(x *exchange) {
	return func(x *exchange) {
		x.Keep.Lock()
		defer x.Keep.Unlock()
		if time.Since(x.Keep.At) > d {
			if x.Do(); x.Status == http.StatusOK {
				x.Keep.At, x.Keep.Body = time.Now(), slices.Clone(x.Body)
			}
			return
		}
		x.Status, x.Body = http.StatusOK, x.Keep.Body
	}
}

// atTimes changes the times that /initialize sets.
func atTimes(change func(at map[string]any)) func(x *exchange) {
	return func(x *exchange) {
		var asked map[string]any
		if json.Unmarshal(x.Sent, &asked) == nil {
			change(asked["contest"].(map[string]any))
			x.Resend(asked)
		}
	}
}

// boardFaults are those of rankings.
func boardFaults() []fault {
	var out []fault
	for _, at := range []string{audienceAt, ownAt} {
		get := func(name, want string, after func(x *exchange)) {
			out = append(out, fault{Name: at + ": " + name, Want: want, Method: "GET", At: at, After: after})
		}
		says := "GET " + at + ": "
		const wrong, stale = "(wrong answer|critical) ", "(stale|critical) " // what is found at the end is critical
		get("a team is missing", stale+says+"a team that registered before",
			teams(func(l []any) []any { return l[1:] }))
		get("a team comes twice", wrong+says+"team \\d+ is none, or is there twice",
			teams(func(l []any) []any { return append(l, l[0]) }))
		get("a team has another name", wrong+says+"a team has another name",
			teams(func(l []any) []any { l[0].(map[string]any)["name"] = "Team 0"; return l }))
		get("all are students", wrong+says+"a team of students", teams(func(l []any) []any {
			for _, v := range l {
				v.(map[string]any)["student"] = true
			}
			return l
		}))
		get("the last is first", wrong+says+"the ranking is out of order", teams(func(l []any) []any {
			slices.Reverse(l)
			return l
		}))
		get("a result is lost", stale+says+"\\d+ results of a team, \\d+ were confirmed", scored(1,
			func(o map[string]any, s []any) {
				o["scores"], o["finish_count"] = s[1:], len(s)-1
			}))
		get("a result that there was not", wrong+says+"\\d+ results of a team and a count", scored(1,
			func(o map[string]any, s []any) { o["scores"], o["finish_count"] = append(s, s[0]), len(s)+1 }))
		get("a count of one more", wrong+says+"\\d+ results of a team and a count", scored(1,
			func(o map[string]any, s []any) { o["finish_count"] = len(s) + 1 }))
		get("a point more", wrong+says+"a result that was not reported", scored(1, func(_ map[string]any, s []any) {
			one := s[0].(map[string]any)
			one["score"] = one["score"].(float64) + 1
		}))
		get("the best is the latest", wrong+says+"the latest or the best", scored(2, func(o map[string]any, s []any) {
			o["best"] = map[string]any{"score": 1, "marked_at": 1}
		}))
		out[len(out)-1].Lasts = longer
		get("the latest is the first", wrong+says+"the latest or the best", scored(2, func(o map[string]any, s []any) {
			o["latest"] = s[0]
		}))
		out[len(out)-1].Lasts = longer
		out = append(out,
			fault{Name: at + ": kept for three seconds", Want: stale + says, Method: "GET", At: at,
				Lasts:  map[string]time.Duration{ownAt: longer}[at], // the rehearsal looks at the audience's
				Before: kept(3 * time.Second)},
			fault{Name: at + ": an error", Want: "application " + says + "status 500", Method: "GET", At: at, Lasts: longer,
				Before: later(contesttest.Answered(500, "no"))},
			fault{Name: at + ": no JSON", Want: wrong + says + "not the JSON", Method: "GET", At: at, Lasts: longer,
				Before: later(contesttest.Answered(200, "<html>"))},
			fault{Name: at + ": slow", Want: says + "no answer within", Method: "GET", At: at, Lasts: longer,
				Before: later(func(*exchange) { time.Sleep(2500 * time.Millisecond) })})
	}
	return append(out,
		fault{Name: "kept for a second and a half", Want: "stale GET " + ownAt, Method: "GET", At: ownAt,
			Before: kept(1500 * time.Millisecond)},
		fault{Name: "nothing is frozen", Want: "wrong answer GET .*dashboard: a result of after the freeze",
			Method: "POST", At: "/initialize",
			Before: atTimes(func(at map[string]any) { at["contest_freezes_at"] = at["contest_ends_at"] })},
		fault{Name: "frozen from the start", Want: "(stale|critical) GET .*dashboard: 0 results", Method: "POST",
			At:     "/initialize",
			Before: atTimes(func(at map[string]any) { at["contest_freezes_at"] = at["contest_starts_at"] })},
		fault{Name: "nothing is cleared", Want: "critical .*GET /api/audience/dashboard: team \\d+ is none",
			Method: "POST", At: "/initialize",
			Before: func(x *exchange) {
				if x.N == 2 {
					x.Status, x.Body = 200, []byte(`{"language": "go"}`)
				}
			}},
	)
}

// teamFaults are those of registration.
func teamFaults() []fault {
	return []fault{
		{Name: "no team may register", Want: "critical .*no team could register", Method: "POST", At: teamAt,
			Before: contesttest.Answered(403, "full")},
		{Name: "initialize fails", Want: "critical .*POST /initialize: status 500", Method: "POST",
			At: "/initialize", Before: contesttest.Answered(500, "no")},
		{Name: "a member is not added", Want: "GET /api/session: somebody else, or another team", Method: "POST",
			At: "/api/registration/contestant", Before: contesttest.Answered(200, "{}")},
		{Name: "a session of someone else", Want: "GET /api/session: somebody else, or another team", Method: "GET",
			At:    "/api/session",
			After: contesttest.Field(func(o map[string]any) { o["contestant_id"] = "c0-0" })},
		{Name: "there is no page", Want: "application GET /: status 404", Method: "GET", At: "/", Most: 0,
			Before: func(x *exchange) {
				if x.Request.URL.Path == "/" {
					x.Status, x.Body = 404, nil
				}
			}},
	}
}

// jobFaults are those of jobs.
func jobFaults() []fault {
	const says = "GET /api/contestant/benchmark_jobs"
	once := func(x *exchange) bool { return strings.HasSuffix(x.Request.URL.Path, jobsAt) }
	return []fault{
		{Name: "a job is lost", Want: "(stale|critical) " + says + ": a job that was asked for", Method: "POST",
			At:     jobsAt,
			Before: contesttest.Answered(200, `{"id": 999999, "status": 0, "target_hostname": "x", "score": null, "created_at": 1, "finished_at": null}`)},
		{Name: "no jobs are listed", Want: "(stale|critical) " + says + ": a job that was asked for", Method: "GET",
			At: jobsAt,
			Before: func(x *exchange) {
				if once(x) {
					x.Status, x.Body = 200, []byte("[]")
				}
			}},
		{Name: "another team's job is listed", Lasts: longer, Want: "wrong answer " + says + ": another team's job",
			Method: "GET", At: jobsAt,
			After: contesttest.Edit(func(l []any) []any { l[0].(map[string]any)["target_hostname"] = "x"; return l })},
		{Name: "jobs are out of order", Lasts: longer, Want: "wrong answer " + says + ": another team's job, or out of order",
			Method: "GET", At: jobsAt,
			After: contesttest.Edit(func(l []any) []any { slices.Reverse(l); return l })},
		{Name: "a job is given out twice", Lasts: longer,
			Want: "twice POST ReceiveBenchmarkJob: a job that was given out before", Method: "POST", At: receiveAt,
			After: func(x *exchange) {
				x.Keep.Lock()
				defer x.Keep.Unlock()
				if id, _ := x.Object()["job_id"].(float64); id > 0 && x.Keep.Body == nil {
					x.Keep.Body = slices.Clone(x.Body)
				} else if x.Keep.Body != nil && x.N > 10 {
					x.Body = x.Keep.Body
				}
			}},
		{Name: "a job of no team", Want: "(twice|critical) POST ReceiveBenchmarkJob: .* or that no team asked for",
			Method: "POST", At: receiveAt,
			After: contesttest.Field(func(o map[string]any) { o["target_hostname"] = "x" })},
		{Name: "a report is lost", Want: "(stale|wrong answer) GET ", Method: "POST", At: reportAt,
			Before: func(x *exchange) {
				if strings.Contains(string(x.Sent), `"finished":true`) && x.N > 4 {
					x.Status, x.Body = 200, []byte("{}")
				}
			}},
		{Name: "a report is doubled", Want: "a result that was not reported|no result, or another", Method: "POST",
			At: reportAt,
			Before: func(x *exchange) {
				var said map[string]any
				if json.Unmarshal(x.Sent, &said) == nil && said["finished"] == true && x.N > 4 {
					said["score_raw"] = said["score_raw"].(float64) * 2
					x.Resend(said)
				}
			}},
		{Name: "a finished job runs on", Want: says + "/:id: a finished job has no result", Method: "GET",
			At:    jobsAt + "/",
			After: contesttest.Field(func(o map[string]any) { o["status"] = 2 })},
		{Name: "a finished job has another result", Want: says + "/:id: a finished job has no result, or another",
			Method: "GET",
			At:     jobsAt + "/", After: contesttest.Field(func(o map[string]any) { o["score"] = 7 })},
	}
}

// questionFaults are those of clarifications.
func questionFaults() []fault {
	get := func(name, want string, change func(o map[string]any)) fault {
		return fault{Name: name, Want: "GET /api/contestant/clarifications: " + want, Method: "GET", At: questionAt,
			After: func(x *exchange) {
				if l, _ := x.V.([]any); len(l) > 0 {
					change(l[0].(map[string]any))
					x.Set(l)
				}
			}}
	}
	answered := func(name, want string, change func(o map[string]any)) fault {
		f := get(name, want, change)
		f.Lasts = longer
		return f
	}
	return []fault{
		get("a question of another team", "a question that its team did not ask",
			func(o map[string]any) { o["team"] = "Team 0" }),
		get("another question", "a question that its team did not ask", func(o map[string]any) { o["question"] = "?" }),
		get("a member is missing", "other members, or another answer",
			func(o map[string]any) { o["members"] = o["members"].([]any)[1:] }),
		get("another leader", "other members, or another answer", func(o map[string]any) { o["leader"] = "x" }),
		answered("another answer", "other members, or another answer", func(o map[string]any) { o["answer"] = "No" }),
		answered("an answer is not shown", "(an answer that was given before|other members)", func(o map[string]any) {
			o["answered"], o["answer"] = false, ""
		}),
	}
}

// pollFaults are those of notifications that are polled for.
func pollFaults() []fault {
	notes := func(change func(l []any) []any) func(x *exchange) {
		return contesttest.Field(func(o map[string]any) {
			if l, _ := o["notifications"].([]any); len(l) > 0 {
				o["notifications"] = change(l)
			}
		})
	}
	return []fault{
		{Name: "a notification comes twice",
			Want: "twice GET /api/contestant/notifications: a notification that was there", Method: "GET",
			At: noteAt, After: notes(func(l []any) []any { return append(l, l[0]) })},
		{Name: "notifications come again",
			Want: "twice GET /api/contestant/notifications: a notification that was there", Method: "GET",
			At: noteAt, Before: func(x *exchange) { x.Request.URL.RawQuery = "after=0" }},
		{Name: "notifications are lost", Lasts: longest,
			Want: "lost a job is finished, and its team was not notified", Method: "GET", At: noteAt,
			After: notes(func([]any) []any { return []any{} })},
	}
}

// pushFaults are those of notifications that are pushed.
func pushFaults() []fault {
	subscribed := func(change func(o map[string]any)) func(x *exchange) {
		return func(x *exchange) {
			var o map[string]any
			if json.Unmarshal(x.Sent, &o) == nil {
				change(o)
				x.Resend(o)
			}
		}
	}
	return []fault{
		{Name: "nothing is pushed", Lasts: longest,
			Want: "lost a job is finished, and its team was not notified", Method: "POST", At: pushAt,
			Before: contesttest.Answered(200, "{}")},
		{Name: "encrypted for another browser", Lasts: longer, Want: "unsafe a push is not encrypted for its browser",
			Method: "POST", At: pushAt,
			Before: subscribed(func(o map[string]any) { o["auth"] = "AAAAAAAAAAAAAAAAAAAAAA" })},
		{Name: "pushed twice", Lasts: longer, Want: "unsafe a notification was pushed twice", Method: "POST", At: pushAt,
			Before: func(x *exchange) {
				x.Do()
				subscribed(func(o map[string]any) { o["endpoint"] = o["endpoint"].(string) + "?again" })(x)
				x.Do()
			}},
		{Name: "signed with another key", Want: "unsafe a push is not signed with the key", Method: "GET",
			At:    "/api/session",
			After: contesttest.Field(func(o map[string]any) { o["push_key"] = "B" + strings.Repeat("A", 86) })},
	}
}
