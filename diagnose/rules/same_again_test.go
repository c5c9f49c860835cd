package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/query"
)

// TestSameAgain: a page that asks for one row again and again is known to keep it, and not to gather keys; what is
// neither a loop over keys nor sure to be answered the same is no finding.
func TestSameAgain(t *testing.T) {
	const ask = "SELECT summary, status FROM ticket WHERE id = ?"
	// 20 requests were traced, each of which ran six.
	f := func(name, want string, known, different uint64, change func(*kasoku.Recording)) {
		t.Helper()
		q := class("T", ask, 6000, 1, 40*time.Second)
		q.Distinct, q.Repeated = 3000, 10 // of other pages, too
		x := runBy("T", 6, kasoku.CallerConfirmed)
		x.Source = kasoku.FromTrace
		c := queryRun("GET /ticket/:id", []kasoku.Query{q}, x)
		c.Traces = []kasoku.Trace{{Calls: []kasoku.TracedCall{{Method: "GET", Route: "/ticket/:id", QueryID: "T",
			Requests: 20, With: 20, Calls: 120, Least: 6, Most: 6, Known: known, Different: different}}}}
		if change != nil {
			change(c.Recording)
		}
		found, silent := query.EachRow{}.Check(diagnose.NewCase(c.Recording, nil))
		if (len(found) > 0) != (want != "") || len(found) > 1 {
			t.Errorf("%s: %d findings: %+v %+v", name, len(found), found, silent)
			return
		}
		if want == "" {
			return
		}
		said := found[0].Title + "\n" + found[0].Evidence[0].Note + "\n" + found[0].Expect
		for _, x := range found[0].Fixes {
			said += "\n" + x.Text + "\n" + x.Code
		}
		for _, part := range strings.Split(want, "|") {
			no, not := strings.CutPrefix(part, "!")
			if strings.Contains(said, no) == not {
				t.Errorf("%s: want %q in\n%s", name, part, said)
			}
		}
	}
	f("one ticket six times", "asks the same again: 6 a request|120 statements in 20 requests asked for 20 different things|"+
		"5 statements a request fewer|Ask ticket once, and keep the answer|!IN (|!Gather", 120, 20, nil)
	f("six tickets", "one SELECT per|Gather|IN (?, ?, ?)|!keep the answer", 120, 120, func(r *kasoku.Recording) {
		r.Traces[0].Calls[0].Most, r.Callers[0].Most = 7, 7 // not written one by one
	})
	f("three tickets, each twice", "asks the same again|3 statements a request fewer", 120, 60, nil)
	f("four tickets, one of them three times", "", 120, 80, nil)
	f("values were not seen", "one SELECT per", 0, 0, func(r *kasoku.Recording) { r.Callers[0].Most = 7 })
	f("values of half were seen", "one SELECT per", 60, 10, func(r *kasoku.Recording) { r.Callers[0].Most = 7 })
	for _, text := range []string{"SELECT summary FROM ticket WHERE id = ? FOR UPDATE", "SELECT summary FROM ticket WHERE id = LAST_INSERT_ID()",
		"SELECT summary FROM ticket WHERE id = @id", "SELECT summary FROM ticket WHERE id = ? LOCK IN SHARE MODE"} {
		f(text, "", 120, 20, func(r *kasoku.Recording) { r.Queries[0].Sample, r.Queries[0].Fingerprint = text, strings.ToLower(text) })
	}
	f("asked until there is one", "", 120, 20, func(r *kasoku.Recording) { r.Queries[0].RowsSent = 1000 })
	writes := func(route string) func(*kasoku.Recording) {
		return func(r *kasoku.Recording) {
			r.Queries = append(r.Queries, class("W", "UPDATE ticket SET status = ? WHERE id = ?", 1000, 0, time.Second))
			r.Callers = append(r.Callers, kasoku.Caller{QueryID: "W", Method: "GET", Route: route, PerRequest: 1, Calls: 1000,
				Class: kasoku.CallerConfirmed, Source: kasoku.FromTrace, Requests: 20, Share: 1})
		}
	}
	f("the request writes to it", "", 120, 20, writes("/ticket/:id"))
	f("another one does", "asks the same again", 120, 20, writes("/other"))
	f("a loop over keys beside it", "one SELECT per|people WHERE id IN|Ask ticket once, and keep the answer", 120, 20, func(r *kasoku.Recording) {
		r.Queries = append(r.Queries, class("P", "SELECT name FROM people WHERE id = ?", 12000, 1, 40*time.Second))
		x := r.Callers[0]
		x.QueryID, x.PerRequest, x.Calls, x.Most = "P", 12, 12000, 20
		r.Callers = append(r.Callers, x)
	})
}

// TestSameAgain_Rows: rows on a connection show it, too, where nothing was traced.
func TestSameAgain_Rows(t *testing.T) {
	for different, want := range map[uint64]string{300: "asks the same again: 6 a request", 1800: "runs one SELECT per row", 1200: ""} {
		q := class("T", "SELECT summary, status FROM ticket WHERE id = ?", 6000, 1, 40*time.Second)
		q.Streak, q.Streaks, q.Distinct = 12, 6000, 3000
		x := runBy("T", 6, kasoku.CallerHigh)
		x.Source, x.Loop = kasoku.FromOverlap, true
		c := queryRun("GET /ticket/:id", []kasoku.Query{q}, x)
		c.Joins = []kasoku.Join{{Loops: []kasoku.QueryLoop{{QueryIDs: []string{"T"}, Runs: 300, Calls: 1800, Longest: 12,
			Known: []uint64{1800}, Different: []uint64{different}}}}}
		found, silent := query.EachRow{}.Check(diagnose.NewCase(c.Recording, nil))
		if len(found) > 1 || len(found) == 0 != (want == "") || want != "" && !strings.Contains(found[0].Title, want) {
			t.Errorf("%d different: want %q: %+v %+v", different, want, found, silent)
		}
	}
}
