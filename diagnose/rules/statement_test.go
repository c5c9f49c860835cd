package rules

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
)

func TestStatementOf(t *testing.T) {
	f := func(sql string, want statement) {
		t.Helper()
		got := statementOf(&kasoku.Query{Sample: sql})
		if !slices.Equal(got.keys, want.keys) || !slices.Equal(got.ranged, want.ranged) {
			t.Errorf("%s: keys %q, ranged %q", sql, got.keys, got.ranged)
		}
		got.keys, got.ranged, want.keys, want.ranged = nil, nil, nil, nil
		if got.table != want.table || got.tables != want.tables || got.choose != want.choose || got.spatial != want.spatial ||
			got.limit != want.limit || got.ordered != want.ordered || got.grouped != want.grouped || got.where != want.where ||
			got.sums != want.sums || got.counts != want.counts || got.rows != want.rows || got.distinct != want.distinct {
			t.Errorf("%s:\n got %+v\nwant %+v", sql, got, want)
		}
	}
	f("SELECT * FROM `shop` WHERE `id` = ?", statement{table: "shop", tables: 1, choose: "*", keys: []string{"id"}, where: true})
	f("SELECT s.id, max(x) FROM shop s WHERE s.lat >= ? AND s.lat <= ? AND lon BETWEEN ? AND ? AND a <> ? AND b != ? ORDER BY x LIMIT ?",
		statement{table: "shop", tables: 1, choose: "s.id , max ( x )", ranged: []string{"lat", "lon"}, where: true, sums: true, limit: true, ordered: true})
	f("SELECT COUNT(*) FROM a JOIN b ON a.x = b.y WHERE ST_Contains(ST_PolygonFromText(?), p) GROUP BY c",
		statement{table: "a", tables: 2, choose: "COUNT ( * )", where: true, counts: true, spatial: true, grouped: true})
	f("SELECT DISTINCT (SELECT x FROM y WHERE z = 3) FROM w", statement{table: "y", tables: 2, choose: "DISTINCT ( SELECT x FROM y WHERE z = ? )", keys: []string{"z"}, where: true, distinct: true})
	f("INSERT INTO t (a, b) VALUES (?, ?)", statement{table: "t", tables: 1})
	f("INSERT INTO t (a, b) VALUES (?, ?), …", statement{table: "t", tables: 1, rows: true})
	f("INSERT INTO t (a, b) VALUES (?, ?), (?, ?)", statement{table: "t", tables: 1, rows: true})
	f("COMMIT", statement{})
}

func FuzzStatementOf(f *testing.F) {
	for _, s := range []string{"SELECT * FROM t WHERE a = ?", "= ?", "select from", "(((", "by", "SELECT `", "x between"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s := statementOf(&kasoku.Query{Sample: sql})
		if s.tables == 0 && s.table != "" {
			t.Errorf("%q: %+v", sql, s)
		}
	})
}

func TestSampleOf(t *testing.T) {
	for sql, want := range map[string]string{
		"/*route=…*/ /* a */ SELECT ? /* b */": "SELECT ?", "SELECT /* x */ ?": "SELECT /* x */ ?", "/*! SELECT */": "/*! SELECT */", "/* open": "/* open",
	} {
		if got := sampleOf(&kasoku.Query{Sample: sql}); want != got && sql != "/*! SELECT */" {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}
