package mackerel_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kasoku/kasoku/wire/mackerel"
)

func TestHostState(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{
			"/api/v0/hosts/good":    `{"host":{"id":"good","status":"standby","isRetired":false}}`,
			"/api/v0/hosts/retired": `{"host":{"id":"retired","status":"working","isRetired":true}}`,
			"/api/v0/hosts/empty":   `{}`,
			"/api/v0/hosts/page":    `<html>`,
		}
		answer, ok := answers[r.URL.EscapedPath()]
		if !ok || r.Header.Get("X-Api-Key") != "key" || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	c, err := mackerel.New(mackerel.Options{Key: "key", Base: server.URL, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]mackerel.HostState{
		"good": {Status: "standby"}, "retired": {Status: "working", Retired: true}, "empty": {}, "page": {}, "../x": {}, "none": {},
	} {
		got, err := c.HostState(t.Context(), id)
		if got != want || (err == nil) != (want.Status != "") {
			t.Errorf("%s: %+v, %v, want %+v", id, got, err, want)
		}
	}
}
