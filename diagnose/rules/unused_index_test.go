package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/index"
)

// TestUnusedIndex: an index that no statement of the run uses is hidden before it is dropped,
// where the server can hide it, and neither is without a risk.
func TestUnusedIndex(t *testing.T) {
	f := func(path, version string, want ...string) {
		t.Helper()
		rec := recordedCase(t, path)
		def := &rec.Tables[0]
		def.Create = strings.Replace(def.Create, "  KEY `by_genre`", "  KEY `spare` (`minutes`),\n  KEY `by_genre`", 1)
		def.Indexes = append(def.Indexes, kasoku.IndexDef{Name: "spare", Columns: []string{"minutes"}})
		w := class("W", "INSERT INTO films (id, minutes) VALUES (?, ?)", 500, 0, time.Second)
		w.Host, w.Schema, w.Tables = def.Host, def.Schema, []string{"films"}
		rec.Queries = append(rec.Queries, w)
		for i := range rec.Settings {
			if s := &rec.Settings[i]; s.Name == "version" && version != "" {
				s.Value = version
			}
		}
		found, silent := index.GeneralIndex{}.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 || found[0].Object.Name != "films.spare" {
			t.Fatalf("%s: %+v %+v", path, found, silent)
		}
		var code []string
		for _, x := range found[0].Fixes {
			code = append(code, x.Code)
			if x.Risk != kasoku.RiskSemantics || !strings.Contains(x.Note, "FORCE INDEX") || !strings.Contains(x.Note, "run seldom") {
				t.Errorf("%s: %s, %q", path, x.Risk, x.Note)
			}
		}
		if strings.Join(code, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q, want %q", path, code, want)
		}
	}
	const drop = "DROP INDEX spare ON films;"
	f("testdata/IDX-04/silent/mariadb-served.txtar", "", "ALTER TABLE films ALTER INDEX spare IGNORED;", drop)
	f("testdata/IDX-04/silent/mysql-served.txtar", "", "ALTER TABLE films ALTER INDEX spare INVISIBLE;", drop)
	f("testdata/IDX-04/silent/mariadb-served.txtar", "10.5.28-MariaDB", drop)
	f("testdata/IDX-04/silent/mysql-served.txtar", "5.7.44", drop)
}
