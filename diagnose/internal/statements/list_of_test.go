package statements

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestSendsKey: a list of words has no number by which another table's rows are looked up.
func TestSendsKey(t *testing.T) {
	f := func(list, key string, want bool) {
		t.Helper()
		if got := sendsKey(&kasoku.Query{Fingerprint: list}, []string{key}); got != want {
			t.Errorf("%s, %s: %v", list, key, got)
		}
	}
	f("select distinct acl.rightname from acl, principals where acl.principalid = principals.id", "id", false)
	f("select `name`, status from t where a = ?", "id", false)
	f("select owner from t where a = ?", "id", true)
	f("select name, owner from t where a = ?", "id", true)
	f("select max(name) from t where a = ?", "id", true)
	f("select main.* from attributes main where main.objectid = ?", "id", true)
	f("select distinct acl.rightname from acl", "rightname", true)
	f("select a.title from a", "b_id", false)
}
