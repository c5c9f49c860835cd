package mysql

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestIndexChange: a journal can hold nothing but statements that make and drop one index.
func TestIndexChange(t *testing.T) {
	const drop = "DROP INDEX i ON t"
	for _, c := range []struct {
		do, undo string
		good     bool
	}{
		{"CREATE INDEX i ON t (a DESC)", "DROP INDEX i ON t;", true},
		{"CREATE INDEX `i` ON `shop`.`t` ((lower(`a`)), b(20))", "drop index i\non t", true},
		{drop, "CREATE UNIQUE INDEX i ON t (a)", true},
		{"ALTER TABLE t ADD SPATIAL INDEX i (p)", "ALTER TABLE t DROP KEY i", true},
		{"ALTER TABLE t ADD COLUMN p POINT, ADD SPATIAL INDEX i (p)", "ALTER TABLE t DROP INDEX i, DROP COLUMN p", false},
		{"ALTER TABLE t DROP COLUMN mail, ADD INDEX i (id)", drop, false},
		{"ALTER TABLE t ADD INDEX i (id), DROP COLUMN mail", drop, false},
		{"ALTER TABLE t RENAME TO i", drop, false},
		{"ALTER TABLE t DROP PRIMARY KEY", "CREATE INDEX i ON t (a)", false},
		{"CREATE INDEX i ON t (a); DROP TABLE t", drop, false},
		{"CREATE INDEX i ON t (a) /*!50000 COMMENT 'x' */", drop, false},
		{"CREATE INDEX i ON t (a", drop, false},
		{"CREATE INDEX i ON t (a)", "DROP INDEX j ON t", false},
		{"CREATE INDEX i ON t (a)", "DROP INDEX i ON users", false},
		{"CREATE INDEX i ON t (a)", "DROP INDEX i ON other.t", false},
		{"CREATE INDEX i ON t (a)", "CREATE INDEX i ON t (b)", false},
		{"DROP TABLE t", "CREATE INDEX i ON t (a)", false},
		{"CREATE INDEX i ON t (a)", "", false},
		{"CREATE INDEX i ON `t``` (a)", "DROP INDEX i ON `t```", false},
		{"CREATE INDEX i ON `s.t` (a)", "DROP INDEX i ON `s.t`", false},
	} {
		got, err := IndexChange("shop", c.do, c.undo)
		if (err == nil) != c.good {
			t.Errorf("%s, %s: %v", c.do, c.undo, err)
		}
		if c.good && (got.Name != "index shop.t.i" || !got.Lasts() || got.Undo() != got.Before || got.Check() != nil) {
			t.Errorf("%+v, undo %q, %v", got, got.Undo(), got.Check())
		}
	}
}

func TestParseIndex(t *testing.T) {
	for statement, want := range map[string]IndexStatement{
		"CREATE INDEX a ON t (b)":                      {Table: "t", Index: "a"},
		"CREATE UNIQUE INDEX `a` ON `s`.`t` (`index`)": {Schema: "s", Table: "t", Index: "a"},
		"DROP INDEX a ON s.t":                          {Schema: "s", Table: "t", Index: "a", Drops: true},
		"ALTER TABLE t DROP KEY a ;":                   {Table: "t", Index: "a", Drops: true},
		"CREATE INDEX a ON t (b) INVISIBLE":            {Table: "t", Index: "a"},
		"CREATE FULLTEXT INDEX a ON t (b)":             {Table: "t", Index: "a", Special: true},
	} {
		if got, err := ParseIndex(statement); err != nil || got != want {
			t.Errorf("%s: %+v, %v", statement, got, err)
		}
	}
	for _, statement := range []string{"DROP INDEX a ON t INVISIBLE", "CREATE INDEX a ON t (b) INVISIBLE VISIBLE", "CREATE INDEX a ON t (b) COMMENT 'x'"} {
		if got, err := ParseIndex(statement); err == nil {
			t.Errorf("%s: %+v", statement, got)
		}
	}
}

// TestIndexChange_ForeignKey: an index that serves a foreign key takes the place of the one that
// the server made for it, and goes all the same, with that one back.
func TestIndexChange_ForeignKey(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.users (id INT PRIMARY KEY)",
			"CREATE TABLE shop.posts (id INT PRIMARY KEY, owner INT, editor INT, at INT, FOREIGN KEY (owner) REFERENCES shop.users (id), "+
				"CONSTRAINT edits FOREIGN KEY (editor) REFERENCES shop.users (id))")
		r, err := New(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		indexes := func() (out []string) {
			t.Helper()
			list, err := NewSchema(r).Indexes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range list {
				out = append(out, fmt.Sprint(i))
			}
			return out
		}
		before := indexes()
		sw := NewSwitch(r)
		for _, of := range []string{"owner", "editor"} {
			c, err := IndexChange("shop", "CREATE INDEX by_"+of+" ON posts ("+of+", at)", "DROP INDEX by_"+of+" ON posts")
			if err != nil {
				t.Fatal(err)
			}
			if err := sw.Apply(t.Context(), []Changed{c}); err != nil {
				t.Fatal(err)
			}
		}
		if during := indexes(); slices.Equal(during, before) || slices.Contains(during, "index shop.posts.owner (owner)") {
			t.Errorf("with them: %q", during)
		}
		if err := sw.Restore(t.Context()); err != nil {
			t.Error(err)
		}
		if after := indexes(); !slices.Equal(after, before) {
			t.Errorf("after them %q, before %q", after, before)
		}
	})
}
