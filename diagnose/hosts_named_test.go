package diagnose

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestNameHosts: a finding about a run of several hosts names the one that its evidence is of, and none
// where it is of more.
func TestNameHosts(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Hosts: []kasoku.Host{{Name: "own"}, {Name: "web"}, {Name: "db"}}},
		Queries: []kasoku.Query{{Host: "db"}, {Host: "db"}}, Endpoints: []kasoku.Endpoint{{Host: "web"}, {Host: "own"}},
		Series: []kasoku.Series{{Key: kasoku.Key{Host: "db", Source: MySQL}}, {Key: kasoku.Key{Host: "web",
			Source: Host}},
			{Key: kasoku.Key{Host: "db", Source: Host}}}}
	f := func(want string, evidence ...kasoku.Evidence) {
		t.Helper()
		found := []kasoku.Finding{{Title: "orders lacks an index", Cause: "It reads all.", Evidence: evidence}}
		nameHosts(NewCase(rec, nil), found)
		title, cause := "orders lacks an index", "It reads all."
		if want != "" {
			title, cause = title+" ("+want+")", "This is of host "+want+". "+cause
		}
		if found[0].Title != title || found[0].Cause != cause {
			t.Errorf("%q, %q; want %q", found[0].Title, found[0].Cause, want)
		}
	}
	of := func(hosts ...string) (out []kasoku.Key) {
		for _, h := range hosts {
			out = append(out, kasoku.Key{Host: h, Source: Host})
		}
		return out
	}
	f("")
	f("db", kasoku.Evidence{Source: "slow.log"})
	f("db", kasoku.Evidence{Source: "status"}, kasoku.Evidence{Source: "load"})
	f("", kasoku.Evidence{Source: "access"})
	f("web", kasoku.Evidence{Source: "access"}, kasoku.Evidence{Source: Host, Series: of("web")})
	f("", kasoku.Evidence{Source: Host, Series: of("web", "db")})
	f("", kasoku.Evidence{Source: Host})
	f("", kasoku.Evidence{Source: "load"})
	rec.Run.Hosts = rec.Run.Hosts[:1]
	f("", kasoku.Evidence{Source: "slow.log"})
}
