package mysql

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// mariadbStatus and mysqlStatus are cut from answers of MariaDB 10.11.19 and MySQL
// 9.7 to SHOW ENGINE INNODB STATUS.
const mariadbStatus = `
=====================================
2026-11-21 02:53:13 0x7f0d5c0b86c0 INNODB MONITOR OUTPUT
=====================================
Per second averages calculated from the last 4 seconds
------------------------
LATEST DETECTED DEADLOCK
------------------------
2026-11-21 02:53:01 0x7f0d5c0b86c0
*** (1) TRANSACTION:
TRANSACTION 24, ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s), undo log entries 1
MariaDB thread id 9, OS thread handle 139695, query id 31 localhost 127.0.0.1 root Updating
UPDATE w.seats SET v = 3
  WHERE id = 2
*** WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 8 index PRIMARY of table ` + "`w`.`seats`" + ` trx id 24 lock_mode X locks rec but not gap waiting
Record lock, heap no 3 PHYSICAL RECORD: n_fields 4; compact format; info bits 0
 0: len 4; hex 80000002; asc     ;;
*** CONFLICTING WITH:
RECORD LOCKS space id 5 page no 3 n bits 8 index other of table ` + "`w`.`others`" + ` trx id 25 lock_mode X locks rec but not gap
*** (2) TRANSACTION:
TRANSACTION 25, ACTIVE 0 sec starting index read
MariaDB thread id 10, OS thread handle 139696, query id 32 localhost 127.0.0.1 root Updating
UPDATE w.seats SET v = v * 5 WHERE id = 1
*** WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 8 index by_v of table ` + "`w`.`seats`" + ` trx id 25 lock_mode X locks rec but not gap waiting
*** WE ROLL BACK TRANSACTION (1)
------------
TRANSACTIONS
------------
Trx id counter 26
`

const mysqlStatus = `
=====================================
2026-11-21 02:53:40 139869 INNODB MONITOR OUTPUT
=====================================
------------------------
LATEST DETECTED DEADLOCK
------------------------
2026-11-21 02:53:40 139870
*** (1) TRANSACTION:
TRANSACTION 1817, ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s), undo log entries 1
MySQL thread id 14, OS thread handle 139, query id 50 localhost 127.0.0.1 root updating
UPDATE w.seats SET v = 3 WHERE id = 2

*** (1) HOLDS THE LOCK(S):
RECORD LOCKS space id 3 page no 4 n bits 72 index PRIMARY of table ` + "`w`.`seats`" + ` trx id 1817 lock_mode X locks rec but not gap
*** (1) WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 3 page no 4 n bits 72 index PRIMARY of table ` + "`w`.`seats`" + ` trx id 1817 lock_mode X locks rec but not gap waiting

*** (2) TRANSACTION:
MySQL thread id 15, OS thread handle 140, query id 51 localhost 127.0.0.1 root updating
UPDATE w.seats SET v = v * 5 WHERE id = 1
*** (2) WAITING FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 3 page no 4 n bits 72 index PRIMARY of table ` + "`w`.`seats` /* Partition `p0` */" + ` trx id 1818 lock_mode X locks rec but not gap waiting

*** WE ROLL BACK TRANSACTION (2)
`

func TestParseDeadlock(t *testing.T) {
	f := func(text string, want Deadlock) {
		t.Helper()
		got := ParseDeadlock(text)
		if got == nil || got.Ago != want.Ago || got.Table != want.Table || !slices.Equal(got.Indexes, want.Indexes) || !slices.Equal(got.Statements, want.Statements) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	}
	three, five := "UPDATE w.seats SET v = 3 WHERE id = 2", "UPDATE w.seats SET v = v * 5 WHERE id = 1"
	f(mariadbStatus, Deadlock{12 * time.Second, "w.seats", []string{"by_v", "PRIMARY"}, []string{five, "UPDATE w.seats SET v = 3\n  WHERE id = 2"}})
	f(mysqlStatus, Deadlock{0, "w.seats", []string{"PRIMARY"}, []string{three, five}})
	for _, none := range []string{"", "\n2026-11-21 02:53:40 1 INNODB MONITOR OUTPUT\n", strings.ReplaceAll(mysqlStatus, "TRANSACTION:", ""), "LATEST DETECTED DEADLOCK"} {
		if got := ParseDeadlock(none); got != nil {
			t.Errorf("%q: %+v", none, got)
		}
	}
}

func FuzzParseDeadlock(f *testing.F) {
	f.Add(mariadbStatus)
	f.Add(mysqlStatus)
	f.Fuzz(func(t *testing.T, text string) {
		if d := ParseDeadlock(text); d != nil && (len(d.Statements) == 0 || len(d.Statements) > mostDeadlocked || d.Ago < 0) {
			t.Errorf("%+v", d)
		}
	})
}

func TestHolding(t *testing.T) {
	f := func(want string, statements ...string) {
		t.Helper()
		if got := holding(statements, "seats"); got != want {
			t.Errorf("%q: got %q, want %q", statements, got, want)
		}
	}
	f("")
	f("SELECT 1", "SELECT 1", "START TRANSACTION", "UPDATE seats SET v = 1")
	f("UPDATE Seats SET v = 1", "SELECT 1", "SELECT * FROM seats", "UPDATE Seats SET v = 1", "BEGIN")
	f("select 1 from seats for update", "SELECT 1", "select 1 from seats for update", "UPDATE seats SET v = 1")
	f("SELECT 1", "SELECT 1", "SELECT * FROM seats")
}

func TestSplitTable(t *testing.T) {
	f := func(name, schema, table string) {
		t.Helper()
		if s, tb := splitTable(name); s != schema || tb != table {
			t.Errorf("%q: %q, %q", name, s, tb)
		}
	}
	f("`shop`.`orders`", "shop", "orders")
	f("orders", "", "orders")
	f("", "", "")
}
