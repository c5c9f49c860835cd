package slowlog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

// entriesOf describes the entries of a log in short.
func entriesOf(t testing.TB, log string) (string, *Reader) {
	t.Helper()
	r := NewReader(windowOf(log))
	var b strings.Builder
	for r.Scan() {
		e := r.Event()
		fmt.Fprintf(&b, "%d %s %s@%s/%s #%d %v %q\n", e.Line, e.Start.UTC().Format("060102 15:04:05.999999"), e.User, e.Host, e.Schema, e.ThreadID, e.QueryTime, e.Statement)
	}
	checkAccount(t, r)
	return b.String(), r
}

func checkDialect(t testing.TB, format, log, want string) {
	t.Helper()
	got, r := entriesOf(t, log)
	if got != want || r.Format() != format || r.Account().Dropped != 0 {
		t.Errorf("format %q, %d dropped %+v\n got\n%swant\n%s", r.Format(), r.Account().Dropped, r.Account().Bad, got, want)
	}
}

func TestDialects_Slow(t *testing.T) {
	// MySQL 5.0 and 5.1: whole seconds, no SET timestamp.
	checkDialect(t, "mysql", `/usr/sbin/mysqld, Version: 5.0.51a-log ((Debian)). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# Time: 101119  9:43:52
# User@Host: app[app] @ localhost []
# Query_time: 2  Lock_time: 0  Rows_sent: 1  Rows_examined: 0
use shop;
select sleep(2) from n;
/usr/sbin/mysqld, Version: 5.0.51a-log ((Debian)). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# User@Host: app[app] @ localhost []
# Query_time: 3  Lock_time: 0  Rows_sent: 1  Rows_examined: 0
select sleep(3) from n;
`, `4 101119 09:43:52 app@localhost/shop #0 2s "select sleep(2) from n"
12 101119 09:43:52 app@localhost/shop #0 3s "select sleep(3) from n"
`)
	// MySQL 5.6.
	checkDialect(t, "mysql", `C:\mysql\bin\mysqld.exe, Version: 5.6.30-log (MySQL Community Server (GPL)). started with:
TCP Port: 3306, Named Pipe: MySQL
Time                 Id Command    Argument
# Time: 160514  5:28:50
# User@Host: u[u] @ web1 [10.0.0.9]  Id:  2345
# Query_time: 0.000151  Lock_time: 0.000060 Rows_sent: 1  Rows_examined: 2
SET last_insert_id=7,insert_id=8,timestamp=1463203730;
INSERT INTO t VALUES (1);
# User@Host: u[u] @ web1 [10.0.0.9]  Id:  2345
# Query_time: 0.000151  Lock_time: 0.000060 Rows_sent: 1  Rows_examined: 2
SET timestamp=1463203731;
# administrator command: Prepare;
`, `4 160514 05:28:50 u@web1/ #2345 151µs "INSERT INTO t VALUES (1)"
9 160514 05:28:51 u@web1/ #2345 151µs "administrator command: Prepare"
`)
	// MySQL 5.7 and later: ISO times, with a zone where log_timestamps=SYSTEM, and
	// log_slow_extra.
	checkDialect(t, "mysql", `# Time: 2026-05-14T05:28:50.060335Z
# User@Host: u[u] @  [10.0.0.9]  Id:    12
# Query_time: 0.060000  Lock_time: 0.000005 Rows_sent: 0  Rows_examined: 7
use shop;
SET timestamp=1778736530;
UPDATE t SET a=1;
# Time: 2026-05-14T14:28:51.060335+09:00
# User@Host: u[u] @  [10.0.0.9]  Id:    13
# Query_time: 0.060000  Lock_time: 0.000005 Rows_sent: 0  Rows_examined: 7
SET timestamp=1778736531;
UPDATE t SET a=2;
# Time: 2026-05-14T05:28:52.060335Z
# User@Host: u[u] @  [10.0.0.9]  Id:    14
# Query_time: 0.060000  Lock_time: 0.000005 Rows_sent: 0  Rows_examined: 7 Thread_id: 14 Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: 52 Read_first: 0 Read_last: 0 Read_key: 1 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 0 Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 0 Sort_scan_count: 0 Created_tmp_disk_tables: 0 Created_tmp_tables: 0 Start: 2026-05-14T05:28:51.990000Z End: 2026-05-14T05:28:52.060335Z
SET timestamp=1778736531;
UPDATE t SET a=3;
`, `1 260514 05:28:50.000335 u@10.0.0.9/shop #12 60ms "UPDATE t SET a=1"
7 260514 05:28:51.000335 u@10.0.0.9/shop #13 60ms "UPDATE t SET a=2"
12 260514 05:28:51.99 u@10.0.0.9/shop #14 60ms "UPDATE t SET a=3"
`)
	// Percona Server, with all that it can log.
	checkDialect(t, "percona", `bin/mysqld, Version: 5.6.19-67.0-log (Percona Server (GPL), Release 67.0). started with:
Tcp port: 3306  Unix socket: (null)
Time                 Id Command    Argument
# Time: 131128  1:05:31.000123
# User@Host: u[u] @ localhost [127.0.0.1]  Id: 69194
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.000228  Lock_time: 0.000114  Rows_sent: 1  Rows_examined: 1  Rows_affected: 0
# Bytes_sent: 545  Tmp_tables: 0  Tmp_disk_tables: 0  Tmp_table_sizes: 0
# InnoDB_trx_id: 1A88583F
# QC_Hit: No  Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No
# Filesort: No  Filesort_on_disk: No  Merge_passes: 0
#   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0  InnoDB_IO_r_wait: 0.000000
#   InnoDB_rec_lock_wait: 0.000000  InnoDB_queue_wait: 0.000000
#   InnoDB_pages_distinct: 2
# Log_slow_rate_type: query  Log_slow_rate_limit: 2
SET timestamp=1385600731;
SELECT a FROM b WHERE id=1;
# User@Host: [SQL_SLAVE] @  []  Id: 10
# Schema:   Last_errno: 0  Killed: 0
# Query_time: 0.726052  Lock_time: 0.000091  Rows_sent: 0  Rows_examined: 62951  Rows_affected: 0
# No InnoDB statistics available for this query
BEGIN;
`, `4 131128 01:05:31 u@localhost/shop #69194 228µs "SELECT a FROM b WHERE id=1"
18 131128 01:05:31 [SQL_SLAVE]@/ #10 726.052ms "BEGIN"
`)
	// MySQL 5.0 with Percona's patch: the time and the user in one line, or in two.
	checkDialect(t, "mariadb", `# Time: 071218 11:48:27 # User@Host: [SQL_SLAVE] @  []
# User@Host: [SQL_SLAVE] @  []
# Thread_id: 10  Schema: a
# Query_time: 0.000012  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
SELECT 1;
`, `1 071218 11:48:27 [SQL_SLAVE]@/a #10 12µs "SELECT 1"
`)
	// Entries that begin with neither a time nor a user.
	checkDialect(t, "mariadb", `# Time: 090805 11:00:27
# Thread_id: 1  Schema: db1
# Query_time: 0.726052  Lock_time: 0.100091  Rows_sent: 9  Rows_examined: 51
SELECT 'it''s;
# no head';
# Query_time: 1.726052  Lock_time: 0.010093  Rows_sent: 1  Rows_examined: 1
# Full_scan: No
use db2;
SELECT 2;
# User: u[u] @ [1.2.3.4]
# Thread_id: 3 Schema: db
# Query_time: 0.000899 Lock_time: 0.000000 Rows_sent: 0 Rows_examined: 0
SELECT 3;
`, `1 090805 11:00:27 @/db1 #1 726.052ms "SELECT 'it''s;\n# no head'"
6 090805 11:00:27 @/db2 #0 1.726052s "SELECT 2"
10 090805 11:00:27 @/db #3 899µs "SELECT 3"
`)
	// MariaDB 5.5 to 11: no schema, EXPLAIN rows, stored procedures, banners.
	checkDialect(t, "mariadb", `/usr/sbin/mariadbd, Version: 11.4.2-MariaDB-log (mariadb.org binary distribution). started with:
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
Time		    Id Command	Argument
# Time: 261120  9:35:53
# User@Host: root[root] @ localhost [127.0.0.1]
# Thread_id: 4  Schema:   QC_hit: No
# Query_time: 0.000077  Lock_time: 0.000031  Rows_sent: 2  Rows_examined: 3
# Rows_affected: 1  Bytes_sent: 52
# Tmp_tables: 1  Tmp_disk_tables: 0  Tmp_table_sizes: 131000
# Stored_routine: shop.p
# Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: No
# Filesort: No  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No
#
# explain: id	select_type	table	type	possible_keys	key	key_len	ref	rows	r_rows	filtered	r_filtered	Extra
# explain: 1	SIMPLE	t	ALL	NULL	NULL	NULL	NULL	2	2.00	100.00	100.00	Using temporary
#
SET timestamp=1795167353;
SELECT DISTINCT a FROM shop.t;
`, `4 261120 09:35:53 root@localhost/ #4 77µs "SELECT DISTINCT a FROM shop.t"
`)
}

