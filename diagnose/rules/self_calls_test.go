package rules

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
)

// TestSelfCalls: a recorded run in which an application asks itself through nginx, and what is none:
// another service, another application, an answer of nginx's own.
func TestSelfCalls(t *testing.T) {
	member := func(rec *kasoku.Recording, role kasoku.MemberRole) *kasoku.Member {
		for i := range rec.Service.Members {
			if rec.Service.Members[i].Role == role {
				return &rec.Service.Members[i]
			}
		}
		t.Fatalf("no %s", role)
		return nil
	}
	elsewhere := func(rec *kasoku.Recording, host string) {
		x := &rec.Traces[0].Externals[0]
		x.To = strings.Replace(x.To, "127.0.0.1", host, 1)
	}
	connected := func(rec *kasoku.Recording, weak bool) {
		web, app := member(rec, kasoku.RoleWeb), member(rec, kasoku.RoleApplication)
		rec.Service.Edges = append(rec.Service.Edges, kasoku.Edge{From: app.ID, To: web.ID, At: web.Listeners[0], Weak: weak})
	}
	for _, x := range []struct {
		name   string
		change func(rec *kasoku.Recording)
		want   string // in the cause, or the reason of a silence after "silent: "
	}{
		{"as recorded", func(*kasoku.Recording) {}, "GET /v1/overview asks GET /v1/board of its own application, through nginx, once for each request"},
		{"localhost", func(rec *kasoku.Recording) { elsewhere(rec, "localhost") }, "GET /v1/overview asks GET /v1/board"},
		{"a name that is connected to", func(rec *kasoku.Recording) { elsewhere(rec, "depot.example"); connected(rec, false) }, "GET /v1/overview asks GET /v1/board"},
		{"the application's own port", func(rec *kasoku.Recording) {
			rec.Traces[0].Externals[0].To = "GET 127.0.0.1" + member(rec, kasoku.RoleApplication).Listeners[0].String() + "/v1/board"
		}, "of its own application, once"},
		{"another host", func(rec *kasoku.Recording) { elsewhere(rec, "10.0.0.7") }, "silent: no request that was traced asked its own"},
		{"a name of who knows whom", func(rec *kasoku.Recording) { elsewhere(rec, "depot.example") }, "silent: no request that was traced asked its own"},
		{"a connection that carried nothing", func(rec *kasoku.Recording) { elsewhere(rec, "depot.example"); connected(rec, true) }, "silent: no request that was traced asked its own"},
		{"another port", func(rec *kasoku.Recording) { rec.Traces[0].Externals[0].To = "GET 127.0.0.1:9/v1/board" }, "silent: no request that was traced"},
		{"a listener of a network namespace", func(rec *kasoku.Recording) { member(rec, kasoku.RoleWeb).Listeners[0].Private = true }, "silent: no request that was traced"},
		{"answered by another", func(rec *kasoku.Recording) { rec.Traces[0].Endpoints[1].Requests = 100 }, "silent: no request that was traced"},
		{"two applications", func(rec *kasoku.Recording) {
			rec.Service.Members = append(rec.Service.Members, kasoku.Member{ID: "b", Role: kasoku.RoleApplication})
			rec.Traces[0].Members = append(rec.Traces[0].Members, "b")
		}, "silent: several applications were traced"},
		{"few", func(rec *kasoku.Recording) { rec.Traces[0].Externals[0].Calls = 19 }, "silent: requests of GET /v1/overview asked GET /v1/board of their own application 19 times"},
		{"no trace", func(rec *kasoku.Recording) { rec.Traces = nil; connected(rec, false) }, "silent: rules.test calls nginx, which may pass its requests back; no trace"},
		{"refused", func(rec *kasoku.Recording) { rec.Traces[0].Refused = "no rights" }, "silent: no trace shows"},
	} {
		rec := recordedCase(t, "testdata/APP-03/fires/mariadb-self.txtar")
		x.change(rec)
		found, silent := (application.SelfCalls{}).Check(diagnose.NewCase(rec, nil))
		got := ""
		for _, f := range found {
			got += f.Cause
		}
		for _, s := range silent {
			got += "silent: " + s.Reason
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%s: %s", x.name, got)
		}
	}
}
