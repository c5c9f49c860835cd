package rules

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	for _, r := range All() {
		text := Explain(r)
		for _, label := range []string{"Evidence:", "Cause:", "Fix:", "Silent:"} {
			if !strings.Contains(text, label) {
				t.Errorf("%s: no %s in %q", r.ID(), label, text)
			}
		}
	}
}
