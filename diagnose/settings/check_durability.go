package settings

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Thresholds of the settings that trade durability for speed.
const (
	syncsPerCommit = 0.8
	syncsPerSec    = 10 // fewer do not hold a service up
	slowWrite      = 2 * time.Millisecond
	fewWrites      = 100
	flushTimeout   = 3 // seconds
	hashHelps      = 0.5
)

func durabilityChecks() []*check {
	return []*check{
		{
			id: "DBC-01", area: areaDurability, title: "commits that wait for the disk", weight: costly,
			formula:   "syncs of the redo log / commits; innodb_flush_log_at_trx_commit, sync_binlog",
			threshold: "≥ 0.8 and ≥ 10 per second, with 1", run: checkSyncs,
		},
		{
			id: "DBC-02", area: areaDurability, title: "binary log without a reader", weight: costly,
			formula: "log_bin, replicas that read it, transactions written to it", threshold: "ON, none, > 0",
			needs: []Part{PartReaders}, run: checkBinlog,
			absent: func(s *state) string {
				if off(s.Variables["log_bin"]) {
					return "the binary log is off"
				}
				return ""
			},
		},
		{
			id: "DBC-03", area: areaDurability, title: "disk of the redo log", weight: costly,
			formula:   "mean time of a write to the disk, once commits do not wait for it",
			threshold: "> 2 ms, with innodb_flush_log_at_trx_commit ≠ 1",
			needs:     []Part{PartDiskTime}, run: checkWriteTime,
		},
		{
			id: "DBC-04", area: areaDurability, title: "redo log of a server to be thrown away", weight: remark,
			formula:   "Innodb_redo_log_enabled; bytes written to the redo log",
			threshold: "ON; ≥ 10 MiB per second, with innodb_flush_log_at_trx_commit ≠ 1", run: checkRedoOff,
			absent: func(s *state) string {
				if !s.mysqlFrom(8, 0, 21) {
					return "this server's redo log cannot be switched off"
				}
				return ""
			},
		},
		{
			id: "DBC-05", area: areaDurability, title: "adaptive hash index", weight: remark,
			formula:   "Innodb_adaptive_hash_hash_searches / all searches; else writes / all statements",
			threshold: "< 50 %; ≥ 50 %", run: checkHashIndex,
			absent: func(s *state) string {
				if off(s.Variables["innodb_adaptive_hash_index"]) {
					return "the adaptive hash index is off"
				}
				return ""
			},
		},
	}
}

// insertFigures are what others measured of the settings of DBC-01 together: one
// program of INSERTs with autocommit, and a contest's score. Further changes were in
// the score's step.
const insertFigures = "In write-ups, with all settings of DBC-01 together: a test of INSERTs took 1.77 s instead of 11.71 s in Go (6.6 ×) and 1.52 s instead of 9.67 s in Python (6.4 ×); a contest's score went from 33,240 to 40,492, other changes among it"

// writesOf is how many statements changed rows.
func writesOf(l *look) float64 {
	var sum float64
	for _, name := range [...]string{mysql.ComInsert, mysql.ComUpdate, mysql.ComDelete, mysql.ComReplace} {
		sum += l.g(name)
	}
	for _, name := range [...]string{mysql.ComInsertSelect, mysql.ComReplaceSelect, mysql.ComUpdateMulti,
		mysql.ComDeleteMulti} {
		if l.has(name) {
			sum += l.g(name)
		}
	}
	return sum
}

// commitsOf returns a lower bound of the transactions that changed something: those that
// ended with COMMIT or, where no session begins any, each statement that writes.
func commitsOf(l *look) float64 {
	n := l.g(mysql.ComCommit)
	if l.g(mysql.ComBegin) == 0 {
		n += writesOf(l)
	}
	return n
}

// syncsOf is how often the redo log was synced. MariaDB counts all files together.
func syncsOf(l *look) float64 {
	if l.has(mysql.InnodbOSLogFsyncs) {
		return l.g(mysql.InnodbOSLogFsyncs)
	}
	return l.g(mysql.InnodbDataFsyncs)
}

func checkSyncs(l *look) {
	flush, syncs, commits := l.v("innodb_flush_log_at_trx_commit"), syncsOf(l), commitsOf(l)
	binlog, _ := l.number("sync_binlog")
	syncing := flush == 1 || flush == 3 || binlog > 0 && on(l.Variables["log_bin"])
	ratio, perSec := syncs/max(commits, 1), l.perSec(syncs)
	measured := fmt.Sprintf("%s for %s commits, %s per second", countWords(syncs), countWords(commits), countWords(perSec))
	if !syncing || commits < few || ratio < syncsPerCommit || perSec < syncsPerSec {
		l.well("%s", measured)
		return
	}
	base := found{measured: measured, level: kasoku.Medium, counted: true,
		gain: "Commits that do not wait for the disk. " + insertFigures + "."}
	add := func(title, price, note string, changes []change) {
		if len(changes) > 0 {
			f := base
			f.title, f.price, f.note, f.changes = title, price, note, changes
			l.fire(f)
			base.gain = "As above"
		}
	}
	if flush != 0 && flush != 2 {
		add("Each commit waits until the disk has it",
			"Up to 1 s of commits is lost when the host or its power fails, 3 s with innodb_flush_log_at_timeout = 3; with 0 instead of 2 also when the server alone crashes", "",
			l.to("innodb_flush_log_at_trx_commit", "2"))
	}
	if on(l.Variables["log_bin"]) && binlog > 0 {
		add("Each commit waits for the binary log, too",
			"Transactions are missing in the binary log after the host or its power failed: replicas differ then",
			"Without replicas: DBC-02.",
			l.to("sync_binlog", "0"))
	}
	add("The redo log is synced each second", "Up to 3 s of commits is lost instead of 1 s",
		"Only with innodb_flush_log_at_trx_commit = 0 or 2.",
		l.raise("innodb_flush_log_at_timeout", flushTimeout))
	if on(l.Variables["innodb_doublewrite"]) {
		add("Each page is written twice",
			"A page half written when the power fails cannot be mended: the table, or the whole database, is lost",
			"For a database that can be made anew.",
			l.to("innodb_doublewrite", "OFF"))
	}
	if m := l.Variables["innodb_flush_method"]; strings.EqualFold(m, "O_DIRECT") || strings.EqualFold(m, "fsync") {
		add("Data files are synced after each write", "Files that grew may lack their end after the power failed", "",
			l.to("innodb_flush_method", "O_DIRECT_NO_FSYNC"))
	}
	if len(l.advice) == 0 {
		l.well("%s", measured)
	}
}

