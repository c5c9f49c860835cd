package kasoku

import (
	"reflect"
	"testing"
	"time"
)

func TestTermsCover(t *testing.T) {
	f := func(route, method, path string, want bool) {
		t.Helper()
		if got := (Terms{Route: route}).Cover(method, path); got != want {
			t.Errorf("%q covers %s %s: %v", route, method, path, got)
		}
	}
	f("GET /api/trend", "GET", "/api/trend", true)
	f("GET /api/trend", "GET", "/api/trend?page=*", true)
	f("GET /api/trend", "POST", "/api/trend", false)
	f("GET /api/trend", "GET", "/api/trends", false)
	f("GET /api/trend", "GET", "/api/trend/1", false)
	f("/api/trend", "PUT", "/api/trend", true)
	f("GET /api/isu/{id}", "GET", "/api/isu/:uuid", true)
	f("GET /api/isu/:id/icon", "GET", "/api/isu/*/icon", true)
	f("GET /api/isu/*", "GET", "/api/isu/7", true)
	f("GET /api/isu/*", "GET", "/api/isu", false)
	f("GET /api/isu/7", "GET", "/api/isu/*", false) // it is said of one only
	f("/api/**", "GET", "/api/isu/7/icon", true)
	f("/api/**", "GET", "/api", true)
	f("/**", "DELETE", "/", true)
	f("/a/**/b", "GET", "/a/x/b", false) // ** stands at the end alone
}

func TestTermsOf(t *testing.T) {
	second, none := time.Second, time.Duration(0)
	rec := &Recording{}
	for _, x := range []Terms{
		{Route: "/**", Limit: 2 * time.Second},
		{Route: "GET /api/*", Stale: &second, Failure: "10 points"},
		{Route: "GET /api/trend", Stale: &none, Limit: time.Second},
		{Route: "/api/trend", Limit: time.Minute},
	} {
		rec.Settings = append(rec.Settings, x.Settings()...)
	}
	f := func(method, route, want string) {
		t.Helper()
		if got, ok := rec.TermsOf(method, route); got.Route != want || ok != (want != "") {
			t.Errorf("%s %s: terms of %q, want %q", method, route, got.Route, want)
		}
	}
	f("GET", "/api/trend", "GET /api/trend")
	f("POST", "/api/trend", "/api/trend")
	f("GET", "/api/other", "GET /api/*")
	f("GET", "/x", "/**")
	if got, _ := rec.TermsOf("GET", "/api/trend"); *got.Stale != 0 || got.Limit != time.Second {
		t.Errorf("%+v", got)
	}
	if got, _ := rec.TermsOf("GET", "/x"); got.Stale != nil {
		t.Errorf("%+v", got)
	}
	if _, ok := (&Recording{}).TermsOf("GET", "/"); ok {
		t.Error("a run without a contract has terms")
	}
}

// TestContractLies: settings of a run file that are none of ours are passed over.
func TestContractLies(t *testing.T) {
	rec := &Recording{}
	for _, s := range [][2]string{{"stale", "1s"}, {"stale ", "1s"}, {"stale /a", "soon"}, {"limit /a", "-1s"}, {"odd /a", "1s"}} {
		rec.Settings = append(rec.Settings, Setting{Scope: ContractScope, Name: s[0], Value: s[1]})
	}
	rec.Settings = append(rec.Settings, Setting{Scope: "app", Name: "stale /b", Value: "1s"})
	if got := rec.Contract(); !reflect.DeepEqual(got, []Terms{{Route: "/a"}}) {
		t.Errorf("%+v", got)
	}
}
