package settings

import (
	"fmt"
	"math"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

const gib = 1 << 30

func poolChecks() []*check {
	return []*check{
		{
			id: "MYS-01", area: areaMemory, title: "memory that the server took at most", weight: urgent,
			formula:   "(server buffers + per connection × Max_used_connections + performance_schema) / RAM",
			threshold: "> 85 %", needs: []Part{PartMemory}, run: checkReached,
		},
		{
			id: "MYS-03", area: areaMemory, title: "memory of the server and of other processes", weight: remark,
			formula: "server at max_connections + other processes, RAM", threshold: "> RAM",
			needs: []Part{PartMemory, PartOthers}, run: checkOthers,
		},
		{
			id: "MYS-23", area: areaInnoDB, title: "buffer pool and data", weight: costly,
			formula: "innodb_buffer_pool_size, data and indexes of InnoDB", threshold: "smaller",
			needs: []Part{PartTables}, run: checkPoolData, scored: true,
		},
		{
			id: "MYS-25", area: areaInnoDB, title: "pages found in the buffer pool", weight: urgent,
			formula:   "Innodb_buffer_pool_read_requests / (Innodb_buffer_pool_read_requests + Innodb_buffer_pool_reads)",
			threshold: "< 90 %", run: checkPoolHits, scored: true,
		},
		{
			id: "MYS-29", area: areaInnoDB, title: "parts of the buffer pool", weight: remark,
			formula: "innodb_buffer_pool_instances", threshold: "1 of a pool over 1 GiB; > 1 of a smaller one",
			needs: []Part{PartCores}, run: checkInstances,
			absent: noInstances,
		},
		{
			id: "MYS-30", area: areaInnoDB, title: "buffer pool in whole chunks", weight: remark,
			formula:   "innodb_buffer_pool_size % (innodb_buffer_pool_chunk_size × innodb_buffer_pool_instances)",
			threshold: "≠ 0", run: checkChunks,
			absent: func(s *state) string {
				if v, ok := s.number("innodb_buffer_pool_chunk_size"); ok && v == 0 || s.mariaFrom(10, 8, 0) {
					return "this server takes any size"
				}
				return ""
			},
		},
	}
}

// noInstances: MariaDB dropped the parts in 10.5, and MySQL chooses them from the
// cores and the pool itself since 8.4.
func noInstances(s *state) string {
	switch {
	case s.mariaFrom(10, 5, 0):
		return "this server has one pool"
	case s.mysqlFrom(8, 4, 0):
		return "this server chooses them from its cores"
	}
	return ""
}

// leastChunk is the least innodb_buffer_pool_chunk_size.
const leastChunk = 1 << 20

// poolSize rounds a size of the pool: to whole 128 MiB at least, and to whole chunks
// of all its parts on servers that have those.
func (s *state) poolSize(v float64, up bool) float64 {
	v = max(0, min(v, 1<<50))
	round := func(step float64) {
		if up {
			v = math.Ceil(v/step) * step
		} else {
			v = math.Floor(v/step) * step
		}
	}
	round(max(leastPool, chunkStep(v)))
	chunk := s.willOr("innodb_buffer_pool_chunk_size", 0)
	// Another size may want another number of parts; a few rounds settle it.
	for range 4 {
		if chunk >= leastChunk {
			round(chunk * s.parts(v))
		}
	}
	return v
}

// parts is how many parts a pool of that size should have: those that it has, where
// the cores are unknown or the server chooses them, and where there are several already.
func (s *state) parts(pool float64) float64 {
	switch {
	case noInstances(s) != "" || s.lack(PartCores) != nil || s.System.Cores == 0:
		return max(s.willOr("innodb_buffer_pool_instances", 1), 1)
	case pool <= gib:
		return 1
	case s.willOr("innodb_buffer_pool_instances", 1) > 1:
		return s.willOr("innodb_buffer_pool_instances", 1)
	}
	return max(1, min(math.Floor(pool/gib), float64(s.System.Cores), 64))
}

// chunkStep is an eighth of a size, cut to a power of two: 1 GiB of 8 to 16 GiB.
func chunkStep(v float64) float64 {
	if !(v > 8) {
		return 1
	}
	return math.Exp2(math.Floor(math.Log2(min(v, 1<<60) / 8)))
}

// innodbBytes is how large the tables of InnoDB are that the account sees.
func (s *state) innodbBytes() float64 {
	var sum float64
	for _, t := range s.Schema.Tables {
		if strings.EqualFold(t.Engine, "InnoDB") {
			sum += max(float64(t.DataBytes)+float64(t.IndexBytes), 0)
		}
	}
	return sum
}

// growth is how much larger a pool must be to be proposed.
const growth = 1.1

// Shares of the pages that are found in the pool: below the first it is too small, from the second
// on a larger one saves next to nothing.
const (
	leastHits  = 0.90
	enoughHits = 0.99
)

// poolHits returns the share of the pages that were found in the pool, where enough were asked for.
func (s *state) poolHits() (share float64, known bool) {
	from := s.Status
	if s.Grown != nil {
		from = s.Grown
	}
	requests, reads := max(from[mysql.InnodbBufferPoolReadRequests], 0), max(from[mysql.InnodbBufferPoolReads], 0)
	return requests / max(requests+reads, 1), requests+reads >= few
}

// manyReads is the number of pages a second, 16 MB of them, from which those that were read from disk
// cost statements time, however small their share is of all that were looked at: a search that reads a
// table's pages looks at each of them many times.
const manyReads = 1000

// readsEachSecond returns how many pages a second were read from disk in a window of load; 0 where there is none.
func (s *state) readsEachSecond() float64 {
	if s.Grown == nil || s.Window <= 0 {
		return 0
	}
	return max(s.Grown[mysql.InnodbBufferPoolReads], 0) / s.Window.Seconds()
}

// missesPages reports whether a tenth of the pages were not in the pool.
func missesPages(s *state) bool {
	hits, known := s.poolHits()
	return known && hits < leastHits
}

// wantedPool is the pool that would hold the data. Where not all of it is seen and
// pages are missed, it is half of the memory.
func (s *state) wantedPool() float64 {
	want := 0.0
	if s.Schema != nil {
		want = s.innodbBytes() * growth
	}
	if (s.Schema == nil || s.Schema.Partial) && missesPages(s) {
		want = max(want, float64(s.Memory.RAM)/2)
	}
	return want
}

// growPool proposes the pool that is wanted, as far as the memory allows.
func growPool(l *look, f *found) {
	want := l.wantedPool()
	pool := l.will("innodb_buffer_pool_size")
	switch {
	case l.Memory.RAM == 0:
		f.note += l.unaffordable(mostBuffers)
		return
	case !l.Memory.Seen && !l.Memory.Said:
		f.note += "No larger one is proposed: what other programs of its host use is not known; give --ram."
		return
	}
	room := l.poolSize(l.roomForPool(goodMemory), false)
	target := min(l.poolSize(want, true), room)
	if target < pool*growth {
		f.note += fmt.Sprintf("More does not fit: %s, %s, leaves %s for the pool.", l.Memory.From,
			sizeWords(float64(l.Memory.RAM)), sizeWords(max(room, 0)))
		return
	}
	f.changes = l.to("innodb_buffer_pool_size", wholeWords(target))
	f.price = sizeWords(target-pool) + " of " + sizeWords(float64(l.Memory.RAM))
	if room < l.poolSize(want, true) {
		f.note += fmt.Sprintf("All of it would take %s; %s leaves %s.", sizeWords(want), l.Memory.From, sizeWords(room))
	}
}

func checkPoolData(l *look) {
	pool, data := l.will("innodb_buffer_pool_size"), l.innodbBytes()
	measured := fmt.Sprintf("%s for %s%s", sizeWords(pool), sizeWords(data), l.seen())
	if pool >= data {
		l.well("%s", measured)
		return
	}
	f := found{
		title: "The buffer pool is smaller than the data", measured: measured, level: kasoku.High,
		gain: "Reads from memory instead of from disk, when all of the data is in use",
	}
	hits, known := l.poolHits()
	reads := l.readsEachSecond()
	switch {
	case known && hits >= leastHits && reads >= manyReads:
		f.level = kasoku.Medium
		f.note = countWords(math.Round(reads)) + " pages a second were read from disk, though " + unit.Percent(hits) + " were found in it. "
	case known && hits >= leastHits:
		f.level, f.weight = kasoku.Low, remark
		f.note = unit.Percent(hits) + " of the pages were found in it. "
	}
	if !known || hits < enoughHits || reads >= manyReads {
		growPool(l, &f)
	}
	f.note = strings.TrimSpace(f.note)
	l.fire(f)
}

func checkPoolHits(l *look) {
	requests, reads := l.g(mysql.InnodbBufferPoolReadRequests), l.g(mysql.InnodbBufferPoolReads)
	all := requests + reads
	switch hits := requests / max(all, 1); {
	case all < few:
		l.well("only %s pages", countWords(all))
	case !missesPages(l.state):
		l.well("%s of %s", unit.Percent(hits), countWords(all))
	default:
		f := found{
			title: "Pages are read from disk", measured: fmt.Sprintf("%s: %s of %s were not in the pool",
				unit.Percent(hits), countWords(reads), countWords(all)),
			level: kasoku.Medium, counted: true, gain: "Reads from memory",
		}
		pool := l.will("innodb_buffer_pool_size")
		_, decided := l.decided["innodb_buffer_pool_size"]
		switch {
		case decided:
			f.note = l.decided["innodb_buffer_pool_size"].check + " proposes a larger pool."
		case l.Schema != nil && !l.Schema.Partial && pool >= l.innodbBytes():
			f.note = "The pool holds all of the data: it was cold, or the tables were new."
		case l.Schema != nil && !l.Schema.Partial:
			f.note = "See MYS-23. Indexes let statements read fewer pages."
		default:
			growPool(l, &f)
		}
		l.fire(f)
	}
}

func checkInstances(l *look) {
	pool, present := l.will("innodb_buffer_pool_size"), l.v("innodb_buffer_pool_instances")
	want := l.parts(pool)
	if present == want {
		l.well("%s for %s", countWords(present), sizeWords(pool))
		return
	}
	l.fire(found{
		title: "The buffer pool has another number of parts than fits it", measured: fmt.Sprintf("%s for %s and %s",
			countWords(present), sizeWords(pool), unit.Counted(uint64(max(l.System.Cores, 0)), "core", "cores")),
		level: kasoku.Low, changes: l.to("innodb_buffer_pool_instances", wholeWords(want)),
		gain: "Less waiting for the locks of the pool, under many threads",
	})
}

func checkChunks(l *look) {
	pool, chunk := l.will("innodb_buffer_pool_size"), l.will("innodb_buffer_pool_chunk_size")
	parts := l.willOr("innodb_buffer_pool_instances", 1)
	step := chunk * max(parts, 1)
	if chunk < leastChunk || math.Mod(pool, step) == 0 {
		l.well("%s in steps of %s", sizeWords(pool), sizeWords(max(step, 0)))
		return
	}
	aligned := math.Floor(pool/step) * step
	f := found{
		title: "The buffer pool is no whole number of chunks", measured: fmt.Sprintf("%s in steps of %s", sizeWords(pool),
			sizeWords(step)),
		level: kasoku.High, gain: "The server takes what is written: it rounds up by itself",
	}
	if aligned >= leastPool {
		f.changes = l.to("innodb_buffer_pool_size", wholeWords(aligned))
	}
	l.fire(f)
}