func TestDialects_General(t *testing.T) {
	// MySQL since 5.7.
	checkDialect(t, "general", "/usr/sbin/mysqld, Version: 9.7.4 ((Debian)). started with:\nTcp port: 3306  Unix socket: x\nTime                 Id Command    Argument\n"+
		"2026-05-14T05:28:50.000100Z\t    8 Connect\troot@localhost on shop using Socket\n"+
		"2026-05-14T05:28:50.000200Z\t    8 Query\tSELECT a\n  FROM t\n WHERE b = 'x\n2026-05-14T01:00:00.000000Z\t    9 Query\tno head: too early'\n"+
		"2026-05-14T14:28:50.000300+09:00\t    8 Prepare\tSELECT ?\n2026-05-14T05:28:50.000400Z\t    8 Execute\tSELECT 1;\n"+
		"2026-05-14T05:28:50.000500Z\t    8 Init DB\tother\n2026-05-14T05:28:50.000600Z\t    8 Query\tSELECT 2\n2026-05-14T05:28:50.000700Z\t    8 Quit\t\n",
		`4 260514 05:28:50.0001 root@localhost/shop #8 0s "administrator command: Connect"
5 260514 05:28:50.0002 @/shop #8 0s "SELECT a\n  FROM t\n WHERE b = 'x\n2026-05-14T01:00:00.000000Z\t    9 Query\tno head: too early'"
9 260514 05:28:50.0003 @/shop #8 0s "administrator command: Prepare"
10 260514 05:28:50.0004 @/shop #8 0s "SELECT 1"
11 260514 05:28:50.0005 @/other #8 0s "administrator command: Init DB"
12 260514 05:28:50.0006 @/other #8 0s "SELECT 2"
13 260514 05:28:50.0007 @/other #8 0s "administrator command: Quit"
`)
	// MariaDB, and MySQL before 5.7: tabs, or blanks only.
	mariadb := "261120  9:35:53\t    31 Connect\tapp@localhost as anonymous on shop\n\t\t    31 Query\tINSERT INTO t VALUES ('a\n\t\t    99 Query\tnot a connection')\n" +
		"\t\t    31 Query\tSELECT 'odd\n261120 12:00:00\t    32 Query\tSELECT 5\n"
	want := `1 261120 09:35:53 app@localhost/shop #31 0s "administrator command: Connect"
2 261120 09:35:53 @/shop #31 0s "INSERT INTO t VALUES ('a\n\t\t    99 Query\tnot a connection')"
4 261120 09:35:53 @/shop #31 0s "SELECT 'odd"
5 261120 12:00:00 @/shop #32 0s "SELECT 5"
`
	mariadb = strings.Replace(mariadb, "261120 12:00:00", "261120 10:00:00", 1)
	want = strings.Replace(want, "261120 12:00:00", "261120 10:00:00", 1)
	checkDialect(t, "general", mariadb, want)
	checkDialect(t, "general", "051007   21:55:24\t     42 Connect     root@localhost on db1\n\t\t                 42 Query       SELECT foo \n                         FROM tbl\n"+
		"               \t     11 Query       SELECT 1\n100211  0:55:24      51 Query       SELECT 2\n                     51 Quit       \n",
		`1 051007 21:55:24 root@localhost/db1 #42 0s "administrator command: Connect"
2 051007 21:55:24 @/db1 #42 0s "SELECT foo \n                         FROM tbl"
4 051007 21:55:24 @/db1 #11 0s "SELECT 1"
5 100211 00:55:24 @/db1 #51 0s "SELECT 2"
6 100211 00:55:24 @/db1 #51 0s "administrator command: Quit"
`)
}

