package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchema_Commands: what commands write with -o json is as report/encode/schema.json has it,
// and has no other field.
func TestSchema_Commands(t *testing.T) {
	text, err := os.ReadFile("../../report/encode/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	byKind := map[string]string{}
	for name, def := range doc.(map[string]any)["$defs"].(map[string]any) {
		def := def.(map[string]any)
		def["additionalProperties"] = false
		kind, _ := def["properties"].(map[string]any)["kind"].(map[string]any)
		if word, ok := kind["const"].(string); ok {
			byKind[word] = name
		}
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("kasoku.json", doc); err != nil {
		t.Fatal(err)
	}
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
		answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if got := answer.(map[string]any)["kind"]; got != kind {
			t.Errorf("%s: kind %v, want %s", args, got, kind)
			continue
		}
		schema, err := c.Compile("kasoku.json#/$defs/" + byKind[kind])
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(answer); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}
