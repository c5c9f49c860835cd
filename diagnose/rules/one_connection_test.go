package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
)

// oneConnection is a program whose statements came over so many connections and took a part of the
// time of the 30 seconds with requests, of which so many were open.
func oneConnection(connections uint64, asked, app, open float64) *build {
	b := stackOn(0.6, app, 0.1).served("javascript", "", 1).accessLog()
	b.Endpoints[0].Total = time.Duration(open * 30 * float64(time.Second))
	b.Queries = []kasoku.Query{{ID: "Q", Verb: "SELECT", Fingerprint: "select ?", Calls: 11_100, Total: time.Duration(asked * 30 * float64(time.Second))}}
	b.Settings = append(b.Settings, kasoku.SentOver("h", connections))
	return b
}

// TestSmallPool_OneConnection: requests wait for the only connection of a program in any language.
func TestSmallPool_OneConnection(t *testing.T) {
	r := pool.SmallPool{}
	f := fires(t, r, oneConnection(1, 0.8, 0.3, 6), kasoku.Medium, "it was in statements for 80.0 % of the time, and the program used 0.30 of a core. "+
		"6.00 requests were open on average, and 1.00 of 2 cores were idle.")
	if !strings.Contains(f.Fixes[0].Code, "connectionLimit: 10") || f.Impact.Share < 0.35 || f.Impact.Share > 0.45 || f.Severity != kasoku.Problem {
		t.Errorf("%+v", f)
	}
	none := "no program publishes its pool"
	blind(t, r, oneConnection(2, 0.8, 0.3, 6), none)
	blind(t, r, oneConnection(1, 0.65, 0.3, 6), none)
	blind(t, r, oneConnection(1, 0.75, 0.1, 6), none)
	blind(t, r, oneConnection(1, 0.8, 0.3, 1.9), none)
	blind(t, r, oneConnection(1, 0.8, 0.9, 6), none) // no CPU is left
	few := oneConnection(1, 0.8, 0.3, 6)
	few.Queries[0].Calls = 9000 // sessions that were open before are not in the log
	blind(t, r, few, none)
	blind(t, r, oneConnection(1, 0.8, 0.3, 6).counter("Innodb_row_lock_time", 0, 0, 13_000), none)
	for language, want := range map[string]string{"go": "SetMaxOpenConns(10)", "python": "", "": ""} {
		f := fires(t, r, oneConnection(1, 0.8, 0.3, 6).served(language, "", 1), kasoku.Medium, "one connection")
		if f.Fixes[0].Code != want && !strings.Contains(f.Fixes[0].Code, want) || want == "" && f.Fixes[0].Code != "" {
			t.Errorf("%s: %+v", language, f.Fixes)
		}
	}
	sync := oneConnection(1, 0.8, 0.3, 6).served("ruby", "unicorn", 1)
	for i := range sync.Service.Members {
		sync.Service.Members[i].Threads = 1
	}
	blind(t, r, sync, none) // HW-12 speaks of its workers
}
