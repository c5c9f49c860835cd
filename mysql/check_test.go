package mysql

import "testing"

func TestChanged_Check(t *testing.T) {
	f := func(name, before, during string, good bool) {
		t.Helper()
		if err := (Changed{Name: name, Before: before, During: during}).Check(); (err == nil) != good {
			t.Errorf("%s from %q to %q: %v", name, before, during, err)
		}
	}
	f("slow_query_log", "OFF", "ON", true)
	f("slow_query_log", "OFF", "5", false)
	f("long_query_time", "10.000000", "0.000000", true)
	f("long_query_time", "10; DROP TABLE t", "0", false)
	f("log_output", "TABLE,FILE", "FILE", true)
	f("log_output", "/etc/passwd", "FILE", false)
	f("log_slow_filter", "", "admin,filesort", true)
	f("setup_consumers.statements_digest", "NO", "YES", true)
	f("setup_consumers.statements_digest", "NO", "MAYBE", false)
	f("setup_instruments.statement/com/Init DB", "YES,NO", "YES,YES", true)
	f("setup_instruments.x'; SELECT 1", "YES,NO", "YES,YES", false)
	f("innodb_buffer_pool_size", "134217728", "268435456", true)
	f("optimizer_switch", "index_merge=on,mrr=off", "mrr=on", true)
	f("innodb_file_per_table", "ON", "OFF", true)
	for _, name := range []string{"", "general_log_file", "init_connect", "secure_file_priv", "plugin_dir", "slow_query_log_file", "a b", "SLOW", "event_scheduler", "require_secure_transport"} {
		f(name, "1", "0", false)
	}
	f("sort_buffer_size", "/tmp/x", "1", false)
	f("index shop.items.i", "DROP INDEX i ON shop.items", "CREATE INDEX i ON shop.items (a)", true)
	f("index shop.items.i", "DROP INDEX i ON items", "ALTER TABLE items DROP COLUMN mail, ADD INDEX i (a)", false)
	f("index shop.items.i", "DROP INDEX i ON users", "CREATE INDEX i ON shop.items (a)", false)
	f("index shop.items.i", "DROP DATABASE shop", "CREATE INDEX i ON shop.items (a)", false)
}
