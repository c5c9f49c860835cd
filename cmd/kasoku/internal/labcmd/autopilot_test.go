package labcmd

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/prove"
)

// TestStoryVerdict: where nothing was kept, what runs differ is no gain.
func TestStoryVerdict(t *testing.T) {
	s := &prove.Story{First: 1.61, Last: 1.9, Steps: []prove.Step{{Outcome: prove.TakenBack}}}
	if got, want := storyVerdict(s), "Score 1.9: 1 change tried, 0 kept."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Steps[0].Outcome = prove.Kept
	if got, want := storyVerdict(s), "Score 1.61 → 1.9, × 1.18: 1 change tried, 1 kept."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

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
