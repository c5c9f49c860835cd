package recording

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recorded"
)

// TestChangeNotes_Sessions: what became of sessions is no setting that was put back; it says whether something is to
// be done.
func TestChangeNotes_Sessions(t *testing.T) {
	f := func(c kasoku.Change, want ...string) {
		t.Helper()
		rec := &kasoku.Recording{Changes: []kasoku.Change{{Name: "slow_query_log", Before: "OFF", Restored: true}, c}}
		var got []string
		for _, n := range (selfCheck{recorded.Of(rec, report.Options{})}).changeNotes(c.Restored) {
			got = append(got, n.Sign+" "+n.Label+": "+n.Text)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	const back = "✓ Restored: slow_query_log OFF"
	f(kasoku.Change{Name: "idle sessions", Before: "4 open", Restored: true}, back,
		"· Sessions: 4 idle sessions were ended when the slow log was on, so that the application opens new ones, "+
			"which are in it. Nothing is to be done.")
	f(kasoku.Change{Name: "idle sessions", Before: "1 open", Restored: true}, back,
		"· Sessions: 1 idle session was ended when the slow log was on, so that the application opens new ones, "+
			"which are in it. Nothing is to be done.")
	f(kasoku.Change{Name: "sessions", Restored: true, Note: "4 sessions that began meanwhile and did not end: 24 (app)"},
		back,
		"· Sessions: 4 sessions that began meanwhile and did not end keep the slow log's settings of the run. As "+
			"slow_query_log is OFF nothing is logged, and nothing is to be done; should it be switched on, they log each "+
			"statement until the application is restarted.")
	f(kasoku.Change{Object: "mariadb", Name: "sessions", During: "began with", Note: "2 sessions: 24"},
		"! Sessions: 2 sessions: 24")
}
