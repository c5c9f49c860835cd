package tuning

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
)

// TestDDL: each defect of an index leaves out its own statements, and all are left
// out where answers come from memory.
func TestDDL(t *testing.T) {
	ids := []string{"IDX-04", "IDX-05", "IDX-06", "IDX-07"}
	all := DDL(isuumo.Defects{"CCH-07"}, "mariadb")
	sign := map[string]string{"IDX-04": "estate_latitude", "IDX-05": "rent_bucket", "IDX-06": "estate_popularity", "IDX-07": "SPATIAL"}
	for _, id := range ids {
		seeded := DDL(isuumo.Defects{"CCH-07", id}, "mariadb")
		alone := DDL(append(isuumo.Defects{"CCH-07"}, slices.DeleteFunc(slices.Clone(ids), func(x string) bool { return x == id })...), "mariadb")
		if !strings.Contains(all, sign[id]) || strings.Contains(seeded, sign[id]) || !strings.Contains(alone, sign[id]) {
			t.Errorf("%s: all\n%s\nseeded\n%s\nalone\n%s", id, all, seeded, alone)
		}
		for other, s := range sign {
			if other != id && (!strings.Contains(seeded, s) || strings.Contains(alone, s)) {
				t.Errorf("%s changes what mends %s", id, other)
			}
		}
	}
	for _, d := range []isuumo.Defects{nil, {"APP-01"}, append(isuumo.Defects{"CCH-07"}, ids...)} {
		if text := DDL(d, "mysql"); text != "" {
			t.Errorf("%s: %q", d, text)
		}
	}
	if text := DDL(isuumo.Defects{"CCH-07"}, "mysql"); strings.Count(text, "SRID 0") != 1 || strings.Contains(all, "SRID") {
		t.Errorf("MySQL:\n%s", text)
	}
}

// TestIndexes: each statement of the file is on one line and mends something, and no
// name is there twice.
func TestIndexes(t *testing.T) {
	statement := regexp.MustCompile(`^CREATE INDEX (\w+) +ON (chair|estate) +\(.*\); +# mends (IDX-04|IDX-06)$`)
	seen := map[string]bool{}
	for line := range strings.Lines(indexesSQL) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		m := statement.FindStringSubmatch(line)
		if m == nil || seen[m[1]] || !strings.HasPrefix(m[1], m[2]) {
			t.Errorf("%s", line)
			continue
		}
		seen[m[1]] = true
	}
	if len(seen) == 0 {
		t.Error("no index")
	}
}

// TestBucketRanges: the columns of IDX-05 have the ranges of the contest's searches.
func TestBucketRanges(t *testing.T) {
	c, e := data.ChairCondition(), data.EstateCondition()
	for column, want := range map[string][]isuumo.Range{
		"price": c.Price.Ranges, "height": c.Height.Ranges, "width": c.Width.Ranges, "depth": c.Depth.Ranges,
		"rent": e.Rent.Ranges, "door_height": e.DoorHeight.Ranges, "door_width": e.DoorWidth.Ranges, "stock": nil,
	} {
		if got := BucketRanges(column); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
}

// TestDDL_Forms: ids of ranges are generated or written by a trigger, of the rows or of search tables; there
// are no search tables without ids.
func TestDDL_Forms(t *testing.T) {
	for _, x := range []struct {
		d         isuumo.Defects
		has, lack []string
	}{
		{isuumo.Defects{"CCH-07"}, []string{"ALTER TABLE chair\n", "STORED"}, []string{"TRIGGER", "_search"}},
		{isuumo.Defects{"CCH-07", "IDX-05T"}, []string{"ALTER TABLE chair\n", "chair_buckets BEFORE INSERT ON chair FOR",
			"\n  NEW.price_bucket = CASE WHEN NEW.price < 3000 THEN 0", "UPDATE estate SET\n  rent_bucket = CASE WHEN rent"},
			[]string{"STORED", "_search"}},
		{isuumo.Defects{"CCH-07", "QRY-03S"}, []string{"ALTER TABLE chair_search\n", "STORED", "chair_sold AFTER UPDATE"},
			[]string{"BEFORE INSERT", "ALTER TABLE chair\n", "SET\n  NEW"}},
		{isuumo.Defects{"CCH-07", "QRY-03S", "IDX-05T"}, []string{"chair_buckets BEFORE INSERT ON chair_search FOR"},
			[]string{"STORED", "INSERT ON chair FOR EACH ROW SET"}},
		{isuumo.Defects{"CCH-07", "QRY-03S", "IDX-05"}, nil, []string{"_search", "_bucket", "TRIGGER"}},
	} {
		text := DDL(x.d, "mariadb")
		for _, want := range x.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", x.d, want, text)
			}
		}
		for _, not := range x.lack {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q:\n%s", x.d, not, text)
			}
		}
	}
}
