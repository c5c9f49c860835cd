package settings

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Sizes of caches.
const (
	queryCache     = 64 << 20
	largestQuery   = 128 << 20
	leastKeyBuffer = 8 << 20
	keyShare       = 0.05 // of the host's memory, from which a key buffer is worth a look
	mostKeyShare   = 0.25
	keyBlock       = 1024 // bytes, key_cache_block_size's default
	leastOpenCache = 2000
)

func cacheChecks() []*check {
	return []*check{
		{
			id: "MYS-11", area: areaCaches, title: "query cache", weight: costly,
			formula: "Qcache_hits / (Com_select + Qcache_hits; MariaDB: Com_select)", threshold: "< 20 %",
			run: checkQueryCache, absent: noQueryCache,
		},
		{
			id: "MYS-12", area: areaCaches, title: "results that the query cache dropped for lack of memory",
			weight:  costly,
			formula: "Qcache_lowmem_prunes per day", threshold: "> 98", run: checkPrunes, absent: noQueryCache,
		},
		{
			id: "MYS-18", area: areaCaches, title: "open tables", weight: costly,
			formula: "Table_open_cache_hits / (hits + misses), else Open_tables / Opened_tables", threshold: "< 20 %",
			run: checkOpenTables,
		},
		{
			id: "MYS-19", area: areaCaches, title: "definitions of tables", weight: costly,
			formula: "table_definition_cache, number of tables", threshold: "fewer than tables",
			needs: []Part{PartTables}, run: checkDefinitions,
		},
		{
			id: "MYS-21", area: areaQueries, title: "locks of whole tables", weight: costly,
			formula: "Table_locks_immediate / (Table_locks_immediate + Table_locks_waited)", threshold: "< 95 %",
			run: checkTableLocks,
		},
		{
			id: "MYS-37", area: areaCaches, title: "MyISAM and its key buffer", weight: remark,
			formula:   "1 − Key_reads / Key_read_requests; Key_blocks_used; MyISAM tables",
			threshold: "< 95 %; < 90 % used; any", run: checkMyISAM,
		},
	}
}

func noQueryCache(s *state) string {
	size, ok := s.number("query_cache_size")
	switch {
	case !ok || s.mysqlFrom(8, 0, 0):
		return "this server has no query cache"
	case off(s.Variables["query_cache_type"]) || size == 0:
		return "the query cache is off"
	}
	return ""
}

// cacheHits is how many SELECTs the query cache answered. MySQL counts in Com_select
// only those that it did not, MariaDB all.
func cacheHits(l *look) (hits, all float64) {
	hits, all = l.g(mysql.QcacheHits), l.g(mysql.ComSelect)
	if !l.maria() {
		all += hits
	}
	return hits, all
}

func checkQueryCache(l *look) {
	hits, all := cacheHits(l)
	switch {
	case all < few:
		l.well("only %s SELECTs", countWords(all))
	case hits/all >= 0.2:
		l.well("%s of %s", unit.Percent(hits/all), countWords(all))
	default:
		l.fire(found{
			title:    "The query cache seldom helps, and takes a lock each time",
			measured: fmt.Sprintf("%s: %s of %s", unit.Percent(hits/all), countWords(hits), countWords(all)),
			level:    kasoku.Medium, counted: true, changes: append(l.to("query_cache_size", "0"),
				l.to("query_cache_type", "OFF")...),
			gain: "SELECTs without a lock that all of them share",
			note: "Measure it: for reads of the same few rows it does help, and a contest's score fell when it was switched off (DBC-06).",
		})
	}
}

func checkPrunes(l *look) {
	prunes := l.g(mysql.QcacheLowmemPrunes)
	perDay, present := l.perDay(prunes), l.v("query_cache_size")
	if prunes < 10 || perDay <= 98 {
		l.well("%s, %s per day", countWords(prunes), countWords(perDay))
		return
	}
	f := found{
		title:    "The query cache drops results for lack of memory",
		measured: fmt.Sprintf("%s, %s per day", countWords(prunes), countWords(perDay)),
		level:    kasoku.Low, counted: true, gain: "More hits",
	}
	_, decided := l.decided["query_cache_size"]
	switch {
	case decided:
		f.note = "MYS-11 switches it off."
	case present >= largestQuery:
		f.note = "A larger one takes longer to search and to clear than it saves."
	case l.affords(queryCache-present, mostBuffers):
		f.changes = l.raise("query_cache_size", queryCache)
		f.price = sizeWords(queryCache)
	default:
		f.note = l.unaffordable(mostBuffers)
	}
	l.fire(f)
}

func checkOpenTables(l *look) {
	hits, lookups := 0.0, 0.0
	if l.has(mysql.TableOpenCacheHits) {
		hits = l.g(mysql.TableOpenCacheHits)
		lookups = hits + l.g(mysql.TableOpenCacheMisses)
	} else {
		hits, lookups = l.s(mysql.OpenTables), l.s(mysql.OpenedTables)
	}
	switch {
	case lookups < few:
		l.well("only %s look-ups", countWords(lookups))
	case hits/lookups >= 0.2:
		l.well("%s of %s", unit.Percent(hits/lookups), countWords(lookups))
	default:
		f := found{
			title: "Tables are opened again and again", measured: fmt.Sprintf("%s of %s", unit.Percent(hits/lookups),
				countWords(lookups)),
			level: kasoku.Medium, counted: true, gain: "Statements without opening files",
		}
		want := max(leastOpenCache, sensibleSize(2*l.s(mysql.OpenTables), true))
		if files, ok := l.state.will("open_files_limit"); ok && files > 0 {
			room := sensibleSize((files-l.willOr("max_connections", 151)-10)/2, false)
			if want > room {
				want = room
				f.note = "Bounded by open_files_limit."
			}
		}
		f.changes = l.raise("table_open_cache", want)
		l.fire(f)
	}
}

