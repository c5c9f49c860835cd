package callers

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestDoubled: logs with the same requests are reported; others, and those with few,
// are not.
func TestDoubled(t *testing.T) {
	log := func(path string, counts ...uint64) LogRoutes {
		var es []kasoku.Endpoint
		for i, n := range counts {
			es = append(es, kasoku.Endpoint{Method: "GET", Route: "/" + string(rune('a'+i)), Count: n})
		}
		return RoutesOf(path, es)
	}
	f := func(want string, logs ...LogRoutes) {
		t.Helper()
		got := ""
		if ws := WarnDoubled(logs); len(ws) > 0 {
			got = ws[0].Text
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	const same = "/x and /y have 1,100 and 1,101 requests, alike for every route: if they are the same requests, each counts twice"
	f("")
	f("", log("/x", 1000, 100))
	f(same, log("/x", 1000, 100), log("/y", 1001, 100))
	f(same, log("/other", 7), log("/x", 1000, 100), log("/y", 1001, 100))
	f("", log("/x", 1000, 100), log("/y", 100, 1000))
	f("", log("/x", 1000, 100), log("/y", 1000))
	f("", log("/x", 20, 20), log("/y", 20, 20))
	if ws := WarnDoubled([]LogRoutes{log("/x", 900), log("/y", 900), log("/z", 900)}); len(ws) != 2 {
		t.Errorf("three alike: %+v", ws)
	}
}
