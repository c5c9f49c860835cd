package settings

import "testing"

// TestQuietServers: servers that are well get no advice and leave nothing unseen.
func TestQuietServers(t *testing.T) {
	for name, in := range map[string]Input{"MariaDB": mariaDB(), "MySQL": mySQL()} {
		r := check1(t, in)
		for _, a := range r.Advice {
			t.Errorf("%s: %s %s: %s", name, a.ID, a.Title, a.Measured)
		}
		for _, u := range r.Unseen {
			t.Errorf("%s: %s unseen: %s", name, u.ID, u.Why)
		}
		if n := len(r.Quiet); n != len(checks()) {
			t.Errorf("%s: %d of %d checks are quiet", name, n, len(checks()))
		}
	}
}