func checkDefinitions(l *look) {
	tables := float64(len(l.Schema.Tables))
	present := l.v("table_definition_cache")
	if present >= tables || present < 0 {
		l.well("%s for %s tables%s", countWords(present), countWords(tables), l.seen())
		return
	}
	l.fire(found{
		title: "There are more tables than definitions in memory", measured: fmt.Sprintf("%s for %s tables",
			countWords(present), countWords(tables)),
		level: kasoku.Medium, changes: l.raise("table_definition_cache", sensibleSize(tables*1.2, true)),
		gain: "Statements without reading definitions",
	})
}

func checkTableLocks(l *look) {
	granted, waited := l.g(mysql.TableLocksImmediate), l.g(mysql.TableLocksWaited)
	switch all := granted + waited; {
	case all < few:
		l.well("only %s locks", countWords(all))
	case granted/all >= 0.95:
		l.well("%s of %s", unit.Percent(granted/all), countWords(all))
	default:
		l.fire(found{
			title: "Statements wait for locks of whole tables", measured: fmt.Sprintf("%s at once: %s of %s waited",
				unit.Percent(granted/all), countWords(waited), countWords(all)),
			level: kasoku.High, counted: true, weight: urgent, gain: "Writers that do not stop all readers",
			note: "MyISAM, and LOCK TABLES, lock whole tables: ALTER TABLE … ENGINE=InnoDB.",
		})
	}
}

// checkMyISAM judges the key buffer, which only MyISAM uses, and tables of MyISAM.
func checkMyISAM(l *look) {
	buffer := l.v("key_buffer_size")
	reads, requests := l.g(mysql.KeyReads), l.g(mysql.KeyReadRequests)
	usedBytes := l.s(mysql.KeyBlocksUsed) * keyBlock
	if v, ok := l.number("key_cache_block_size"); ok && v > 0 {
		usedBytes = l.s(mysql.KeyBlocksUsed) * v
	}
	names, indexBytes := l.myISAM()
	hits := 1 - reads/max(requests, 1)
	fits := max(leastKeyBuffer, sensibleSize(usedBytes*1.25, true))
	switch {
	case requests >= few && hits < 0.95:
		fireKeyReads(l, hits, requests, indexBytes)
	case l.Memory.RAM > 0 && buffer >= keyShare*float64(l.Memory.RAM) && usedBytes < 0.9*buffer && buffer > fits:
		l.fire(found{
			title:    "The key buffer is larger than what uses it",
			measured: fmt.Sprintf("%s of %s used", sizeWords(usedBytes), sizeWords(buffer)),
			formula:  "Key_blocks_used × key_cache_block_size / key_buffer_size",
			limit:    "< 90 %, of at least 5 % of the memory",
			level:    kasoku.Medium, changes: l.lower("key_buffer_size", fits),
			gain: "Memory for the buffer pool; InnoDB does not use the key buffer",
		})
	}
	if len(names) > 0 {
		l.fire(found{
			title: "Tables are MyISAM: " + listWords(names), measured: unit.Counted(uint64(len(names)), "table",
				"tables"), level: kasoku.High,
			formula: "tables with ENGINE = MyISAM", limit: "any",
			gain: "Rows that survive a crash, and locks of rows instead of tables",
			note: "ALTER TABLE … ENGINE=InnoDB; it writes the table anew, and blocks writers meanwhile.",
		})
	}
	if len(l.advice) == 0 {
		l.well("%s of %s used", sizeWords(usedBytes), sizeWords(buffer))
	}
}

func fireKeyReads(l *look, hits, requests, indexBytes float64) {
	f := found{
		title: "MyISAM's indexes are read from disk", measured: fmt.Sprintf("%s of %s", unit.Percent(max(hits, 0)),
			countWords(requests)),
		formula: "1 − Key_reads / Key_read_requests", limit: "< 95 %", level: kasoku.Medium, counted: true,
		gain: "Indexes in memory",
		note: "Better: ALTER TABLE … ENGINE=InnoDB.",
	}
	want := sensibleSize(indexBytes*1.25, true)
	switch {
	case indexBytes == 0:
	case l.Memory.RAM == 0 || want > mostKeyShare*float64(l.Memory.RAM):
		f.note += " " + l.unaffordable(mostKeyShare)
	default:
		f.changes = l.raise("key_buffer_size", max(want, leastKeyBuffer))
	}
	l.fire(f)
}

// myISAM returns the tables of MyISAM and how large their indexes are.
func (s *state) myISAM() (names []string, indexBytes float64) {
	if s.Schema == nil {
		return nil, 0
	}
	for _, t := range s.Schema.Tables {
		if strings.EqualFold(t.Engine, "MyISAM") {
			names = append(names, t.Schema+"."+t.Name)
			indexBytes += float64(t.IndexBytes)
		}
	}
	return names, indexBytes
}
