package settings

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Sizes of the redo log and of its buffer.
const (
	logBuffer     = 64 << 20
	leastRedo     = 48 << 20  // MySQL's and MariaDB's default before they chose larger ones
	leastCapacity = 100 << 20 // innodb_redo_log_capacity's default
	mostCapacity  = 16 << 30
	redoShare     = 0.25 // of the pool, that is proposed
	leastShare    = 0.20 // of the pool, below which it is
	diskShare     = 0.25 // of what is free on the disk
	// leastRate is the shortest time that a rate per hour is read from.
	leastRate = 5 * time.Second
)

func logBufferChecks() []*check {
	return []*check{
		{
			id: "MYS-27", area: areaInnoDB, title: "waits for the redo log's buffer", weight: costly,
			formula: "Innodb_log_waits / Innodb_log_writes", threshold: "> 0.0001 %", run: checkLogWaits,
		},
		{
			id: "MYS-26", area: areaInnoDB, title: "writes to the redo log's buffer", weight: costly,
			formula:   "(Innodb_log_write_requests − Innodb_log_writes) / Innodb_log_write_requests",
			threshold: "< 90 %, with Innodb_log_waits > 0", run: checkLogWrites,
		},
	}
}

func redoChecks() []*check {
	return []*check{{
		id: "MYS-24", area: areaInnoDB, title: "size of the redo log", weight: costly,
		formula:   "redo log / buffer pool; innodb_redo_log_capacity: Innodb_os_log_written per hour",
		threshold: "< 20 %; capacity below an hour's writes, within 100 MiB … 16 GiB", run: checkRedo,
	}}
}

func checkLogWaits(l *look) {
	waits, writes := l.g(mysql.InnodbLogWaits), l.g(mysql.InnodbLogWrites)
	if waits == 0 || waits/max(writes, 1) <= 1e-6 {
		l.well("%s for %s writes", countWords(waits), countWords(writes))
		return
	}
	f := found{
		title: "Transactions wait for room in the redo log's buffer", measured: fmt.Sprintf("%s for %s writes",
			countWords(waits), countWords(writes)),
		level: kasoku.High, counted: true, weight: urgent, gain: "Large transactions without waiting",
	}
	growLogBuffer(l, &f)
	l.fire(f)
}

func checkLogWrites(l *look) {
	requests, writes, waits := l.g(mysql.InnodbLogWriteRequests), l.g(mysql.InnodbLogWrites), l.g(mysql.InnodbLogWaits)
	hits := (requests - writes) / max(requests, 1)
	switch {
	case waits == 0:
		l.well("nothing waited: Innodb_log_waits is 0")
	case requests < few || hits >= 0.9:
		l.well("%s of %s", unit.Percent(max(hits, 0)), countWords(requests))
	default:
		f := found{
			title: "The redo log's buffer is written out often, and transactions wait", level: kasoku.Medium,
			counted: true,
			measured: fmt.Sprintf("%s: %s writes for %s requests, %s waited", unit.Percent(max(hits, 0)),
				countWords(writes), countWords(requests), countWords(waits)),
			gain: "Fewer, larger writes",
		}
		if d, ok := l.decided["innodb_log_buffer_size"]; ok {
			f.note = "The buffer is " + d.check + "'s."
		} else {
			growLogBuffer(l, &f)
		}
		l.fire(f)
	}
}

func growLogBuffer(l *look, f *found) {
	present := l.v("innodb_log_buffer_size")
	switch {
	case present >= logBuffer:
		f.note = sizeWords(present) + " is enough: the disk is slow, or transactions are very large."
	case !l.affords(logBuffer-present, mostBuffers):
		f.note = l.unaffordable(mostBuffers)
	default:
		f.changes = l.raise("innodb_log_buffer_size", logBuffer)
		f.price = sizeWords(logBuffer - present)
	}
}

// checkRedo wants a redo log that the pool's changed pages can wait for. One that is
// too large costs disk and time after a crash only, so it is left.
func checkRedo(l *look) {
	pool := l.will("innodb_buffer_pool_size")
	if _, ok := l.number("innodb_redo_log_capacity"); ok {
		checkCapacity(l, pool)
		return
	}
	one, files := l.v("innodb_log_file_size"), 1.0
	if n, ok := l.number("innodb_log_files_in_group"); ok && n > 0 {
		files = n
	}
	total := one * files
	measured := fmt.Sprintf("%s: %s for a pool of %s", unit.Percent(total/max(pool, 1)), sizeWords(total), sizeWords(pool))
	if total >= leastShare*pool || total >= mostCapacity {
		l.well("%s", measured)
		return
	}
	target := min(max(sensibleSize(redoShare*pool, true), leastRedo), mostCapacity)
	f := found{
		title: "The redo log is small for the buffer pool", measured: measured, level: kasoku.Medium,
		gain:  "Changed pages are written later, and together",
		price: sizeWords(target-total) + " of disk; a longer start after a crash",
		note:  "A quarter of the pool.",
	}
	if fitsDisk(l, &f, target-total) {
		f.changes = l.raise("innodb_log_file_size", sensibleSize(target/files, true))
	}
	l.fire(f)
}

// checkCapacity is for servers that size their redo log by one number.
func checkCapacity(l *look, pool float64) {
	capacity, written := l.v("innodb_redo_log_capacity"), l.g(mysql.InnodbOSLogWritten)
	if l.span() < leastRate {
		l.well("%s; counted for %s only", sizeWords(capacity), unit.Elapsed(l.span()))
		return
	}
	perHour := l.perSec(written) * time.Hour.Seconds()
	// More than the pool holds changed pages of is of little use.
	want := max(min(perHour, max(pool, gib), mostCapacity), leastCapacity)
	measured := fmt.Sprintf("%s; %s written per hour", sizeWords(capacity), sizeWords(perHour))
	if capacity >= want {
		l.well("%s", measured)
		return
	}
	f := found{
		title: "The redo log holds less than an hour of writes", measured: measured, level: kasoku.Medium,
		counted: true,
		gain:    "Changed pages are written later, and together",
		note:    "At most as large as the buffer pool, or 1 GiB.",
	}
	target := min(sensibleSize(want, true), mostCapacity)
	f.price = sizeWords(target-capacity) + " of disk; a longer start after a crash"
	if fitsDisk(l, &f, target-capacity) {
		f.changes = l.raise("innodb_redo_log_capacity", target)
	}
	l.fire(f)
}

// fitsDisk reports whether the disk has room for so much more, where that is known.
func fitsDisk(l *look, f *found, more float64) bool {
	if free := float64(l.System.FreeBytes); free > 0 && more > free*diskShare {
		f.note += fmt.Sprintf(" Not proposed: only %s are free on its disk.", sizeWords(free))
		f.price = ""
		return false
	}
	return true
}
