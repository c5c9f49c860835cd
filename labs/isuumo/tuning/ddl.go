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
	if d.Split() {
		parts = append(parts, splitDDL())
	}
	if !d.Has("IDX-05") {
		parts = append(parts, bucketDDL(d))
	}
	if !d.Has("IDX-07") {
		parts = append(parts, spatialDDL(database))
	}
	if d.Has("IDX-05T") && !d.Has("IDX-05") {
		parts = append(parts, triggerDDL(d))
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
// The columns are stored: MariaDB computes others anew for each row that it reads. With IDX-05T triggers write
// them. No row changes in what they are made of.
func bucketDDL(d isuumo.Defects) string {
	var b strings.Builder
	b.WriteString("-- IDX-05: a range is one value of a column, so that the rest of an index can be used.\n")
	for _, table := range []string{"chair", "estate"} {
		var first []string
		rest := "features"
		if table == "chair" {
			first, rest = []string{"kind", "color"}, "stock, features"
		}
		fmt.Fprintf(&b, "ALTER TABLE %s", Searched(d, table))
		for _, x := range buckets() {
			if x.table != table {
				continue
			}
			first = append(first, x.column+"_bucket")
			form := "NOT NULL DEFAULT 0"
			if !d.Has("IDX-05T") {
				form = "AS (" + x.id("") + ") STORED"
			}
			fmt.Fprintf(&b, "\n  ADD COLUMN %s_bucket TINYINT %s,", x.column, form)
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

// triggerDDL writes the ids of ranges: of the rows that are there, and of those that come.
//
// MySQL 9.7 works out the default of a column from other columns before it has their values where a table has
// a BEFORE trigger, so that the trigger gives an estate its place, too.
func triggerDDL(d isuumo.Defects) string {
	var b strings.Builder
	for _, table := range []string{"chair", "estate"} {
		var there, come []string
		for _, x := range buckets() {
			if x.table == table {
				there = append(there, x.column+"_bucket = "+x.id(""))
				come = append(come, "NEW."+x.column+"_bucket = "+x.id("NEW."))
			}
		}
		if table == "estate" && !d.Split() && !d.Has("IDX-07") {
			come = append(come, "NEW.location = POINT(ROUND(NEW.latitude, 6), ROUND(NEW.longitude, 6))")
		}
		fmt.Fprintf(&b, "UPDATE %s SET\n  %s;\n", Searched(d, table), strings.Join(there, ",\n  "))
		fmt.Fprintf(&b, "CREATE TRIGGER %s_buckets BEFORE INSERT ON %s FOR EACH ROW SET\n  %s;\n", table,
			Searched(d, table), strings.Join(come, ",\n  "))
	}
	return b.String()
}

// id is the expression for the id of the range in which a row's value is; row is what stands before the column.
func (x bucket) id(row string) string {
	var b strings.Builder
	b.WriteString("CASE")
	for id, to := range x.bounds {
		fmt.Fprintf(&b, " WHEN %s%s < %d THEN %d", row, x.column, to, id)
	}
	fmt.Fprintf(&b, " ELSE %d END", len(x.bounds))
	return b.String()
}

// Searched returns the table that searches for rows of chair or estate read.
func Searched(d isuumo.Defects, table string) string {
	if d.Split() {
		return table + "_search"
	}
	return table
}

// splitDDL makes tables of what searches compare and sort by, without texts, with the rows that are there;
// triggers keep them. Of a row that is there the stock alone changes.
func splitDDL() string {
	var b strings.Builder
	b.WriteString("-- QRY-03: what searches read, in tables of their own.\n")
	for _, t := range []struct{ table, columns, texts string }{
		{"chair", "id, price, height, width, depth, popularity, stock", "color, features, kind"},
		{"estate", "id, rent, door_height, door_width, popularity", "features"},
	} {
		all := t.columns + ", " + t.texts
		fmt.Fprintf(&b, "CREATE TABLE %s_search (%s INTEGER NOT NULL, %s VARCHAR(64) NOT NULL, PRIMARY KEY (id));\n",
			t.table, strings.ReplaceAll(t.columns, ",", " INTEGER NOT NULL,"),
			strings.ReplaceAll(t.texts, ",", " VARCHAR(64) NOT NULL,"))
		fmt.Fprintf(&b, "INSERT INTO %[1]s_search (%[2]s) SELECT %[2]s FROM %[1]s;\n", t.table, all)
		fmt.Fprintf(&b, "CREATE TRIGGER %[1]s_added AFTER INSERT ON %[1]s FOR EACH ROW\n"+
			"  INSERT INTO %[1]s_search (%[2]s) VALUES (NEW.%[3]s);\n", t.table, all,
			strings.ReplaceAll(all, ", ", ", NEW."))
	}
	b.WriteString("CREATE TRIGGER chair_sold AFTER UPDATE ON chair FOR EACH ROW\n" +
		"  UPDATE chair_search SET stock = NEW.stock WHERE id = NEW.id;\n")
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
