package rewrite

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/diagnose/indexes"
)

// TestLookUpMany: conditions, joins, groups and order are kept; what cannot be is refused.
func TestLookUpMany(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		b, err := LookUpMany(text, [][]string{{"id"}})
		got := b.SQL
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	f("SELECT name FROM users WHERE id = ?", "SELECT id, name FROM users WHERE id IN (?, ?, ?);")
	f("SELECT * FROM `order` WHERE `key` = ? AND deleted_at IS NULL",
		"SELECT * FROM `order` WHERE `key` IN (?, ?, ?) AND deleted_at IS NULL;")
	f("SELECT COUNT(*) FROM comments WHERE post_id = ? AND created_at > ?",
		"SELECT post_id, COUNT(1) FROM comments WHERE post_id IN (?, ?, ?) AND created_at > ? GROUP BY post_id;")
	f("SELECT u.name FROM users u JOIN teams t ON t.id = u.team_id WHERE u.id = ? AND (t.closed = ? OR t.closed IS NULL)",
		"SELECT u.id, u.name FROM users AS u JOIN teams AS t ON t.id = u.team_id WHERE u.id IN (?, ?, ?) AND (t.closed = ? OR t.closed IS NULL);")
	f("SELECT a FROM t WHERE tenant = ? AND id = ?",
		"SELECT tenant, id, a FROM t WHERE ROW(tenant, id) IN (ROW(?, ?), ROW(?, ?), ROW(?, ?));")
	f("SELECT kind, SUM(n) FROM t WHERE owner = ? GROUP BY kind ORDER BY kind",
		"SELECT owner, kind, SUM(n) FROM t WHERE owner IN (?, ?, ?) GROUP BY owner, kind ORDER BY kind;")
	f("SELECT * FROM users WHERE id = ? LIMIT ?", "SELECT * FROM users WHERE id IN (?, ?, ?);")
	f("SELECT * FROM scores WHERE player = ? ORDER BY at DESC LIMIT 3", "error: a LIMIT for each key cannot be kept")
	f("SELECT * FROM users JOIN teams USING (team) WHERE id = ? LIMIT 1", "error: a LIMIT for each key cannot be kept")
	f("SELECT * FROM t WHERE a = ? OR b = ?", "error: the statement compares no column with one value")
	f("SELECT a FROM t WHERE a = ? UNION SELECT a FROM u", "error: the statement is of another kind")
	f("SELECT ROW_NUMBER() OVER (ORDER BY b) FROM t WHERE a = ?", "error: functions over windows cannot be kept")
}

func TestClauses(t *testing.T) {
	f := func(rewrite func(string) (string, error), text, want string) {
		t.Helper()
		got, err := rewrite(text)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	f(AddOrder, "SELECT * FROM t WHERE a = ? LIMIT ?", "SELECT * FROM t WHERE a = ? ORDER BY … LIMIT ?;")
	f(AddOrder, "/*route=x*/ SELECT COUNT( * ) FROM t FOR UPDATE", "SELECT COUNT(1) FROM t ORDER BY … FOR UPDATE;")
	f(AddOrder, "SELECT * FROM t ORDER BY a", "error: the statement is of another kind")
	f(TakeFirst, "SELECT * FROM t WHERE a = ?", "SELECT … FROM t WHERE a = ? ORDER BY … DESC LIMIT 1;")
	f(TakeFirst, "SELECT a FROM t ORDER BY b", "SELECT a FROM t ORDER BY b LIMIT 1;")
	f(AskWhether, "SELECT COUNT(*) FROM t JOIN u USING (x) WHERE a = ?", "SELECT 1 FROM t JOIN u USING (x) WHERE a = ? LIMIT 1;")
	f(AddRange, "SELECT a FROM t WHERE b = ? OR c = ? ORDER BY d",
		"SELECT a FROM t WHERE (b = ? OR c = ?) AND … >= ? AND … < ? ORDER BY d;")
	f(func(s string) (string, error) { return AddShape(s, "lat", "lon") },
		"SELECT * FROM e WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? AND state = ? ORDER BY score DESC",
		"SELECT * FROM e WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? AND state = ? AND ST_CONTAINS(ST_POLYGONFROMTEXT(?), POINT(lat, lon)) ORDER BY score DESC;")
	f(func(s string) (string, error) { return AddShape(s, "lat", "lon") },
		"SELECT * FROM e LIMIT 3", "error: rows beyond the LIMIT of the statement would be missing")
	f(InsertMany, "INSERT INTO t (a, b) VALUES (?, NOW()) ON DUPLICATE KEY UPDATE b = VALUES(b)",
		"INSERT INTO t (a, b) VALUES (?, NOW()), (?, NOW()), (?, NOW()) ON DUPLICATE KEY UPDATE b=VALUES(b);")
	f(InsertMany, "INSERT INTO t SET a = ?", "error: the statement is of another kind")
	f(InsertMany, "INSERT INTO t (a) SELECT ?", "error: the statement is of another kind")
}

// FuzzRewrite: what is printed is SQL again.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"SELECT a FROM t WHERE b = ?", "SELECT * FROM `a``b` WHERE `…` = 'x\\'y' LIMIT 1",
		"INSERT INTO t VALUES (1, _binary 'x')", "SELECT COUNT(DISTINCT a) FROM t WHERE b = -1 AND NOT c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		many := func(s string) (string, error) { b, err := LookUpMany(s, nil); return b.SQL, err }
		for _, rewrite := range []func(string) (string, error){many, AddOrder, TakeFirst, AskWhether, AddRange, InsertMany} {
			got, err := rewrite(text)
			if err != nil {
				continue
			}
			if _, err := indexes.ParseStatement(strings.ReplaceAll(got, unknown, "x")); err != nil {
				t.Errorf("%q becomes %q: %v", text, got, err)
			}
		}
	})
}
