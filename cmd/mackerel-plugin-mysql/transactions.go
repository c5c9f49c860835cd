package main

import "strings"

// inTransaction are the lines of one transaction above its statement.
var inTransaction = []rule{
	{"mysql tables in use", "", []number{{4, "innodb_tables_in_use"}, {6, "innodb_locked_tables"}}},
	{"LOCK WAIT ", "lock struct(s)", []number{{2, "innodb_lock_structs"}}},
	{"", " lock struct(s), heap size", []number{{0, "innodb_lock_structs"}}},
}

// A transactions reads the section of this name: some lines, then the transactions, each
// with its statement, below which there is only how long it has waited. So a line counts
// only where a server writes it.
type transactions struct {
	got       map[string]float64
	listed    bool // the transactions have begun
	statement bool // below the line of the thread: its statement
	waits     bool // the transaction waits, and it is not yet known for how long
}

// line takes one line.
func (t *transactions) line(line string) {
	switch {
	case strings.HasPrefix(line, "---TRANSACTION "):
		*t = transactions{got: t.got, listed: true}
		t.got["current_transactions"]++
		if strings.Contains(line, "ACTIVE") {
			t.got["active_transactions"]++
		}
	case !t.listed:
		t.listed = strings.HasPrefix(line, "LIST OF TRANSACTIONS")
		apply(t.got, []rule{
			{"Trx id counter", "", []number{{3, "innodb_transactions"}}},
			{"History list length", "", []number{{3, "history_list"}}},
		}, line)
	case t.statement:
		if t.waits && strings.HasPrefix(line, "------- TRX HAS BEEN WAITING ") {
			t.waits = false
			t.wait(strings.Fields(line))
		}
	case strings.HasPrefix(line, "MySQL thread id "), strings.HasPrefix(line, "MariaDB thread id "):
		t.statement = true
	default:
		if strings.HasPrefix(line, "LOCK WAIT ") {
			t.waits = true
			t.got["locked_transactions"]++
		}
		apply(t.got, inTransaction, line)
	}
}

// wait adds how long a transaction has waited: MySQL says it in seconds, MariaDB in
// millionths of them.
func (t *transactions) wait(words []string) {
	v, _ := value(words, 5)
	if len(words) > 6 && words[6] == "us" {
		v /= 1e6
	}
	t.got["innodb_lock_wait_secs"] += v
}
