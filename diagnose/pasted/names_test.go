package pasted

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestNames: each keyword that a server knows is a name of a column where it is quoted as
// statements are printed.
func TestNames(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		s := newServer(t, srv)
		words, err := s.ask("SELECT LOWER(word) FROM information_schema.keywords " +
			"WHERE word REGEXP '^[A-Za-z]'")
		if err != nil || len(words.rows) < 600 {
			t.Fatal(len(words.rows), err)
		}
		var broken []string
		for _, r := range words.rows {
			name := indexes.QuoteName(r[0])
			if err := s.prepare("SELECT " + name + " FROM (SELECT 1 AS `" + r[0] + "`) AS one WHERE " + name +
				" IN (1) ORDER BY " + name); err != nil {
				broken = append(broken, r[0])
			}
		}
		if len(broken) > 0 {
			t.Errorf("not quoted: %s", strings.Join(broken, " "))
		}
	})
}

// TestKeyLengths: the server takes each index that is proposed of long columns, of old formats
// of rows and of other engines; of JSON MySQL takes none, and none is proposed.
func TestKeyLengths(t *testing.T) {
	turn.Wait(t)
	const create = "CREATE TABLE pages (id INT PRIMARY KEY, url TEXT NOT NULL, host VARCHAR(700) NOT NULL, " +
		"path VARCHAR(700) NOT NULL, name VARCHAR(255) NOT NULL, kind VARCHAR(700) NOT NULL, facts JSON NOT NULL) " +
		"CHARACTER SET utf8mb4 "
	const fill = "INSERT INTO pages SELECT n, CONCAT('u', n), CONCAT('h', n DIV 4), CONCAT('p', n MOD 9), " +
		"CONCAT('n', n), CONCAT('k', n DIV 9), '{}' FROM thousand"
	asks := []string{
		"SELECT id FROM pages WHERE host = 'h5' AND path = 'p5'",
		"SELECT id FROM pages WHERE host = 'h5' AND path = 'p5' AND kind = 'k2'",
		"SELECT id FROM pages WHERE name = 'n7'",
		"SELECT id FROM pages WHERE url = 'u7'",
		"SELECT id FROM pages WHERE host = 'h5' ORDER BY path LIMIT 3",
		"SELECT id FROM pages WHERE facts = '[]'",
	}
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		s := newServer(t, srv)
		sandboxtest.Exec(t, s.db, "CREATE TABLE thousand (n INT PRIMARY KEY)",
			"INSERT INTO thousand WITH RECURSIVE up AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM up WHERE n < 999) "+
				"SELECT n FROM up")
		for _, options := range []string{"ENGINE=InnoDB", "ENGINE=InnoDB ROW_FORMAT=COMPACT", "ENGINE=MyISAM"} {
			sandboxtest.Exec(t, s.db, "DROP TABLE IF EXISTS pages", create+options, fill, "ANALYZE TABLE pages")
			made := 0
			for _, text := range asks {
				q := class("P", text, 1000, 1, 40*time.Second)
				q.RowsExamined = 1000 * q.Calls
				advice, err := indexes.Propose(s.run(q).Recording)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range advice.Proposals {
					if _, err := s.db.Exec(p.DDL); err != nil {
						t.Errorf("%s: %s: %s: %v", options, text, p.DDL, err)
						continue
					}
					made++
					sandboxtest.Exec(t, s.db, "DROP INDEX "+indexes.QuoteName(p.Name)+" ON pages")
				}
			}
			if made < 4 {
				t.Errorf("%s: %d indexes are proposed", options, made)
			}
		}
	})
}
