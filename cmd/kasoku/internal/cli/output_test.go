package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

// TestEnv_Warn: each warning is printed once, those that differ in a name or a number each, and
// none is held back for one of the run before.
func TestEnv_Warn(t *testing.T) {
	var stderr bytes.Buffer
	e := &Env{Name: "kasoku", Stderr: &stderr}
	all := []kasoku.Warning{
		{Code: "not-captured", Text: "app1.conf: denied"}, {Code: "not-captured", Text: "app2.conf: denied"},
		{Code: "late-generator", Text: "late by 12 ms"}, {Code: "late-generator", Text: "late by 34 ms"},
		{Code: "not-restored", Text: "long_query_time is 0"},
	}
	CountBefore(e, all)
	e.Warn(all)
	e.Warn(all)
	for _, w := range all {
		if n := strings.Count(stderr.String(), w.Text); n != 1 {
			t.Errorf("%q is printed %d times:\n%s", w.Text, n, &stderr)
		}
	}
	if at := strings.Index(stderr.String(), "long_query_time"); at > strings.Index(stderr.String(), "late by") {
		t.Errorf("the heaviest is not the first:\n%s", &stderr)
	}
}
