package doctorcmd

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/mysql"
)

// advisedServer is a server with a bit of everything to say of it: variables to set at no
// risk, at a price and with a restart, several of one check, remarks, and what an account
// with few rights does not see. One name is hostile.
func advisedServer() settings.Input {
	return settings.Input{
		Host: "db1", Account: "'app'@'%'",
		Variables: map[string]string{
			"version": "10.11.19-MariaDB", "max_connections": "151", "thread_cache_size": "0", "long_query_time": "10", "slow_query_log": "ON",
			"sort_buffer_size": "2097152", "join_buffer_size": "262144", "read_buffer_size": "131072", "read_rnd_buffer_size": "262144", "thread_stack": "299008",
			"binlog_cache_size": "32768", "tmp_table_size": "16777216", "max_heap_table_size": "16777216", "key_buffer_size": "134217728",
			"innodb_buffer_pool_size": "134217728", "innodb_log_file_size": "100663296", "innodb_log_buffer_size": "16777216", "innodb_file_per_table": "ON",
			"innodb_flush_log_at_trx_commit": "1", "innodb_flush_log_at_timeout": "1", "innodb_doublewrite": "ON", "innodb_flush_method": "O_DIRECT", "log_bin": "OFF",
			"performance_schema": "OFF", "skip_name_resolve": "ON", "open_files_limit": "20000", "table_open_cache": "2000", "table_definition_cache": "400",
			"innodb_adaptive_hash_index": "OFF", "bind_address": "127.0.0.1", "innodb_purge_threads": "4",
		},
		Status: map[string]float64{"Uptime": 3600, "Max_used_connections": 150, "Connection_errors_max_connections": 12, "Open_files": 40, "Open_tables": 20},
		Grown: map[string]float64{
			"Com_begin": 2000, "Com_commit": 2000, "Innodb_data_fsyncs": 2100, "Com_insert": 2000, "Com_update": 0, "Com_delete": 0, "Com_replace": 0,
			"Innodb_buffer_pool_read_requests": 80000, "Innodb_buffer_pool_reads": 20000, "Created_tmp_tables": 1000, "Created_tmp_disk_tables": 600,
			"Innodb_log_waits": 0, "Innodb_log_writes": 2000, "Innodb_log_write_requests": 20000,
		},
		Window: 34 * time.Second, Load: true, Over: "34 s of load",
		Memory: settings.Memory{RAM: 4 << 30, From: "memory limit of the control group mariadb.service", Others: 300 << 20, Seen: true},
		System: settings.System{Cores: 2, Settings: map[string]string{"vm.swappiness": "60"}},
		Schema: &settings.Schema{
			Tables: []settings.Table{{Table: mysql.Table{Schema: "shop", Name: "it\x1b[31mem`", Engine: "InnoDB", Rows: 10, DataBytes: 1 << 30, IndexBytes: 1 << 20}}},
		},
		Lacks: []settings.Lack{
			{Part: settings.PartTransactions, Why: "transactions: the account may not", Grant: "GRANT PROCESS ON *.* TO 'app'@'%';"},
			{Part: settings.PartReaders, Why: "readers of the binary log: the account may not", Grant: "GRANT PROCESS ON *.* TO 'app'@'%';"},
			{Part: settings.PartAccounts, Why: "accounts: the account may not", Grant: "GRANT SELECT ON mysql.* TO 'app'@'%';"},
			{Part: settings.PartUsage, Why: "index usage: performance_schema is off", Grant: "performance_schema = ON in my.cnf, and a restart"},
			{Part: settings.PartDisk, Why: "kind of disk: vda is virtual, and does not report"},
			{Part: settings.PartDiskTime, Why: "disk times: writes are timed over a load", Grant: "kasoku advise --for 60s while it runs"},
			{Part: settings.PartReplica, Why: "replication: the account may not", Grant: "GRANT REPLICA MONITOR ON *.* TO 'app'@'%';"},
		},
	}
}

func TestAdvisePrint(t *testing.T) {
	f := func(name string, flags adviseFlags, risk kasoku.Risk) {
		t.Helper()
		var out bytes.Buffer
		e := &cli.Env{Name: "kasoku", Stdout: &out, Color: "never", Getenv: func(string) string { return "" }, Now: time.Now}
		in := advisedServer()
		a := &adviser{e: e, in: in, Result: settings.Examine(in), source: "app:xxxx@tcp(db1:3306)/", risk: risk}
		if err := flags.show(a); err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsRune(out.Bytes(), '\x1b') {
			t.Errorf("%s has an escape of a table's name", name)
		}
		golden.Check(t, filepath.Join("testdata", "advise", name+".golden"), out.Bytes())
	}
	for _, format := range cli.Formats {
		f(format, adviseFlags{Output: cli.Output{Format: format}}, kasoku.RiskRestart)
	}
	f("sql", adviseFlags{sql: true}, kasoku.RiskRestart)
	f("sql-none", adviseFlags{sql: true}, kasoku.RiskNone)
	f("conf", adviseFlags{conf: true}, kasoku.RiskRestart)
	f("conf-durability", adviseFlags{conf: true}, kasoku.RiskDurability)
}
