package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestProofsAreDocumented: docs/json.md has each field of what try and autopilot write.
func TestProofsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for head, types := range map[string][]reflect.Type{
		"try":       {reflect.TypeFor[trialJSON](), reflect.TypeFor[changeJSON](), reflect.TypeFor[sampledJSON]()},
		"autopilot": {reflect.TypeFor[storyJSON](), reflect.TypeFor[stepJSON](), reflect.TypeFor[editJSON]()},
	} {
		_, section, _ := strings.Cut(string(text), "\n## kasoku "+head+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, x := range types {
			for f := range x.Fields() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !strings.Contains(section, "`"+name+"`") {
					t.Errorf("docs/json.md, kasoku %s: no %s", head, name)
				}
			}
		}
	}
}
