package statements

import (
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
)

func TestStatementOf(t *testing.T) {
	f := func(sql string, want Statement) {
		t.Helper()
		got := Of(&kasoku.Query{Sample: sql})
		if !slices.Equal(got.Keys, want.Keys) || !slices.Equal(got.Ranged, want.Ranged) {
			t.Errorf("%s: keys %q, ranged %q", sql, got.Keys, got.Ranged)
		}
		got.Keys, got.Ranged, want.Keys, want.Ranged = nil, nil, nil, nil
		if got.Table != want.Table || got.tables != want.tables || got.spatial != want.spatial ||
			got.Limit != want.Limit || got.Ordered != want.Ordered || got.Grouped != want.Grouped || got.where != want.where ||
			got.Sums != want.Sums || got.Counts != want.Counts || got.Rows != want.Rows || got.distinct != want.distinct {
			t.Errorf("%s:\n got %+v\nwant %+v", sql, got, want)
		}
	}
	f("SELECT * FROM `shop` WHERE `id` = ?", Statement{Table: "shop", tables: 1, Keys: []string{"id"}, where: true})
	f("SELECT s.id, max(x) FROM shop s WHERE s.lat >= ? AND s.lat <= ? AND lon BETWEEN ? AND ? AND a <> ? AND b != ? ORDER BY x LIMIT ?",
		Statement{Table: "shop", tables: 1, Ranged: []string{"lat", "lon"}, where: true, Sums: true, Limit: true, Ordered: true})
	f("SELECT COUNT(*) FROM a JOIN b ON a.x = b.y WHERE ST_Contains(ST_PolygonFromText(?), p) GROUP BY c",
		Statement{Table: "a", tables: 2, where: true, Counts: true, spatial: true, Grouped: true})
	f("SELECT DISTINCT (SELECT x FROM y WHERE z = 3) FROM w", Statement{Table: "y", tables: 2, Keys: []string{"z"}, where: true, distinct: true})
	f("INSERT INTO t (a, b) VALUES (?, ?)", Statement{Table: "t", tables: 1})
	f("INSERT INTO t (a, b) VALUES (?, ?), …", Statement{Table: "t", tables: 1, Rows: true})
	f("INSERT INTO t (a, b) VALUES (?, ?), (?, ?)", Statement{Table: "t", tables: 1, Rows: true})
	f("COMMIT", Statement{})
}

// TestStatementOf_Cut: a sample is cut at a length, and what comes after is in the fingerprint.
func TestStatementOf_Cut(t *testing.T) {
	got := Of(&kasoku.Query{Sample: "SELECT a.x, a.long_na…",
		Fingerprint: "select a.x, a.long_name from a left join ( select count(*) n, sum(z) s, b from c group by b) d " +
			"on d.b=a.b where a.k=? limit ?"})
	if !got.Counts || !got.Sums || !got.Grouped || !got.Limit || !slices.Equal(got.Keys, []string{"k"}) {
		t.Errorf("%+v", got)
	}
	got = Of(&kasoku.Query{Sample: "INSERT INTO t (a, b) VALUES (?, ?), …",
		Fingerprint: "insert into t (a, b) values(?+)"})
	if !got.Rows {
		t.Errorf("%+v", got)
	}
}

func FuzzStatementOf(f *testing.F) {
	for _, s := range []string{"SELECT * FROM t WHERE a = ?", "= ?", "select from", "(((", "by", "SELECT `", "x between"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		s := Of(&kasoku.Query{Sample: sql})
		if s.tables == 0 && s.Table != "" {
			t.Errorf("%q: %+v", sql, s)
		}
	})
}
