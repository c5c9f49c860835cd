package showcmd

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestListIsDocumented: docs/json.md has each field of a listed run.
func TestListIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for section, x := range map[string]reflect.Type{
		"Listed": reflect.TypeFor[listed](), "Score": reflect.TypeFor[listedScore](), "Summary": reflect.TypeFor[listedSummary](),
	} {
		_, text, ok := strings.Cut(string(page), "\n### "+section+"\n")
		if !ok {
			t.Errorf("no section %s", section)
		}
		text, _, _ = strings.Cut(text, "\n##")
		for i := range x.NumField() {
			if name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ","); !strings.Contains(text, "| `"+name+"` |") {
				t.Errorf("%s lacks %s", section, name)
			}
		}
	}
}
