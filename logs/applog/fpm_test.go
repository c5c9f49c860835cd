package applog

import (
	"strings"
	"testing"
)

// TestRead_FPM: the log of PHP-FPM's master has times and levels of its own form; that its
// pool is used up is a warning, with what a worker wrote beside.
func TestRead_FPM(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		table, _ := read(t, line+"\n", Options{})
		if got := strings.Join(brief(table.Messages()), "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
	f("[23-Nov-2026 20:02:52] NOTICE: fpm is running, pid 1234", "1 info | fpm is running, pid ?")
	f("[23-Nov-2026 20:02:52] WARNING: [pool www] server reached pm.max_children setting (2), consider raising it",
		"1 warn | [pool www] server reached pm.max_children setting (?), consider raising it")
	f("[23-Nov-2026 20:02:52.123456] WARNING: pid 7, fpm_pctl_perform_idle_server_maintenance(), line 432: "+
		"[pool www] server reached max_children setting (5), consider raising it",
		"1 warn | pid ?, fpm_pctl_perform_idle_server_maintenance(), line ?: "+
			"[pool www] server reached max_children setting (?), consider raising it")
	f("[23-Nov-2026 20:02:52] ERROR: unable to bind listening socket for address '/run/php.sock': Address already in use (98)",
		"1 error | unable to bind listening socket for address ?: Address already in use (?)")
	f(`[23-Nov-2026 20:02:52] WARNING: [pool www] child 77 said into stderr: "PHP Fatal error:  Uncaught PDOException: `+
		`SQLSTATE[HY000] [1040] Too many connections"`,
		"1 warn 1040 | [pool www] child ? said into stderr: ?")
}
