package provecmd

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestTryIsDocumented: docs/json.md has each field of what try writes.
func TestTryIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## kasoku try\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, x := range []reflect.Type{reflect.TypeFor[trialJSON](), reflect.TypeFor[changeJSON](), reflect.TypeFor[sampledJSON]()} {
		for f := range x.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("docs/json.md, kasoku try: no %s", name)
			}
		}
	}
}
