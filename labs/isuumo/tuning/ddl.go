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
	return strings.Join(parts, "\n")
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

// bucketDDL adds to each column with ranges another one that holds the range's id,
// and an index in which one range is in the order of searches.
//
// The columns are stored: MariaDB computes others anew for each row that it reads.
func bucketDDL() string {
	var b strings.Builder
	b.WriteString("-- IDX-05: a range is one value of a column, so that the rest of an index can be used.\n")
	for _, x := range buckets() {
		fmt.Fprintf(&b, "ALTER TABLE %s\n  ADD COLUMN %s_bucket TINYINT AS (CASE", x.table, x.column)
		for id, to := range x.bounds {
			fmt.Fprintf(&b, " WHEN %s < %d THEN %d", x.column, to, id)
		}
		fmt.Fprintf(&b, " ELSE %d END) STORED,\n  ADD INDEX %s_bucket_order (%[2]s_bucket, popularity DESC, id);\n", len(x.bounds), x.column)
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
		"ALTER TABLE estate\n  ADD COLUMN location POINT NOT NULL" + srid + " DEFAULT (POINT(ROUND(latitude, 6), ROUND(longitude, 6))),\n" +
		"  ADD SPATIAL INDEX estate_location (location);\n"
}