func TestDialects_Raw(t *testing.T) {
	checkDialect(t, "raw", "SELECT 1\nUPDATE t SET a='x;'\n\nINSERT INTO t VALUES (1)\n",
		"1 010101 00:00:00 @/ #0 0s \"SELECT 1\"\n2 010101 00:00:00 @/ #0 0s \"UPDATE t SET a='x;'\"\n4 010101 00:00:00 @/ #0 0s \"INSERT INTO t VALUES (1)\"\n")
	checkDialect(t, "raw", "SELECT 1;\nUPDATE t\n  SET a='x;\n'\nWHERE b=1;\n-- it's a comment\nDELETE FROM t; \n",
		"1 010101 00:00:00 @/ #0 0s \"SELECT 1\"\n2 010101 00:00:00 @/ #0 0s \"UPDATE t\\n  SET a='x;\\n'\\nWHERE b=1\"\n6 010101 00:00:00 @/ #0 0s \"-- it's a comment\\nDELETE FROM t\"\n")
}

func TestKind(t *testing.T) {
	f := func(log string, want Kind, plain bool) {
		t.Helper()
		if k, p := kindOf([]byte(log)); k != want || p != plain {
			t.Errorf("%q: kind %v, plain %v", log, k, p)
		}
	}
	f("", Auto, false)
	f("\n\n", Auto, false)
	f("x, Version: 5 started with:\nTcp port: 3306  Unix socket: x\nTime                 Id Command    Argument\n", Auto, false)
	f("the end of a statement\n);\n# Time: 2026-05-14T05:28:50.060335Z\n", Slow, false)
	f("SELECT 1\n", Raw, true)
	f("select 1;\n", Raw, false)
	f("SELECT\n a\nFROM t;\n", Raw, false)
	f("GET / HTTP/1.1\n", Slow, false) // what every line then says
	f("\t\t   12 Query\tSELECT 1\n", General, false)
	f("\x7fELF\x02\x00;\nset \x00\x01\n", Slow, false)
}

