package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// TestJSONSchema_Commands: what commands write with -o json is as docs/schema.json has it,
// and has no other field.
func TestJSONSchema_Commands(t *testing.T) {
	schema := compileSchema(t)
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(web.Close)
	for args, kind := range map[string]string{
		"accesslog access.log":                            "accesslog",
		"accesslog access.log --seconds":                  "accesslog",
		"accesslog diff access.log after.log":             "accesslog diff",
		"slowlog slow.log":                                "slowlog",
		"slowlog diff slow.log slow-after.log":            "slowlog diff",
		"attack --duration 1s --rate 20 " + web.URL + "/": "attack",
	} {
		cmd := exec.CommandContext(t.Context(), "kasoku", append(strings.Fields(args), "-o", "json")...)
		cmd.Dir = "../../docs/samples"
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		got, err := schema.check(out)
		if err != nil || got != kind {
			t.Errorf("%s: kind %q, want %s: %v", args, got, kind, err)
		}
	}
}
