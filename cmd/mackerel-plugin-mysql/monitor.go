package main

import (
	"strconv"
	"strings"
)

// A rule takes numbers from the lines of InnoDB's monitor that begin with some
// words. Numbers of several lines of one kind add up.
type rule struct {
	begins   string
	contains string // more words, which may be anywhere
	numbers  []number
}

// A number is one word of a line, counted from 0, and the metric that it is for.
type number struct {
	word   int
	metric string
}

// everywhere holds in all sections but those of transactions and of what was
// detected last: these have statements in them, which may say anything.
//
// Forms: MySQL 5.7 to 9.7, MariaDB 10.6 to 11.
var everywhere = []rule{
	{"RW-", "spins", []number{{2, "spin_waits"}, {4, "spin_rounds"}, {7, "os_waits"}}},
	{"ibuf aio reads: ", "", []number{{3, "pending_ibuf_aio_reads"}, {6, "pending_aio_log_ios"},
		{9, "pending_aio_sync_ios"}}},
	{"Pending flushes (fsync) log:", "", []number{{4, "pending_log_flushes"}, {7, "pending_buf_pool_flushes"}}},
	{"Ibuf: size ", "", []number{{2, "ibuf_used_cells"}, {6, "ibuf_free_cells"}, {9, "ibuf_cell_count"},
		{10, "ibuf_merges"}}},
	{"Hash table size ", "", []number{{3, "hash_index_cells_total"}}},
	{"", " log i/o's done, ", []number{{0, "log_writes"}}},
	{"", " pending log flushes, ", []number{{0, "log_pending_log_flushes"}, {4, "pending_chkp_writes"}}},
	{"", " pending log writes, ", []number{{0, "pending_log_writes"}, {4, "pending_chkp_writes"}}},
	{"Log sequence number", "", []number{{3, "log_bytes_written"}}},
	{"Log flushed up to", "", []number{{4, "log_bytes_flushed"}}},
	{"Last checkpoint at", "", []number{{3, "last_checkpoint"}}},
	{"Total large memory allocated", "", []number{{4, "total_mem_alloc"}}},
	{"", " read views open inside InnoDB", []number{{0, "read_views"}}},
}

// parseMonitor adds what SHOW ENGINE INNODB STATUS says to the values.
func parseMonitor(text string, stat map[string]float64) {
	got := map[string]float64{}
	section, merged := "", false
	var list transactions
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	fileIO := lastTitle(lines, "FILE I/O")
	for i, line := range lines {
		if title := titleAbove(lines, i); title != "" && follows(section, title, i-1 == fileIO) {
			section = title
			if section == "TRANSACTIONS" {
				none(got)
				list = transactions{got: got}
			}
		}
		switch {
		case strings.HasPrefix(section, "LATEST "):
		case section == "TRANSACTIONS":
			list.line(line)
		case merged:
			mergedOperations(got, line)
		case strings.HasPrefix(line, "Pending normal aio reads:"):
			pendingAIO(got, line)
		default:
			apply(got, everywhere, line)
		}
		merged = line == "merged operations:"
	}
	for metric, v := range got {
		stat[metric] = v
	}
}

// titleAbove returns the title of the section that begins below line i: the line above
// it, when this one and the one above that are drawn. Empty is none.
func titleAbove(lines []string, i int) string {
	if i < 2 || !isRule(lines[i]) || !isRule(lines[i-2]) {
		return ""
	}
	return lines[i-1]
}

// lastTitle is the number of the line with the last title of these words; -1 is none.
func lastTitle(lines []string, words string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if titleAbove(lines, i) == words {
			return i - 1
		}
	}
	return -1
}

// follows reports whether a title is one. Below what was detected last and among the
// transactions there are statements, in which people draw titles too: there it is only
// the one that a server puts next, and after the transactions the last of its words.
func follows(section, title string, isNext bool) bool {
	switch {
	case strings.HasPrefix(section, "LATEST "):
		return strings.HasPrefix(title, "LATEST ") || title == "TRANSACTIONS"
	case section == "TRANSACTIONS":
		return isNext
	}
	return true
}

// isRule reports whether a line is drawn above and below the title of a section.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "-") == ""
}

// none sets what is counted by transactions to 0: without any there is no line.
func none(got map[string]float64) {
	for _, metric := range []string{
		"current_transactions", "active_transactions", "locked_transactions", "innodb_lock_wait_secs",
		"innodb_tables_in_use", "innodb_locked_tables", "innodb_lock_structs",
	} {
		got[metric] = 0
	}
}

// apply adds the numbers of the first rule that fits.
func apply(got map[string]float64, rules []rule, line string) {
	for _, r := range rules {
		if !strings.HasPrefix(line, r.begins) || !strings.Contains(line, r.contains) {
			continue
		}
		words := strings.Fields(line)
		for _, n := range r.numbers {
			if v, ok := value(words, n.word); ok {
				got[n.metric] += v
			}
		}
		return
	}
}

// mergedOperations reads "insert 1, delete mark 2, delete 3".
func mergedOperations(got map[string]float64, line string) {
	words := strings.Fields(line)
	inserts, ok := value(words, 1)
	marks, ok2 := value(words, 4)
	deletes, ok3 := value(words, 6)
	if ok && ok2 && ok3 {
		got["ibuf_inserts"], got["ibuf_merged"] = inserts, inserts+marks+deletes
	}
}

// pendingAIO reads one of
//
//	Pending normal aio reads: 0, aio writes: 0,
//	Pending normal aio reads: 0 [0, 0, 0, 0] , aio writes: 0 [0, 0, 0, 0] ,
//	Pending normal aio reads: [0, 0, 0, 0] , aio writes: [0, 0, 0, 0] ,
func pendingAIO(got map[string]float64, line string) {
	reads, writes, _ := strings.Cut(strings.TrimPrefix(line, "Pending normal aio reads:"), "aio writes:")
	got["pending_normal_aio_reads"] = sum(reads)
	got["pending_normal_aio_writes"] = sum(writes)
}

// sum is the sum of the list in brackets or, without one, the first number.
func sum(s string) float64 {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	if _, list, ok := strings.Cut(s, "["); ok {
		list, _, _ = strings.Cut(list, "]")
		words = strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
	} else if len(words) > 1 {
		words = words[:1]
	}
	total := 0.0
	for i := range words {
		v, _ := value(words, i)
		total += v
	}
	return total
}

// value reads one word as a number; ok is false when it is none.
func value(words []string, i int) (v float64, ok bool) {
	if i >= len(words) {
		return 0, false
	}
	// Unsigned: all that is counted; so no NaN and no infinity either.
	n, err := strconv.ParseUint(strings.TrimRight(words[i], ",;"), 10, 64)
	return float64(n), err == nil
}