func TestCollect_General(t *testing.T) {
	log := ""
	for i := range 30 {
		log += fmt.Sprintf("2026-05-14T05:28:%02d.000000Z\t    %d Execute\tSELECT a FROM t WHERE id = %d\n", 10+i/10, 8+i%2, i%3)
	}
	table, windows, err := CollectAll(context.Background(), []lines.Input{{Path: "general.log", R: strings.NewReader(
		"2026-05-14T05:28:10.000000Z\t    8 Connect\troot@h on shop using Socket\n" + log)}}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := table.Queries()[0]
	if q.Verb == "ADMIN" {
		q = table.Queries()[1]
	}
	if table.Statements() != 30 || table.Admin() != 1 || q.Calls != 30 || q.Total != 0 || q.Distinct != 3 || q.Repeated != 10 || len(q.Seconds) != 3 ||
		windows[0].Format != "general" || windows[0].Path != "general.log" {
		t.Errorf("%+v, window %+v", q, windows[0])
	}
	c := table.Classes()[0]
	if fmt.Sprint(c.Users, c.Schemas) != "[{root 15}] [{shop 15}]" && fmt.Sprint(c.Users, c.Schemas) != "[{root 1}] [{shop 1}]" {
		t.Errorf("users %v, schemas %v", c.Users, c.Schemas)
	}
	if q.First != time.Duration(time.Date(2026, 5, 14, 5, 28, 10, 0, time.UTC).UnixNano()) {
		t.Errorf("first %v", q.First)
	}
}
