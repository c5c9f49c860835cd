package settings

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Settings of InnoDB's threads.
const (
	solidCapacity  = 2000 // pages per second that any solid-state disk writes
	mostReadAhead  = 64   // innodb_read_ahead_threshold's greatest: read ahead least
	purgeThreads   = 4
	longHistory    = 100000
	oldTransaction = time.Hour
	fewWaits       = 0.1 // a second: fewer are those of one import
)

func innodbChecks() []*check {
	return []*check{
		{
			id: "MYS-28", area: areaInnoDB, title: "a file for each table", weight: remark,
			formula: "innodb_file_per_table", threshold: "OFF", run: checkFilePerTable,
		},
		{
			id: "MYS-35", area: areaInnoDB, title: "how the disk is written to", weight: costly,
			formula: "innodb_flush_neighbors, innodb_io_capacity on a solid-state disk", threshold: "≠ 0; ≤ 200",
			needs: []Part{PartDisk}, run: checkSolidDisk,
		},
		{
			id: "MYS-31", area: areaInnoDB, title: "waits for a free page", weight: urgent,
			formula: mysql.InnodbBufferPoolWaitFree, threshold: "≥ 10 and ≥ 0.1 per second", run: checkWaitFree,
		},
		{
			id: "MYS-32", area: areaInnoDB, title: "pages read ahead for nothing", weight: costly,
			formula: "Innodb_buffer_pool_read_ahead_evicted / Innodb_buffer_pool_read_ahead", threshold: "> 20 %",
			run: checkReadAhead,
		},
		{
			id: "MYS-33", area: areaInnoDB, title: "old versions of rows", weight: costly,
			formula: mysql.InnodbHistoryListLength, threshold: "> 100,000", run: checkHistory,
		},
		{
			id: "MYS-34", area: areaInnoDB, title: "the oldest transaction", weight: costly,
			formula: "age of the oldest transaction", threshold: "> 1 h", needs: []Part{PartTransactions},
			run: checkOldest,
		},
		{
			id: "MYS-36", area: areaInnoDB, title: "lost updates under REPEATABLE READ", weight: remark,
			formula: "innodb_snapshot_isolation, transaction_isolation", threshold: "OFF with REPEATABLE-READ",
			run: checkSnapshot,
			absent: func(s *state) string {
				if _, ok := s.Variables["innodb_snapshot_isolation"]; !ok && len(s.Variables) > 0 {
					return "this server has no innodb_snapshot_isolation"
				}
				return ""
			},
		},
	}
}

func checkFilePerTable(l *look) {
	if on(l.need("innodb_file_per_table")) {
		l.well("ON")
		return
	}
	l.fire(found{
		title: "All tables share one file", measured: "OFF", level: kasoku.High,
		changes: l.to("innodb_file_per_table", "ON"),
		gain:    "DROP and OPTIMIZE give the space back", note: "It counts for tables made or altered afterwards.",
	})
}

func checkSolidDisk(l *look) {
	neighbors, capacity := l.v("innodb_flush_neighbors"), l.v("innodb_io_capacity")
	measured := fmt.Sprintf("innodb_flush_neighbors %s, innodb_io_capacity %s", countWords(neighbors), countWords(capacity))
	if *l.System.Rotational {
		l.well("%s; the disk turns", measured)
		return
	}
	if neighbors != 0 {
		l.fire(found{
			title:    "Pages are written with their neighbours, which a solid-state disk has no use for",
			measured: countWords(neighbors), level: kasoku.Medium,
			formula: "innodb_flush_neighbors on a solid-state disk", limit: "≠ 0",
			changes: l.to("innodb_flush_neighbors", "0"), gain: "Fewer pages written",
		})
	}
	if capacity <= 200 {
		l.fire(found{
			title: "InnoDB writes as if its disk were turning", measured: countWords(capacity), level: kasoku.Medium,
			formula: "innodb_io_capacity on a solid-state disk", limit: "≤ 200", changes: raiseIOCapacity(l),
			gain:  "Changed pages are written in the background, not by those who wait",
			price: "Up to 2,000 pages per second written in the background",
		})
	}
	if len(l.advice) == 0 {
		l.well("%s", measured)
	}
}

// raiseIOCapacity raises what InnoDB may write, its upper limit first: the server wants it
// greater.
func raiseIOCapacity(l *look) []change {
	return append(l.raise("innodb_io_capacity_max", 2*solidCapacity), l.raise("innodb_io_capacity", solidCapacity)...)
}

