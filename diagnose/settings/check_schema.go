package settings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
)

// Thresholds of the schema.
const (
	largeTable   = 100 << 20 // bytes of data from which holes are worth an OPTIMIZE
	holes        = 0.10
	nearTheEnd   = 0.75 // of the numbers of an AUTO_INCREMENT column
	manyRows     = 50000
	leastIndexes = 0.3
	mostIndexes  = 0.6
	mostTables   = 10 // of one kind that are listed one by one
)

func schemaChecks() []*check {
	return []*check{
		{
			id: "MYS-38", area: areaSchema, title: "holes, ends of numbers and sizes of indexes", weight: remark,
			formula:   "DATA_FREE / (DATA_LENGTH + INDEX_LENGTH + DATA_FREE); AUTO_INCREMENT / greatest of its type; INDEX_LENGTH / DATA_LENGTH",
			threshold: "> 10 %, from 100 MiB on; ≥ 75 %; outside 0.3 to 0.6, from 50,000 rows on",
			needs:     []Part{PartTables}, run: checkTables,
		},
		{
			id: "MYS-38", area: areaSchema, title: "primary keys and indexes that others cover", weight: costly,
			formula: "tables of InnoDB without a primary key; indexes that begin another one", threshold: "any",
			needs: []Part{PartTables, PartIndexes}, run: checkIndexes,
		},
		{
			id: "MYS-38", area: areaSchema, title: "indexes that nothing uses", weight: remark,
			formula: "accesses by index since the server was started", threshold: "0, of a table that is in use",
			needs: []Part{PartTables, PartIndexes, PartUsage}, run: checkUnused,
		},
	}
}

func checkTables(l *look) {
	checkFreeSpace(l)
	checkAutoIncrement(l)
	checkIndexRatios(l)
	if len(l.advice) == 0 {
		l.well("%s", unit.Counted(uint64(len(l.Schema.Tables)), "table", "tables"))
	}
}

// first returns at most mostTables of a list, and says how many are left.
func first[T any](all []T) (some []T, rest string) {
	if len(all) <= mostTables {
		return all, ""
	}
	return all[:mostTables], fmt.Sprintf(" %d more are like it.", len(all)-mostTables)
}

func checkFreeSpace(l *look) {
	var holed []Table
	share := func(t Table) float64 {
		return float64(t.FreeBytes) / max(float64(t.DataBytes)+float64(t.IndexBytes)+float64(t.FreeBytes), 1)
	}
	for _, t := range l.Schema.Tables {
		if t.DataBytes > largeTable && share(t) > holes {
			holed = append(holed, t)
		}
	}
	slices.SortStableFunc(holed, func(a, b Table) int { return cmp.Compare(b.FreeBytes, a.FreeBytes) })
	some, rest := first(holed)
	for _, t := range some {
		l.fire(found{
			title: "Table " + tableName(t.Table) + " has holes", measured: fmt.Sprintf("%s: %s", unit.Percent(share(t)),
				sizeWords(float64(t.FreeBytes))),
			formula: "DATA_FREE / (DATA_LENGTH + INDEX_LENGTH + DATA_FREE)", limit: "> 10 %, from 100 MiB on",
			level: kasoku.Medium,
			gain:  "Fewer pages to read and to keep", note: "OPTIMIZE TABLE " + quoteTable(t.Table) +
				"; it writes the table anew." + rest,
		})
	}
}

func tableName(t mysql.Table) string  { return t.Schema + "." + t.Name }
func quoteTable(t mysql.Table) string { return mysql.QuoteParts(t.Schema, t.Name) }

// greatestValue returns the greatest number of an integer type, such as int(11) unsigned;
// 0 for a type that is none.
func greatestValue(kind string) float64 {
	kind = strings.ToLower(kind)
	word := kind
	if i := strings.IndexAny(kind, " ("); i >= 0 {
		word = kind[:i]
	}
	bits, ok := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32,
		"bigint": 64}[word]
	if !ok {
		return 0
	}
	if !strings.Contains(kind, "unsigned") {
		bits--
	}
	return math.Exp2(float64(bits)) - 1
}

func checkAutoIncrement(l *look) {
	for _, t := range l.Schema.Tables {
		end := greatestValue(t.AutoType)
		if end == 0 || float64(t.Next)/end < nearTheEnd {
			continue
		}
		share := float64(t.Next) / end
		l.fire(found{
			title:    "Table " + tableName(t.Table) + " runs out of numbers",
			measured: fmt.Sprintf("%s: %s of %s", unit.Percent(share), countWords(float64(t.Next)), t.AutoType),
			formula:  "AUTO_INCREMENT / greatest of its type", limit: "≥ 75 %", level: kasoku.High, weight: urgent,
			gain: "INSERT goes on beyond the end", note: "Make the column BIGINT UNSIGNED with ALTER TABLE " +
				quoteTable(t.Table) + " MODIFY …; columns that refer to it, too.",
		})
	}
}

