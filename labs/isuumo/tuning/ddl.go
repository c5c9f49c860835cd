package tuning

import (
	_ "embed" // the texts
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// indexesSQL mends IDX-04 and IDX-06.
//
//go:embed indexes.sql
var indexesSQL string

// DDL returns the statements that run after the schema, when the tables are empty,
// for those defects of indexes that are mended; database is mariadb or mysql. It is
// empty when there are none, or when answers come from memory.
func DDL(d isuumo.Defects, database string) string {
	if !d.Has("CCH-07") {
		return ""
	}
	var parts []string
	if !d.Has("IDX-04") || !d.Has("IDX-06") {
		parts = append(parts, without(indexesSQL, d))
	}
	if !d.Has("IDX-05") {
		parts = append(parts, bucketDDL())
	}
	if !d.Has("IDX-07") {
		parts = append(parts, spatialDDL(database))
	}
	if len(parts) == 0 {
		return ""
	}
	return "USE isuumo;\n\n" + strings.Join(parts, "\n")
}

// buckets are the columns that have ranges, with the ranges of the contest.
func buckets() []bucket {
	length := []int64{80, 110, 150}
	return []bucket{
		{"chair", "price", []int64{3000, 6000, 9000, 12000, 15000}},
		{"chair", "height", length},
		{"chair", "width", length},
		{"chair", "depth", length},
		{"estate", "rent", []int64{50000, 100000, 150000}},
		{"estate", "door_height", length},
		{"estate", "door_width", length},
	}
}

type bucket struct {
	table, column string
	bounds        []int64 // where the second range begins, the third …
}

// BucketRanges returns the ranges whose ids the column COLUMN_bucket holds, nil for
// a column that has none.
func BucketRanges(column string) []isuumo.Range {
	all := buckets()
	i := slices.IndexFunc(all, func(b bucket) bool { return b.column == column })
	if i < 0 {
		return nil
	}
	var out []isuumo.Range
	from := int64(isuumo.Open)
	for id, to := range append(slices.Clip(all[i].bounds), isuumo.Open) {
		out = append(out, isuumo.Range{ID: int64(id), Min: from, Max: to})
		from = to
	}
	return out
}

// bucketDDL adds to each column with ranges another one that holds the range's id.
// Then a search is made of equalities, and for each of them there is an index that
// begins with it, goes on in the order of searches, and ends with all others.
//
// The columns are stored: MariaDB computes others anew for each row that it reads.
func bucketDDL() string {
	var b strings.Builder
	b.WriteString("-- IDX-05: a range is one value of a column, so that the rest of an index can be used.\n")
	for _, table := range []string{"chair", "estate"} {
		var first []string
		rest := "features"
		if table == "chair" {
			first, rest = []string{"kind", "color"}, "stock, features"
		}
		fmt.Fprintf(&b, "ALTER TABLE %s", table)
		for _, x := range buckets() {
			if x.table == table {
				first = append(first, x.column+"_bucket")
				fmt.Fprintf(&b, "\n  ADD COLUMN %s_bucket TINYINT AS (CASE", x.column)
				for id, to := range x.bounds {
					fmt.Fprintf(&b, " WHEN %s < %d THEN %d", x.column, to, id)
				}
				fmt.Fprintf(&b, " ELSE %d END) STORED,", len(x.bounds))
			}
		}
		for i, c := range first {
			others := strings.Join(slices.Delete(slices.Clone(first), i, i+1), ", ")
			end := ","
			if i == len(first)-1 {
				end = ";\n"
			}
			fmt.Fprintf(&b, "\n  ADD INDEX %s_bucket_%s (%s, popularity DESC, id, %s, %s)%s", table,
				strings.TrimSuffix(c, "_bucket"), c, others, rest, end)
		}
	}
	return b.String()
}

// spatialDDL adds a column for the place, and its index. The place is rounded as
// the contest's statements rounded it. A default may use the row's other columns in
// both databases; generated columns cannot have spatial indexes in MariaDB.
func spatialDDL(database string) string {
	srid := ""
	if database == "mysql" {
		srid = " SRID 0" // without it, MySQL makes the index and never uses it
	}
	return "-- IDX-07: places as one column with a spatial index.\n" +
		"ALTER TABLE estate\n  ADD COLUMN location POINT NOT NULL" + srid +
		" DEFAULT (POINT(ROUND(latitude, 6), ROUND(longitude, 6))),\n" +
		"  ADD SPATIAL INDEX estate_location (location);\n"
}
