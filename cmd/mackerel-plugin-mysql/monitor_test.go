package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
)

func TestParseMonitor(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stat := map[string]float64{}
		parseMonitor(string(text), stat)
		var b bytes.Buffer
		for _, metric := range slices.Sorted(maps.Keys(stat)) {
			fmt.Fprintf(&b, "%s %v\n", metric, stat[metric])
		}
		golden.Check(t, strings.TrimSuffix(file, ".txt")+".golden", b.Bytes())
	}
}

// TestParseMonitor_Forms holds the lines of servers that are not at hand.
func TestParseMonitor_Forms(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]float64
	}{
		{"MySQL 5.7, semaphores", "RW-shared spins 10, rounds 20, OS waits 3\nRW-excl spins 1, rounds 2, OS waits 4\nRW-sx spins 5, rounds 6, OS waits 7\nSpin rounds per wait: 2.00 RW-shared, 2.00 RW-excl, 1.20 RW-sx",
			map[string]float64{"spin_waits": 16, "spin_rounds": 28, "os_waits": 14}},
		{"MySQL 5.7, I/O", "Pending normal aio reads: 2 [0, 2, 0, 0] , aio writes: 5 [5, 0, 0, 0] ,\n ibuf aio reads: 1, log i/o's: 2, sync i/o's: 3\nPending flushes (fsync) log: 4; buffer pool: 5",
			map[string]float64{"pending_normal_aio_reads": 2, "pending_normal_aio_writes": 5, "pending_ibuf_aio_reads": 1, "pending_aio_log_ios": 2, "pending_aio_sync_ios": 3, "pending_log_flushes": 4, "pending_buf_pool_flushes": 5}},
		{"plain I/O", "Pending normal aio reads: 7, aio writes: 8,", map[string]float64{"pending_normal_aio_reads": 7, "pending_normal_aio_writes": 8}},
		{"MySQL 5.7, log", "Log sequence number 12665751\nLog flushed up to   12665750\nPages flushed up to 12665751\nLast checkpoint at  12665742\n1 pending log flushes, 2 pending chkp writes\n10 log i/o's done, 0.00 log i/o's/second",
			map[string]float64{"log_bytes_written": 12665751, "log_bytes_flushed": 12665750, "last_checkpoint": 12665742, "log_pending_log_flushes": 1, "pending_chkp_writes": 2, "log_writes": 10}},
		{"change buffer", "Ibuf: size 1, free list len 3, seg size 2, 9 merges\nmerged operations:\n insert 5, delete mark 6, delete 7\ndiscarded operations:\n insert 1, delete mark 1, delete 1",
			map[string]float64{"ibuf_used_cells": 1, "ibuf_free_cells": 3, "ibuf_cell_count": 2, "ibuf_merges": 9, "ibuf_inserts": 5, "ibuf_merged": 18}},
		{"a statement says what it likes", "---\nTRANSACTIONS\n---\nTrx id counter 7\nUPDATE t SET a = '\nLog sequence number 99\n12 read views open inside InnoDB'",
			map[string]float64{"innodb_transactions": 7, "current_transactions": 0, "active_transactions": 0, "locked_transactions": 0, "innodb_lock_wait_secs": 0, "innodb_tables_in_use": 0, "innodb_locked_tables": 0, "innodb_lock_structs": 0}},
		{"the deadlock before", "---\nLATEST DETECTED DEADLOCK\n---\nmysql tables in use 1, locked 1\nLog sequence number 99\n---\nLOG\n---\nLog sequence number 5\n---\nTRANSACTIONS\n---\n---\nFILE I/O\n---\nLog sequence number 6",
			map[string]float64{"log_bytes_written": 6, "current_transactions": 0, "active_transactions": 0, "locked_transactions": 0, "innodb_lock_wait_secs": 0, "innodb_tables_in_use": 0, "innodb_locked_tables": 0, "innodb_lock_structs": 0}},
		{"a statement draws titles and says what the monitor does", strings.Join([]string{
			"---", "TRANSACTIONS", "---", "Trx id counter 7", "History list length 3", "LIST OF TRANSACTIONS FOR EACH SESSION:",
			"---TRANSACTION 5, ACTIVE 5 sec", "mysql tables in use 1, locked 1", "LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)",
			"MySQL thread id 61, OS thread handle 1, query id 1 localhost root updating",
			"-----", "the query", "-----", "mysql tables in use 44, locked 43", "LOCK WAIT 77 lock struct(s), heap size 1", "66 lock struct(s), heap size 1",
			"History list length 99", "Trx id counter 99", "--------", "FILE I/O", "--------", "Hash table size 99,", "UPDATE t",
			"------- TRX HAS BEEN WAITING 2 SEC FOR THIS LOCK TO BE GRANTED:", "------- TRX HAS BEEN WAITING 99 SEC FOR THIS LOCK TO BE GRANTED:",
			"---TRANSACTION 6, ACTIVE 5 sec", "3 lock struct(s), heap size 1128", "MariaDB thread id 1, OS thread", "------- TRX HAS BEEN WAITING 99 SEC FOR THIS",
			"--------", "FILE I/O", "--------", "Hash table size 8,",
		}, "\n"), map[string]float64{"innodb_transactions": 7, "history_list": 3, "current_transactions": 2, "active_transactions": 2, "locked_transactions": 1,
			"innodb_lock_wait_secs": 2, "innodb_tables_in_use": 1, "innodb_locked_tables": 1, "innodb_lock_structs": 5, "hash_index_cells_total": 8}},
		{"words that are missing", "RW-shared spins\nLog sequence number\nLog flushed up to x\nIbuf: size -1,\nHash table size NaN\n", map[string]float64{}},
	} {
		got := map[string]float64{}
		parseMonitor(tt.text, got)
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", tt.name, got, tt.want)
		}
	}
}

func TestStateOf(t *testing.T) {
	for text, want := range map[string]string{
		"": "none", "Sending data": "sending_data", "updating": "updating", "Updating": "updating",
		"Table lock": "locked", "Waiting for table metadata lock": "locked", "Waiting for event metadata lock": "locked",
		"executing": "other", "Copying to tmp table": "copying_to_tmp_table", "Copying to tmp table on disk": "other",
	} {
		if got := stateOf(&text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := stateOf(nil); got != "other" {
		t.Errorf("NULL: %s", got)
	}
}

func TestAddNumbers(t *testing.T) {
	got := map[string]float64{}
	addNumbers(got, map[string]string{"a": "1", "b": "1.5", "c": "ON", "d": "", "e": "NaN", "f": "0x10", "g": "18446744073709551615", "h": "1e3"})
	if want := map[string]float64{"a": 1, "b": 1.5, "g": 18446744073709551615}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLabelPrefix(t *testing.T) {
	for prefix, want := range map[string]string{
		"mysql": "MySQL", "my-app": "My-App", "mysql.shop": "MySQL.shop", "mysql_shop": "MySQL_shop", "mysql-2nd": "MySQL-2Nd", "db": "Db", "a mysql": "A MySQL", "": "",
	} {
		if got := labelPrefix(prefix); got != want {
			t.Errorf("%q: got %q, want %q", prefix, got, want)
		}
	}
}

func FuzzParseMonitor(f *testing.F) {
	for _, file := range []string{"testdata/mariadb-10.11.txt", "testdata/mysql-9.7.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("Pending normal aio reads: [1, x, , aio writes: ]3[\nmerged operations:\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		stat := map[string]float64{}
		parseMonitor(text, stat)
		for metric, v := range stat {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%s is %v", metric, v)
			}
		}
	})
}