// checkIndexRatios reports in one advice the tables whose indexes are out of proportion.
func checkIndexRatios(l *look) {
	var names []string
	for _, t := range l.Schema.Tables {
		if t.Rows <= manyRows || t.DataBytes <= 0 {
			continue
		}
		if r := float64(t.IndexBytes) / float64(t.DataBytes); r < leastIndexes || r > mostIndexes {
			names = append(names, fmt.Sprintf("%s %s", tableName(t.Table), unit.Fixed(r, 2)))
		}
	}
	if len(names) == 0 {
		return
	}
	l.fire(found{
		title: "Indexes are small or large beside their tables", measured: listWords(names), level: kasoku.Low,
		formula: "INDEX_LENGTH / DATA_LENGTH", limit: "outside 0.3 to 0.6, from 50,000 rows on",
		gain: "Reads with an index, or writes of fewer",
		note: "A hint only: `kasoku explain` shows which statements lack one; few indexes are right for a table that is read by its key.",
	})
}

func checkIndexes(l *look) {
	keyed := map[string]bool{}
	for _, x := range l.Schema.Indexes {
		if x.Name == "PRIMARY" {
			keyed[x.Table] = true
		}
	}
	var bare []Table
	for _, t := range l.Schema.Tables {
		if strings.EqualFold(t.Engine, "InnoDB") && !keyed[tableName(t.Table)] {
			bare = append(bare, t)
		}
	}
	some, rest := first(bare)
	for _, t := range some {
		l.fire(found{
			title: "Table " + tableName(t.Table) + " has no primary key", measured: "none", level: kasoku.High,
			formula: "tables of InnoDB without a primary key", limit: "any",
			gain: "Rows found by their key; replicas that keep up",
			note: "ALTER TABLE " + quoteTable(t.Table) + " ADD PRIMARY KEY (…);" + rest,
		})
	}
	covered := coveredIndexes(l.Schema.Indexes)
	someIndexes, rest := first(covered)
	for _, c := range someIndexes {
		l.fire(found{
			title:    "Index " + c.index.Name + " of " + c.index.Table + " is covered by " + c.by.Name,
			measured: partWords(c.index) + " begins " + partWords(c.by), level: kasoku.High,
			formula: "indexes that begin another one", limit: "any", gain: "Cheaper writes, more room in the pool",
			note: "ALTER TABLE " + mysql.QuoteName(c.index.Table) + " DROP INDEX " +
				mysql.QuoteParts(c.index.Name) + ";" + rest,
		})
	}
	if len(l.advice) == 0 {
		l.well("%s", unit.Counted(uint64(len(l.Schema.Indexes)), "index", "indexes"))
	}
}

func partWords(x mysql.Index) string { return "(" + strings.Join(x.Parts, ", ") + ")" }

// A covering is an index that another one makes needless.
type covering struct{ index, by mysql.Index }

// coveredIndexes finds the indexes whose columns begin another one of the same table.
// A unique index is covered only by a unique one of the same columns: it is a rule,
// too. Of two alike, the later by name goes.
func coveredIndexes(all []mysql.Index) []covering {
	byTable := map[string][]mysql.Index{}
	var tables []string
	for _, x := range all {
		if byTable[x.Table] == nil {
			tables = append(tables, x.Table)
		}
		byTable[x.Table] = append(byTable[x.Table], x)
	}
	var out []covering
	for _, t := range tables {
		for _, x := range byTable[t] {
			for _, by := range byTable[t] {
				if coversIndex(by, x) {
					out = append(out, covering{x, by})
					break
				}
			}
		}
	}
	return out
}

func coversIndex(by, x mysql.Index) bool {
	if x.Name == by.Name || x.Name == "PRIMARY" || len(x.Parts) > len(by.Parts) ||
		!slices.Equal(x.Parts, by.Parts[:len(x.Parts)]) {
		return false
	}
	if len(x.Parts) < len(by.Parts) {
		return !x.Unique
	}
	switch {
	case x.Unique && !by.Unique:
		return false
	case x.Unique == by.Unique:
		return by.Name == "PRIMARY" || by.Name < x.Name
	}
	return true
}

func checkUnused(l *look) {
	inUse := map[string]bool{}
	for key, n := range l.Schema.Uses {
		if i := strings.LastIndexByte(key, '.'); i >= 0 && n > 0 {
			inUse[key[:i]] = true
		}
	}
	var unused []mysql.Index
	for _, x := range l.Schema.Indexes {
		if n, known := l.Schema.Uses[x.Table+"."+x.Name]; known && n == 0 && !x.Unique && inUse[x.Table] {
			unused = append(unused, x)
		}
	}
	if len(unused) == 0 {
		l.well("%s", unit.Counted(uint64(len(l.Schema.Indexes)), "index", "indexes"))
		return
	}
	some, rest := first(unused)
	for _, x := range some {
		f := found{
			title:    "Nothing used index " + x.Name + " of " + x.Table,
			measured: "0 accesses since the server was started, " + sinceWords(upFor(l.state)), level: kasoku.Medium,
			gain: "Cheaper writes, more room in the pool",
			note: "ALTER TABLE " + mysql.QuoteName(x.Table) + " DROP INDEX " + mysql.QuoteParts(x.Name) +
				"; when all kinds of requests have been seen, and no foreign key needs it." + rest,
		}
		if upFor(l.state) < day {
			f.level = kasoku.Low
		}
		l.fire(f)
	}
}
