package mysql

import "testing"

// TestIndexChange: a journal can hold nothing but statements of indexes.
func TestIndexChange(t *testing.T) {
	for _, c := range []struct {
		table, do, undo string
		good            bool
	}{
		{"t", "CREATE INDEX i ON t (a DESC)", "DROP INDEX i ON t;", true},
		{"t", "ALTER TABLE t ADD COLUMN p POINT, ADD SPATIAL INDEX i (p)", "ALTER TABLE t DROP INDEX i, DROP COLUMN p", true},
		{"t", "DROP INDEX i ON t", "CREATE UNIQUE INDEX i ON t (a)", true},
		{"t", "CREATE INDEX i ON t (a); DROP TABLE t", "DROP INDEX i ON t", false},
		{"t", "DROP TABLE t", "CREATE INDEX i ON t (a)", false},
		{"t", "CREATE INDEX i ON t (a)", "", false},
		{"t`", "CREATE INDEX i ON t (a)", "DROP INDEX i ON t", false},
		{"s.t", "CREATE INDEX i ON t (a)", "DROP INDEX i ON t", false},
	} {
		got, err := IndexChange("shop", c.table, "i", c.do, c.undo)
		if (err == nil) != c.good {
			t.Errorf("%s, %s: %v", c.do, c.undo, err)
		}
		if c.good && (got.Name != "index shop.t.i" || !got.Lasts() || got.Undo() != got.Before) {
			t.Errorf("%+v, undo %q", got, got.Undo())
		}
	}
	if makes("DROP INDEX i ON t") || makes("ALTER TABLE t DROP KEY i") || !makes("create index i on t (a)") {
		t.Error("makes")
	}
}
