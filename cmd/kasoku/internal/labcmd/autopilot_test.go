package labcmd

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestAutopilotIsDocumented: docs/json.md has each field of what autopilot writes.
func TestAutopilotIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## kasoku autopilot\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, x := range []reflect.Type{reflect.TypeFor[storyJSON](), reflect.TypeFor[stepJSON](), reflect.TypeFor[editJSON]()} {
		for f := range x.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("docs/json.md, kasoku autopilot: no %s", name)
			}
		}
	}
}
