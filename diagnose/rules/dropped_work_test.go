package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
)

// TestDroppedWork: a recorded run in which six of ten events are dropped, and what looks like it: answers of
// caches, of checks of health, of validation and of nginx, lines that give a reason or that are not the
// endpoint's, statements of others, a share that follows the load.
func TestDroppedWork(t *testing.T) {
	events := func(rec *kasoku.Recording) *kasoku.Endpoint {
		isEvents := func(e kasoku.Endpoint) bool { return e.Route == "/v1/events" }
		i := slices.IndexFunc(rec.Endpoints, isEvents)
		return &rec.Endpoints[i]
	}
	said := func(rec *kasoku.Recording) *kasoku.Message {
		isDropping := func(m kasoku.Message) bool { return strings.Contains(m.Pattern, "dropping") }
		i := slices.IndexFunc(rec.Messages, isDropping)
		return &rec.Messages[i]
	}
	says := func(line string) func(rec *kasoku.Recording) {
		return func(rec *kasoku.Recording) { said(rec).Pattern, said(rec).Sample = line, line }
	}
	statement := func(rec *kasoku.Recording) *kasoku.Query {
		i := slices.IndexFunc(rec.Queries, func(q kasoku.Query) bool { return q.Verb == "UPDATE" })
		return &rec.Queries[i]
	}
	const none = "silent: the application's log says \"dropping event\" "
	const reason = "silent: no line of the application's log says without a reason"
	for _, x := range []struct {
		name   string
		change func(rec *kasoku.Recording)
		want   string // in the cause, or the reason of a silence after "silent: "
	}{
		{"as recorded", func(*kasoku.Recording) {}, "requests of POST /v1/events with 202 and one size, and drops what"},
		{"as the contest's program says it", says("drop post isu condition request"), "and drops what"},
		{"some errors", func(rec *kasoku.Recording) {
			e := events(rec)
			e.Codes[202], e.Codes[502], e.Bytes, e.MaxBytes = e.Codes[202]-4, 4, 4*150, 150
		}, "and drops what"},
		{"a cache's hits", func(rec *kasoku.Recording) { events(rec).Method = "GET" }, none},
		{"a cache's 304", func(rec *kasoku.Recording) {
			e := events(rec)
			e.Codes = map[int]uint64{202: e.Count / 2, 304: e.Count - e.Count/2}
		}, "differ by status or size"},
		{"a check of health", func(rec *kasoku.Recording) {
			events(rec).Method, events(rec).Route = "HEAD", "/health"
		}, none},
		{"validation", func(rec *kasoku.Recording) {
			e := events(rec)
			e.Codes = map[int]uint64{202: e.Count - said(rec).Count, 422: said(rec).Count}
		}, "differ by status or size"},
		{"all are refused", func(rec *kasoku.Recording) {
			e := events(rec)
			e.Codes = map[int]uint64{400: e.Count}
		}, "differ by status or size"},
		{"answers of two sizes", func(rec *kasoku.Recording) {
			e := events(rec)
			e.Bytes, e.MaxBytes = 20*said(rec).Count, 20
		}, "differ by status or size"},
		{"sent by nginx", func(rec *kasoku.Recording) {
			events(rec).UpstreamCount = events(rec).Count - said(rec).Count
		}, none},
		{"a duplicate", says("dropping duplicate event"), reason},
		{"a full queue", says("queue full, dropping event"), reason},
		{"what is too old", says("dropped event: too old"), reason},
		{"a lost connection", says("dropped connection of a client"), reason},
		{"a table", says("dropping table events"), reason},
		{"an error", func(rec *kasoku.Recording) { said(rec).Level = "error" }, reason},
		{"no such line", says("event is there"), reason},
		{"a long story", says("a worker has to drop its part and begins anew with what is next"), reason},
		{"fewer lines than requests without work", func(rec *kasoku.Recording) { said(rec).Count -= 20 }, none},
		{"the statement runs for all", func(rec *kasoku.Recording) { statement(rec).Calls = events(rec).Count }, none},
		{"the statement is another's, too", func(rec *kasoku.Recording) {
			for i := range rec.Callers {
				rec.Callers[i].Share = 0.7
			}
		}, none},
		{"who runs the statement is a guess", func(rec *kasoku.Recording) {
			for i := range rec.Callers {
				rec.Callers[i].Class = kasoku.CallerPossible
			}
		}, none},
		{"a trace saw it in all requests", func(rec *kasoku.Recording) {
			for i := range rec.Callers {
				rec.Callers[i].PerRequest = 1
			}
		}, none},
		{"in the second half alone", func(rec *kasoku.Recording) {
			m := said(rec)
			for s, n := range m.Seconds {
				if s <= 3 {
					m.Seconds[s], m.Seconds[s+3] = 0, m.Seconds[s+3]+n
				}
			}
		}, "as the time goes by"},
		{"when is not known", func(rec *kasoku.Recording) { said(rec).Seconds = nil }, "as the time goes by"},
		{"two endpoints", func(rec *kasoku.Recording) {
			e, x, q := *events(rec), rec.Callers[slices.IndexFunc(rec.Callers, func(x kasoku.Caller) bool {
				return x.QueryID == statement(rec).ID
			})], *statement(rec)
			e.Route, x.Route, x.QueryID, q.ID = "/v1/other", "/v1/other", "X", "X"
			rec.Endpoints, rec.Callers, rec.Queries = append(rec.Endpoints, e), append(rec.Callers, x), append(rec.Queries, q)
		}, "requests of POST /v1/events and of POST /v1/other would explain them"},
		{"no log of the application", func(rec *kasoku.Recording) {
			rec.Messages = nil
			rec.Logs = slices.DeleteFunc(rec.Logs, func(w kasoku.LogWindow) bool { return w.Kind == "applog" })
		}, "silent: no application log"},
		{"no access log", func(rec *kasoku.Recording) { rec.Endpoints = nil }, "silent: the access log"},
		{"no statements", func(rec *kasoku.Recording) { rec.Queries = nil }, "silent: the slow log"},
	} {
		for _, server := range []string{"mariadb", "mysql"} {
			rec := recordedCase(t, "testdata/APP-04/fires/"+server+"-events-drop.txtar")
			x.change(rec)
			found, silent := (application.DroppedWork{}).Check(diagnose.NewCase(rec, nil))
			got := ""
			for _, f := range found {
				got += f.Cause
			}
			for _, s := range silent {
				got += "silent: " + s.Reason
			}
			if !strings.Contains(got, x.want) || strings.Contains(x.want, "drops what") == strings.HasPrefix(got, "silent") {
				t.Errorf("%s, %s: %s", server, x.name, got)
			}
		}
	}
}