func checkWaitFree(l *look) {
	waits := l.g(mysql.InnodbBufferPoolWaitFree)
	if perSec := l.perSec(waits); waits < 10 || perSec < fewWaits {
		l.well("%s, %s per second", countWords(waits), unit.Sig3(perSec))
		return
	}
	f := found{
		title: "Statements wait until pages are written out", measured: countWords(waits), level: kasoku.High,
		counted: true, gain: "Free pages at hand",
	}
	switch {
	case l.System.Rotational == nil:
		f.note = "On a solid-state disk innodb_io_capacity = 2000 and innodb_io_capacity_max = 4000 help; whether it is " +
			"one is not known."
	case *l.System.Rotational:
		f.note = "The disk turns: a larger pool or fewer writes help, not a higher innodb_io_capacity."
	case l.v("innodb_io_capacity") >= solidCapacity:
		f.note = "innodb_io_capacity is high enough: a larger pool, a faster disk or fewer writes help."
	default:
		f.changes = raiseIOCapacity(l)
		f.price = "Up to 2,000 pages per second written in the background"
		if len(f.changes) == 0 {
			f.note = "See MYS-35."
		}
	}
	l.fire(f)
}

func checkReadAhead(l *look) {
	ahead, evicted := l.g(mysql.InnodbBufferPoolReadAhead), l.g(mysql.InnodbBufferPoolReadAheadEvicted)
	switch {
	case ahead < few:
		l.well("only %s pages", countWords(ahead))
	case evicted/ahead <= 0.2:
		l.well("%s of %s", unit.Percent(evicted/ahead), countWords(ahead))
	default:
		f := found{
			title:    "Pages are read ahead and dropped unused",
			measured: fmt.Sprintf("%s: %s of %s", unit.Percent(evicted/ahead), countWords(evicted), countWords(ahead)),
			level:    kasoku.Medium, counted: true, changes: l.raise("innodb_read_ahead_threshold", mostReadAhead),
			gain: "Fewer reads from disk",
		}
		if len(f.changes) == 0 {
			f.note = "It reads ahead as little as it can: a larger pool helps."
		}
		l.fire(f)
	}
}

func checkHistory(l *look) {
	length, ok := l.Status[mysql.InnodbHistoryListLength]
	if t := l.Transactions; !ok && t != nil && t.Counted {
		length, ok = t.History, true
	}
	if lack := l.lack(PartTransactions); !ok && lack != nil {
		l.blindly(lack.Why, lack.Grant)
		return
	}
	if !ok {
		length = l.s(mysql.InnodbHistoryListLength)
	}
	if length <= longHistory {
		l.well("%s", countWords(length))
		return
	}
	l.fire(found{
		title: "Old versions of rows pile up", measured: countWords(length), level: kasoku.High,
		changes: l.raise("innodb_purge_threads", purgeThreads),
		gain:    "Reads that skip fewer old versions",
		note:    "A transaction that stays open keeps them: look for it first (MYS-34).",
	})
}

func checkOldest(l *look) {
	oldest := l.Transactions.Oldest
	if oldest <= oldTransaction {
		l.well("%s", unit.Exact(oldest))
		return
	}
	l.fire(found{
		title: "A transaction has been open for long", measured: unit.Elapsed(oldest), level: kasoku.High,
		weight: urgent,
		gain:   "Locks and old versions are given up",
		note:   "SELECT trx_mysql_thread_id, trx_started, trx_query FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT 1; then mend who forgot COMMIT.",
	})
}

func checkSnapshot(l *look) {
	level := l.Variables["transaction_isolation"]
	if level == "" {
		level = l.need("tx_isolation")
	}
	if on(l.need("innodb_snapshot_isolation")) || !strings.EqualFold(level, "REPEATABLE-READ") {
		l.well("%s, %s", l.Variables["innodb_snapshot_isolation"], level)
		return
	}
	l.fire(found{
		title: "Two transactions can overwrite each other's update unseen", measured: "OFF, " + level,
		level: kasoku.Low,
		gain:  "Lost updates become errors",
		note: "innodb_snapshot_isolation = ON makes them Error 1020, \"Record has changed since last read\": an application " +
			"that does not repeat the transaction then fails where it worked. MariaDB has it ON since 11.6.2.",
	})
}
