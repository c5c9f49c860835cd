package settings

import (
	"fmt"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// What buffers are raised to. Each is one step: beyond it, indexes and smaller
// results do more than memory.
const (
	sortBuffer   = 4 << 20
	temporaries  = 64 << 20
	mostTemp     = 256 << 20
	binlogBuffer = 4 << 20
)

// fullJoins is the share of the SELECTs below which joins without an index are of small tables,
// as every application has some.
const fullJoins = 0.01

func queryChecks() []*check {
	return []*check{
		{
			id: "MYS-13", area: areaQueries, title: "sorts that did not fit into their buffer", weight: costly,
			formula: "Sort_merge_passes / (Sort_scan + Sort_range)", threshold: "> 10 %", run: checkSorts,
		},
		{
			id: "MYS-14", area: areaQueries, title: "joins without an index", weight: costly,
			formula:   "(Select_range_check + Select_full_join) per day, / Com_select",
			threshold: "> 250 and ≥ 1 %", run: checkJoins,
		},
		{
			id: "MYS-15", area: areaQueries, title: "temporary tables on disk", weight: costly,
			formula: "Created_tmp_disk_tables / Created_tmp_tables", threshold: "> 25 %, below 256 MiB in memory",
			run: checkTemporary,
		},
		{
			id: "MYS-22", area: areaServer, title: "transactions that did not fit into the binary log's cache",
			weight:  costly,
			formula: "(Binlog_cache_use − Binlog_cache_disk_use) / Binlog_cache_use", threshold: "< 90 %",
			run: checkBinlogCache,
			absent: func(s *state) string {
				if off(s.Variables["log_bin"]) {
					return "the binary log is off"
				}
				return ""
			},
		},
	}
}

// What raising a buffer may take of the memory, with as many statements at once as are
// likely. Temporary tables are seldom as large as they may be.
const (
	mostBuffers     = 0.10
	mostTemporaries = 0.25
)

// growBuffers raises what each connection may take, when that share of the memory holds it,
// whatever the buffer pool has: that is decided later.
func growBuffers(l *look, f *found, share, target float64, names ...string) {
	var more float64
	for _, n := range names {
		if v, ok := l.number(n); ok && v < target {
			more = max(more, (target-v)*l.statements())
		}
	}
	switch {
	case more == 0:
		return
	case !l.affords(more, share):
		f.note += " " + l.unaffordable(share)
		return
	}
	for _, n := range names {
		f.changes = append(f.changes, l.raise(n, target)...)
	}
	if len(f.changes) > 0 {
		f.price = fmt.Sprintf("Up to %s with %s at once", sizeWords(more), unit.Counted(uint64(l.statements()), "statement",
			"statements"))
		f.note += " It counts for connections opened afterwards: restart the application, or let its pool open new ones."
	}
}

func checkSorts(l *look) {
	passes, sorts := l.g(mysql.SortMergePasses), l.g(mysql.SortScan)+l.g(mysql.SortRange)
	switch {
	case sorts < few:
		l.well("only %s sorts", countWords(sorts))
	case passes/sorts <= 0.1:
		l.well("%s of %s", unit.Percent(passes/sorts), countWords(sorts))
	default:
		f := found{
			title: "Sorts go to disk", measured: fmt.Sprintf("%s: %s merges for %s sorts", unit.Percent(passes/sorts),
				countWords(passes), countWords(sorts)),
			level: kasoku.Medium, counted: true, gain: "Sorts in memory",
			note: "An index in the order of ORDER BY saves the sort itself.",
		}
		growBuffers(l, &f, mostBuffers, sortBuffer, "sort_buffer_size")
		l.fire(f)
	}
}

func checkJoins(l *look) {
	n := l.g(mysql.SelectRangeCheck) + l.g(mysql.SelectFullJoin)
	if perDay := l.perDay(n); n < 10 || perDay <= 250 {
		l.well("%s, %s per day", countWords(n), countWords(perDay))
		return
	}
	if selects := l.g(mysql.ComSelect); n < fullJoins*selects {
		l.well("%s, %s of the SELECTs", countWords(n), unit.Percent(n/max(selects, 1)))
		return
	}
	l.fire(found{
		title: "Joins read whole tables", measured: fmt.Sprintf("%s, %s per day", countWords(n), countWords(l.perDay(n))),
		level: kasoku.Medium, counted: true, gain: "Fewer rows read",
		note: "Where these tables are large, indexes on the columns of the join mend this, a larger join_buffer_size " +
			"does not; a table of some hundred rows is rightly read whole. `kasoku slowlog` and EXPLAIN name the statements.",
	})
}

func checkTemporary(l *look) {
	disk, all := l.g(mysql.CreatedTmpDiskTables), l.g(mysql.CreatedTmpTables)
	limit := l.temporary()
	if _, ok := l.Variables["tmp_table_size"]; !ok {
		l.missing = append(l.missing, "tmp_table_size")
	}
	switch {
	case all < few:
		l.well("only %s temporary tables", countWords(all))
	case disk/all <= 0.25:
		l.well("%s of %s", unit.Percent(disk/all), countWords(all))
	default:
		f := found{
			title: "Temporary tables go to disk", measured: fmt.Sprintf("%s: %s of %s", unit.Percent(disk/all),
				countWords(disk), countWords(all)),
			level: kasoku.Medium, counted: true, gain: "GROUP BY, DISTINCT and UNION in memory",
			note: "Columns of type TEXT and BLOB go to disk whatever the size: select fewer columns.",
		}
		if l.tempTable() { // which has such columns in memory, as of MySQL 8.0.13
			f.note = "Select fewer columns, and sort or group fewer rows."
		}
		switch {
		case limit >= mostTemp:
			f.note += " " + sizeWords(limit) + " in memory is enough: make the results smaller."
		case l.tempTable():
			growBuffers(l, &f, mostTemporaries, temporaries, "tmp_table_size")
		case l.tooFewRows(disk, limit):
			f.note = "They are too small for the size to be why: columns of type TEXT or BLOB go to disk whatever it is. " +
				"Sort, group and join without these columns, and read them for the rows that are left, by their keys; or " +
				"make short ones VARCHAR."
		default:
			growBuffers(l, &f, mostTemporaries, temporaries, "max_heap_table_size", "tmp_table_size")
		}
		l.fire(f)
	}
}

// temporaryRow is more bytes than a row of most temporary tables has.
const temporaryRow = 4 << 10

// tooFewRows reports whether tables on disk would be in memory if it were for their size: had
// they all the rows that were written to temporary tables, each row could take more than it does.
// It is not known of servers that do not count these rows.
//
// Sources: MariaDB documentation, "Server Status Variables", Handler_tmp_write; "MEMORY Storage
// Engine", which has no TEXT and no BLOB.
func (l *look) tooFewRows(disk, limit float64) bool {
	return l.has(mysql.HandlerTmpWrite) && l.g(mysql.HandlerTmpWrite)*temporaryRow < disk*limit
}

func checkBinlogCache(l *look) {
	use, disk := l.g(mysql.BinlogCacheUse), l.g(mysql.BinlogCacheDiskUse)
	switch hits := (use - disk) / max(use, 1); {
	case use < few:
		l.well("only %s transactions", countWords(use))
	case hits >= 0.9:
		l.well("%s of %s", unit.Percent(hits), countWords(use))
	default:
		f := found{
			title:    "Transactions are too large for the binary log's cache",
			measured: fmt.Sprintf("%s: %s of %s went to disk", unit.Percent(max(hits, 0)), countWords(disk), countWords(use)),
			level:    kasoku.Medium, counted: true, gain: "COMMIT without a temporary file",
			note: "Without replicas the binary log may not be needed at all (DBC-02).",
		}
		// Each session keeps its own, whether it runs a statement or not.
		if more := (binlogBuffer - l.v("binlog_cache_size")) * max(l.used(), l.Memory.MostOpen); l.affords(more, mostBuffers) {
			growBuffers(l, &f, mostBuffers, binlogBuffer, "binlog_cache_size")
			f.price = "Up to " + sizeWords(more) + " with the connections that were open at most"
		} else {
			f.note += " " + l.unaffordable(mostBuffers)
		}
		l.fire(f)
	}
}
