package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
)

// TestPolling: rows decide, and sizes; what looks alike is no poll.
func TestPolling(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(rec *kasoku.Recording)
		quiet  string // empty: it speaks
	}{
		{"polled", func(*kasoku.Recording) {}, ""},
		{"by digests, without who writes", func(rec *kasoku.Recording) { rec.Queries = rec.Queries[:1] }, ""},
		{"every second has news", func(rec *kasoku.Recording) { rec.Queries[0].RowsSent = 450 },
			"55.0 % of these calls"},
		{"nothing ever came", func(rec *kasoku.Recording) { rec.Queries[0].RowsSent = 0 }, "none ever came"},
		{"one size whatever it finds", func(rec *kasoku.Recording) { rec.Endpoints[0].MaxBytes = 50 }, "one size"},
		{"no bodies", func(rec *kasoku.Recording) { rec.Endpoints[0].MinBytes = 0 }, "one size"},
		{"pages of all sizes", func(rec *kasoku.Recording) { rec.Endpoints[0].Bytes = 900_000 }, "900 B on average"},
		{"now and then", func(rec *kasoku.Recording) {
			rec.Endpoints[0].Seconds = map[int]kasoku.EndpointSecond{0: {Count: 500}, 9: {Count: 500}}
		}, "20.0 % of its seconds"},
		{"many endpoints check it", func(rec *kasoku.Recording) { rec.Callers[0].Share = 0.5 }, "no endpoint runs"},
		{"some requests check it", func(rec *kasoku.Recording) { rec.Callers[0].PerRequest = 0.5 }, "no endpoint runs"},
		{"a search with two bounds", func(rec *kasoku.Recording) {
			rec.Queries[0].Sample = "SELECT id FROM notes WHERE price >= ? AND price < ?"
		}, "no endpoint runs"},
		{"a form that is sent", func(rec *kasoku.Recording) {
			rec.Endpoints[0].Method, rec.Callers[0].Method = "POST",
				"POST"
		},
			"no endpoint runs"},
		{"who asks is not known", func(rec *kasoku.Recording) { rec.Callers = nil }, "no endpoint runs"},
	} {
		notes := passed("GET", "/notes", 1000, 5*time.Millisecond)
		notes.Bytes, notes.MinBytes, notes.MaxBytes, notes.Last = 55_000, 50, 400, 9900*time.Millisecond
		rec := shop("", notes, passed("GET", "/other", 100, 5*time.Millisecond))
		ask := kasoku.Query{ID: "A1", Verb: "SELECT", Tables: []string{"notes"}, Calls: 1000, RowsSent: 50,
			Sample:      "SELECT id, text FROM notes WHERE owner = ? AND id > ? ORDER BY id",
			Fingerprint: "select id, text from notes where owner = ? and id > ? order by id", Total: 2 * time.Second}
		read := kasoku.Query{ID: "A2", Verb: "UPDATE", Tables: []string{"notes"}, Calls: 1000, HasAffected: true,
			NoneAffected: 960,
			Sample:       "UPDATE notes SET seen = 1 WHERE owner = ? AND seen = 0",
			Fingerprint:  "update notes set seen = ? where owner = ? and seen = ?", Total: time.Second}
		rec.Queries = []kasoku.Query{ask, read}
		for _, id := range []string{"A1", "A2"} {
			rec.Callers = append(rec.Callers, kasoku.Caller{QueryID: id, Method: "GET", Route: "/notes", PerRequest: 1,
				Least: 1,
				Most:  1, Requests: 1000, Calls: 1000, Share: 1, Class: kasoku.CallerHigh, Source: kasoku.FromOverlap})
		}
		x.change(rec)
		found, silent := (application.Polling{}).Check(diagnose.NewCase(rec, nil))
		switch {
		case x.quiet == "" && len(found) != 1:
			t.Errorf("%s: %+v", x.name, silent)
		case x.quiet == "":
			f := found[0]
			if f.Object.Name != "GET /notes" || f.Confidence.Level == kasoku.High || f.Severity != kasoku.Problem ||
				len(f.Evidence) != 3+len(rec.Queries) {
				t.Errorf("%s: %+v", x.name, f)
			}
		case len(found) > 0 || !strings.Contains(silent[0].Reason, x.quiet):
			t.Errorf("%s: %+v %+v", x.name, found, silent)
		}
	}
	found, silent := (application.Polling{}).Check(diagnose.NewCase(&kasoku.Recording{}, nil))
	if len(found) > 0 || !silent[0].Blind {
		t.Errorf("without anything: %+v %+v", found, silent)
	}
}
