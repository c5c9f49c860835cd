package recording

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/loadreport"
)

// TestExpected: answers that the load expected are counted apart, and are shown as no errors.
func TestExpected(t *testing.T) {
	r := sample.Before()
	r.Steps = nil
	r.Seconds = []kasoku.LoadSecond{{Target: "POST /dig", Asked: 100, Codes: map[int]uint64{200: 60, 404: 37, 503: 3},
		Expected: 37, Errors: map[string]uint64{"503 Service Unavailable": 3}}}
	found := ""
	for _, f := range show(r).Facts {
		if f.Label == "Result" {
			found = f.Value
		}
	}
	if want := "100 requests, 60 2xx, 37 others as expected, 3 errors"; found != want {
		t.Errorf("the result is %q, want %q", found, want)
	}
	var bad []string
	for _, a := range loadreport.Answers(r.Tally(0)) {
		if a.Bad {
			bad = append(bad, a.Message)
		}
	}
	if got := strings.Join(bad, "|"); got != "503 Service Unavailable" {
		t.Errorf("bad are %q", got)
	}
}
