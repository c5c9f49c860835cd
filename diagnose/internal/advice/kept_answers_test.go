package advice

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

func TestQueryCacheFix(t *testing.T) {
	f := func(want bool, kind, size string, distinct uint64) {
		t.Helper()
		rec := &kasoku.Recording{Queries: []kasoku.Query{{ID: "A", Verb: "SELECT", Calls: 100, Distinct: distinct, Total: time.Second, Fingerprint: "select a from b where c = ?"}}}
		if kind != "" {
			rec.Settings = []kasoku.Setting{{Scope: "mysql", Name: "query_cache_type", Value: kind}, {Scope: "mysql", Name: "query_cache_size", Value: size}}
		}
		fix, got := QueryCacheFix(diagnose.NewCase(rec, nil))
		if got != want || got && len(fix.Edits) != 2 {
			t.Errorf("%q, %s, %d different: %v with %d edits", kind, size, distinct, got, len(fix.Edits))
		}
	}
	f(true, "OFF", "1048576", 50)
	f(true, "ON", "0", 70)
	f(false, "OFF", "1048576", 71) // few reads repeat
	f(false, "ON", "1048576", 10)  // it is on
	f(false, "DEMAND", "1000", 10) // somebody chooses what is kept
	f(false, "OFF", "1048576", 0)  // it was not counted
	f(false, "", "", 10)           // MySQL has none
}
