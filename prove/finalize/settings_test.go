package finalize

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// TestWithoutRestored: what kasoku put back itself does not count as a setting of the
// user; what was set since then does.
func TestWithoutRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.kasoku")
	rec := &kasoku.Recording{Run: kasoku.Run{ID: "a", State: kasoku.Finished}, Changes: []kasoku.Change{
		{Object: "mariadb", Name: "slow_query_log", Before: "OFF", During: "ON", Restored: true},
		{Object: "mariadb", Name: "long_query_time", Before: "10.000000", During: "0.000000", Restored: true},
		{Object: "mariadb", Name: "log_output", Before: "FILE", During: "TABLE", Note: "the server was gone"},
	}}
	if err := store.Write(path, rec); err != nil {
		t.Fatal(err)
	}
	set := []string{"log_output", "long_query_time", "max_connections", "slow_query_log"}
	now := map[string]string{"slow_query_log": "OFF", "long_query_time": "1.000000", "log_output": "FILE", "max_connections": "77"}
	f := func(want string, runs ...store.Info) {
		t.Helper()
		if got := strings.Join(withoutRestored(set, now, runs), " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("log_output long_query_time max_connections", store.Describe(path))
	f("log_output long_query_time max_connections slow_query_log")
	f("log_output long_query_time max_connections slow_query_log", store.Describe(path+".none"))
}