func checkBinlog(l *look) {
	if l.Readers > 0 {
		l.well("%s", unit.Counted(uint64(l.Readers), "replica reads it", "replicas read it"))
		return
	}
	if l.Replica != nil && l.Replica.Is || on(l.Variables["wsrep_on"]) ||
		l.Variables["group_replication_group_name"] != "" {
		l.well("the server is one of several that replicate")
		return
	}
	n := l.g(mysql.BinlogCacheUse)
	if n == 0 {
		l.well("nothing was written to it")
		return
	}
	l.fire(found{
		title: "The binary log is written, and no replica is connected", measured: countWords(n) + " transactions",
		level: kasoku.Medium, counted: true,
		changes: l.to("log_bin", "OFF"),
		gain:    "One write and one sync less for each commit. In a write-up performance fell a lot when an upgrade to MySQL 8 had switched it on; switching it off had a \"big effect\"",
		price:   "No recovery to a point in time between two backups, and no replicas",
		note:    "On MySQL 8 and later it is on unless it is switched off. Backups may copy it, and a reader may be away.",
	})
}

func checkWriteTime(l *look) {
	flush, mean := l.v("innodb_flush_log_at_trx_commit"), l.System.WriteTime
	measured := fmt.Sprintf("%s for each of %s", unit.Duration(mean), countWords(l.System.Writes))
	switch {
	case flush == 1 || flush == 3:
		l.well("commits wait for the disk: DBC-01 first")
	case l.System.Writes < fewWrites || mean <= slowWrite:
		l.well("%s", measured)
	default:
		l.fire(found{
			title: "The disk is slow to write, though commits do not wait for it", measured: measured,
			level: kasoku.Medium, counted: true,
			gain:  "In a write-up 1.20 s went to 1.11 s, and 1.52 s to 1.40 s, with the redo log in memory",
			price: "In memory (tmpfs): a crash of the host loses the whole database; the server does not start without its redo log",
			note:  "Put the data directory, or innodb_log_group_home_dir, on a faster disk. In memory only for a database that is thrown away. Never the undo log (DBC-07).",
		})
	}
}

// redoRate is how much is written to the redo log where switching it off can be felt.
const redoRate = 10 << 20

func checkRedoOff(l *look) {
	flush, written := l.v("innodb_flush_log_at_trx_commit"), l.g(mysql.InnodbOSLogWritten)
	perSec := l.perSec(written)
	measured := sizeWords(perSec) + " per second"
	switch {
	case off(l.Words["Innodb_redo_log_enabled"]):
		l.well("the redo log is off")
	case flush == 1 || flush == 3:
		l.well("commits wait for the disk: DBC-01 first")
	case perSec < redoRate:
		l.well("%s", measured)
	default:
		l.fire(found{
			title: "The redo log could be off on a server to be thrown away", measured: measured, level: kasoku.Low,
			counted: true,
			gain:    "No one has published a figure", price: "Any crash loses the whole database",
			note: "ALTER INSTANCE DISABLE INNODB REDO_LOG; before data is loaded, ENABLE after it. Never in production.",
		})
		l.advice[len(l.advice)-1].Risk = kasoku.RiskDurability
	}
}

// checkHashIndex judges the index in memory by how often it was of use or, where the
// server does not report that, by the share of writes, which have to maintain it.
func checkHashIndex(l *look) {
	f := found{
		title: "The adaptive hash index costs more than it helps", level: kasoku.Low, counted: true,
		price: "Reads by key may take longer",
		gain:  "Less waiting for its locks. It is part of contests' recipes, without a figure of its own: measure it",
		note:  "The recipe's innodb_log_file_size = 32M is not advised: see MYS-24.",
	}
	if !on(l.need("innodb_adaptive_hash_index")) {
		return
	}
	if l.has(mysql.InnodbAdaptiveHashHashSearches) {
		hash := l.g(mysql.InnodbAdaptiveHashHashSearches)
		all := hash + l.g(mysql.InnodbAdaptiveHashNonHashSearches)
		f.measured = fmt.Sprintf("%s: %s of %s", unit.Percent(hash/max(all, 1)), countWords(hash), countWords(all))
		if all < few || hash/all >= hashHelps {
			l.well("%s", f.measured)
			return
		}
	} else {
		writes, reads := writesOf(l), l.g(mysql.ComSelect)
		all := writes + reads
		f.measured = fmt.Sprintf("%s: %s of %s write", unit.Percent(writes/max(all, 1)), countWords(writes), countWords(all))
		if all < few || writes/all < 0.5 {
			l.well("%s", f.measured)
			return
		}
	}
	f.changes = l.to("innodb_adaptive_hash_index", "OFF")
	l.fire(f)
}
