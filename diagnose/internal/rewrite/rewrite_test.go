package rewrite

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexes"
)

// TestLookUpMany: conditions, joins, groups and order are kept; what cannot be is refused.
func TestLookUpMany(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		b, err := today.LookUpMany(text, [][]string{{"id"}})
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
		"SELECT tenant, id, a FROM t WHERE (tenant = ? AND id = ?) OR (tenant = ? AND id = ?) OR (tenant = ? AND id = ?);")
	f("SELECT kind, SUM(n) FROM t WHERE owner = ? GROUP BY kind ORDER BY kind",
		"SELECT owner, kind, SUM(n) FROM t WHERE owner IN (?, ?, ?) GROUP BY owner, kind ORDER BY kind;")
	f("SELECT COUNT(int_id) AS unread FROM entries WHERE unread = true AND feed_id = ?",
		"SELECT feed_id, COUNT(int_id) AS unread FROM entries WHERE feed_id IN (?, ?, ?) AND unread = TRUE GROUP BY feed_id;")
	f("SELECT COUNT(int_id) AS unread FROM entries WHERE unread = ? AND feed_id = ?",
		"SELECT unread AS unread_key, feed_id, COUNT(int_id) AS unread FROM entries WHERE "+
			"(unread = ? AND feed_id = ?) OR (unread = ? AND feed_id = ?) OR (unread = ? AND feed_id = ?) GROUP BY unread_key, feed_id;")
	f("SELECT b.id FROM a JOIN b ON b.a = a.id WHERE a.id = ?",
		"SELECT a.id AS id_key, b.id FROM a JOIN b ON b.a = a.id WHERE a.id IN (?, ?, ?);")
	f("SELECT b.* FROM a JOIN b ON b.a = a.id WHERE a.k = ?",
		"SELECT a.k AS k_key, b.* FROM a JOIN b ON b.a = a.id WHERE a.k IN (?, ?, ?);")
	f("SELECT * FROM users WHERE id = ? LIMIT ?", "SELECT * FROM users WHERE id IN (?, ?, ?);")
	f("SELECT * FROM scores WHERE player = ? ORDER BY at DESC LIMIT ?",
		"SELECT * FROM (SELECT scores.*, ROW_NUMBER() OVER (PARTITION BY player ORDER BY at DESC) AS row_no FROM scores WHERE player IN (?, ?, ?)) AS numbered WHERE row_no <= ? ORDER BY row_no;")
	f("SELECT s.a, s.b * ? AS c FROM s WHERE player = ? ORDER BY c LIMIT ?",
		"SELECT * FROM (SELECT player, s.a, s.b * ? AS c, ROW_NUMBER() OVER (PARTITION BY player ORDER BY s.b * ?) AS row_no FROM s WHERE player IN (?, ?, ?)) AS numbered WHERE row_no <= ? ORDER BY row_no;")
	f("SELECT * FROM scores WHERE player = ? ORDER BY at DESC LIMIT ?, ?", "error: the page that a LIMIT takes of each key cannot be kept")
	f("SELECT * FROM users JOIN teams USING (team) WHERE id = ? LIMIT 1", "error: a LIMIT without ORDER BY takes any rows: say first which ones")
	f("SELECT a.id, b.id FROM a JOIN b USING (x) WHERE a.k = ? ORDER BY b.id LIMIT 1", "error: a LIMIT for each key cannot be kept")
	f("SELECT name, COUNT(*) FROM t WHERE a = ? GROUP BY ? ORDER BY ?", "error: it names columns by their position")
	f("SELECT kind, SUM(n) FROM t WHERE a = ? GROUP BY kind WITH ROLLUP", "error: the totals of WITH ROLLUP cannot be kept")
	f("SELECT a FROM t WHERE a = ? AND b = (SELECT MAX(b) FROM u WHERE a = ?)", "error: a query within it has values, which may be those of the key")
	f("SELECT a, @n := @n + ? FROM t WHERE a = ?", "error: it has variables, or functions whose result depends on how often they run")
	f("SELECT a FROM t WHERE a = ? ORDER BY RAND()", "error: it has variables, or functions whose result depends on how often they run")
	f("SELECT SQL_CALC_FOUND_ROWS a FROM t WHERE a = ?", "error: SQL_CALC_FOUND_ROWS counts the rows of one statement")
	f("SELECT a FROM t WHERE a = ? AND b || c", "error: || means OR or CONCAT, as the session's sql_mode says")
	f("SELECT ?, a FROM t WHERE a = ?", "error: it selects a value, which may be that of the key, or a name in double quotes")
	f("SELECT a FROM t WHERE a = ? AND a = ?", "error: one column is compared with two values")
	f("SELECT COUNT(*) FROM t WHERE a = ? ORDER BY b LIMIT ?", "SELECT a, COUNT(1) FROM t WHERE a IN (?, ?, ?) GROUP BY a;")
	f("SELECT a FROM t WHERE a = ? AND b IN (?, …)", "SELECT a FROM t WHERE a IN (?, ?, ?) AND b IN (?, ?);")
	f("SELECT * FROM t WHERE a = ? OR b = ?", "error: the statement compares no column with one value")
	f("SELECT COUNT(*) AS n FROM (SELECT t.id AS t_id FROM t WHERE t.id = ?) AS x", "error: it reads a query in its FROM, which has the keys")
	f("SELECT a FROM t WHERE a = ? UNION SELECT a FROM u", "error: the statement is of another kind")
	f("SELECT TRIM(LEADING ? FROM b) FROM t WHERE a = ?", "error: its text is not one that can be rewritten safely")
	f("SELECT b FROM t WHERE a = ? AND b > {d ?}", "error: its text is not one that can be rewritten safely")
	f("SELECT JSON_ARRAYAGG(b) FROM t WHERE a = ?", "error: it lists values in one without ORDER BY, and another plan lists them in another order")
	f("SELECT b FROM t WHERE a = ? FOR SHARE SKIP LOCKED", "SELECT a, b FROM t WHERE a IN (?, ?, ?) FOR SHARE SKIP LOCKED;")
	f("SELECT b FROM t WHERE a = ? LOCK IN SHARE MODE", "SELECT a, b FROM t WHERE a IN (?, ?, ?) LOCK IN SHARE MODE;")
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
	bySeq := func(text string) (string, error) { return today.AddOrder(text, "seq") }
	f(bySeq, "SELECT * FROM t WHERE a = ? LIMIT ?", "SELECT * FROM t WHERE a = ? ORDER BY seq LIMIT ?;")
	f(bySeq, "/*route=x*/ SELECT a FROM t FOR UPDATE", "SELECT a FROM t ORDER BY seq FOR UPDATE;")
	f(bySeq, "SELECT t.a FROM t JOIN u ON u.a = t.a", "error: the statement is of another kind")
	f(bySeq, "SELECT * FROM t ORDER BY a", "error: the statement is of another kind")
	f(bySeq, "SELECT DISTINCT a FROM t", "error: the statement is of another kind")
	f(today.AskWhether, "SELECT COUNT(*) FROM t JOIN u USING (x) WHERE a = ?", "SELECT 1 FROM t JOIN u USING (x) WHERE a = ? LIMIT 1;")
	f(today.AskWhether, "SELECT COUNT(note) FROM t WHERE a = ?", "error: the statement is of another kind")
	f(today.AskWhether, "SELECT COUNT(*) > ? FROM t WHERE a = ?", "error: the statement is of another kind")
	shaped := func(list string) func(string) (string, error) {
		return func(lookup string) (string, error) {
			return today.AddShape(list, lookup, []string{"lat", "lon"}, [][]string{{"id"}})
		}
	}
	box := "SELECT * FROM e WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? ORDER BY score DESC"
	f(shaped(box), "SELECT * FROM e WHERE id = ? AND ST_Contains(ST_PolygonFromText(?), ST_GeomFromText(?)) AND NOT closed",
		"SELECT * FROM e WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? AND ST_CONTAINS(ST_POLYGONFROMTEXT(?), POINT(lat, lon)) AND NOT closed ORDER BY score DESC;")
	f(shaped(box), "SELECT 1 AS x FROM e WHERE id = ? AND ST_Within(spot, ST_GeomFromText(?))",
		"SELECT * FROM e WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? AND ST_WITHIN(spot, ST_GEOMFROMTEXT(?)) ORDER BY score DESC;")
	f(shaped(box), "SELECT id FROM e WHERE id = ? AND ST_Distance(spot, ST_GeomFromText(?)) < ?", "error: how the lookup tests the shape is not in the statement")
	f(shaped(box), "SELECT id FROM e WHERE state = ? AND ST_Within(spot, ST_GeomFromText(?))", "error: how the lookup tests the shape is not in the statement")
	f(shaped(box+" LIMIT 3"), "SELECT id FROM e WHERE id = ? AND ST_Within(spot, ST_GeomFromText(?))", "error: rows beyond the LIMIT of the statement would be missing")
	f(today.InsertMany, "INSERT INTO t (a, b) VALUES (?, NOW()) ON DUPLICATE KEY UPDATE b = VALUES(b)",
		"INSERT INTO t (a, b) VALUES (?, NOW()), (?, NOW()), (?, NOW()) ON DUPLICATE KEY UPDATE b=VALUES(b);")
	f(today.InsertMany, "INSERT INTO t SET a = ?", "error: the statement is of another kind")
	f(today.InsertMany, "INSERT INTO t (a) SELECT ?", "error: the statement is of another kind")
	f(today.InsertMany, "INSERT INTO t (a) VALUES (LAST_INSERT_ID())", "error: it has variables, or functions whose result depends on how often they run")
	f(today.InsertMany, "INSERT INTO t (a) VALUES ((SELECT MAX(a) FROM u))", "error: it has variables, or functions whose result depends on how often they run")
	f(today.InsertMany, "INSERT INTO t (a) VALUES (?) ON DUPLICATE KEY UPDATE a = ?", "error: a query within it has values, which may be those of the key")
}

// TestFreeColumn_Collations: a column takes the place of its function only where it compares as
// that did.
func TestFreeColumn_Collations(t *testing.T) {
	h := indexes.Hidden{Column: "a", Function: "LOWER", Type: "varchar(20)", Collate: "utf8mb4_general_ci"}
	for text, want := range map[string]string{
		"SELECT b FROM t WHERE LOWER(a) = ?":                        "SELECT b FROM t WHERE a = ?;",
		"SELECT b FROM t WHERE LOWER(a) = ? COLLATE utf8mb4_bin":    errUntouched.Error(),
		"SELECT b FROM t WHERE LOWER(a) = BINARY ?":                 errUntouched.Error(),
		"SELECT b FROM t JOIN u USING (c) WHERE LOWER(t.a) = u.bin": errCompared.Error(),
	} {
		got, err := today.FreeColumn(text, h)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

var today = DialectOf(&kasoku.Recording{})

// TestDialects: a server that reads SQL in another way gets words.
func TestDialects(t *testing.T) {
	f := func(version, mode, text, want string) {
		t.Helper()
		d := DialectOf(&kasoku.Recording{Settings: []kasoku.Setting{
			{Scope: "mysql", Name: "version", Value: version}, {Scope: "mysql", Name: "sql_mode", Value: mode}}})
		b, err := d.LookUpMany(text, nil)
		got := b.SQL
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s, %s: %s\n got %s\nwant %s", version, mode, text, got, want)
		}
	}
	const plain, limited = "SELECT a FROM t WHERE a = ?", "SELECT a FROM t WHERE a = ? ORDER BY b LIMIT ?"
	f("8.4.2", "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES", plain, "SELECT a")
	f("8.4.2", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI", plain, errMode.Error())
	f("11.4.2-MariaDB", "PIPES_AS_CONCAT", plain, errMode.Error())
	f("11.4.2-MariaDB", "", limited, "SELECT * FROM (")
	f("10.1.48-MariaDB", "", limited, errOld.Error())
	f("5.7.44", "", limited, errOld.Error())
	f("5.7.44", "", plain, "SELECT a")
}

// FuzzRewrite: what is printed is SQL again.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"SELECT a FROM t WHERE b = ?", "SELECT * FROM `a``b` WHERE `…` = 'x\\'y' LIMIT 1",
		"INSERT INTO t VALUES (1, _binary 'x')", "SELECT COUNT(DISTINCT a) FROM t WHERE b = -1 AND NOT c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		many := func(s string) (string, error) { b, err := today.LookUpMany(s, nil); return b.SQL, err }
		ordered := func(text string) (string, error) { return today.AddOrder(text, "seq") }
		for _, rewrite := range []func(string) (string, error){many, ordered, today.AskWhether, today.InsertMany} {
			got, err := rewrite(text)
			if err != nil {
				continue
			}
			if _, err := indexes.ParseStatement(got); err != nil {
				t.Errorf("%q becomes %q: %v", text, got, err)
			}
		}
	})
}

// TestWithoutJoins: a join goes where the count is the same without it by what the tables' definitions say, and
// stays where they do not say so.
func TestWithoutJoins(t *testing.T) {
	defs := map[string]*kasoku.TableDef{
		"owners": {Name: "owners", Create: "CREATE TABLE `owners` (\n  `id` int NOT NULL,\n  `name` varchar(40),\n  `card` varchar(20),\n" +
			"  `town` bigint,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}},
		"pets": {Name: "pets", Create: "CREATE TABLE `pets` (\n  `id` int NOT NULL,\n  `owner_id` int,\n  `born` date,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
			Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}, {Name: "by_owner", Columns: []string{"owner_id"}}}},
		"towns": {Name: "towns", Create: "CREATE TABLE `towns` (\n  `id` int unsigned NOT NULL,\n  `label` varchar(40),\n  `code` varchar(20) COLLATE utf8mb4_bin,\n" +
			"  PRIMARY KEY (`id`),\n  UNIQUE KEY `label` (`label`),\n  UNIQUE KEY `code` (`code`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
			Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}, {Name: "label", Unique: true, Columns: []string{"label"}},
				{Name: "code", Unique: true, Columns: []string{"code DESC"}}}},
	}
	f := func(text, want string) {
		t.Helper()
		c, err := today.WithoutJoins(text, func(_, name string) *kasoku.TableDef { return defs[name] })
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = c.SQL
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	const needed = "error: its joins may change what is counted"
	// Hibernate's count of a page, and Ghost's.
	f("select count(distinct o1_0.id) from owners o1_0 left join pets p1_0 on o1_0.id=p1_0.owner_id where o1_0.name like replace(?,?,?)",
		"SELECT COUNT(1) FROM owners AS o1_0 WHERE o1_0.name LIKE REPLACE(?, ?, ?);")
	f("select count(distinct o1_0.name) as n from owners o1_0 left join pets p1_0 on o1_0.id=p1_0.owner_id",
		"SELECT COUNT(DISTINCT o1_0.name) AS n FROM owners AS o1_0;")
	f("select count(o1_0.id) from owners o1_0 left join pets p1_0 on o1_0.id=p1_0.owner_id", needed)
	f("select count(*) from owners left join pets on pets.owner_id = owners.id", needed)
	f("select count(*) from pets p left join owners o on o.id = p.owner_id where p.born > ?", "SELECT COUNT(1) FROM pets AS p WHERE p.born > ?;")
	f("select count(*) from pets p left join owners o on o.id = p.owner_id where o.name = ?", needed)
	f("select count(*) from pets p left join owners o on o.id = p.owner_id where name = ?", needed)
	f("select count(*) from pets p left join owners o on o.id = p.owner_id left join towns t on t.id = o.town", "SELECT COUNT(1) FROM pets AS p;")
	f("select count(*) from pets p left join owners o on o.id = p.owner_id join towns t on t.id = o.town", needed)
	f("select count(*) from pets p left join owners o on o.id = p.owner_id join towns t on t.id = p.id", "SELECT COUNT(1) FROM pets AS p JOIN towns AS t ON t.id = p.id;")
	f("select count(*) from pets p left join owners o on id = p.owner_id", needed) // whose id it is
	f("select count(*) from owners o left join towns t on t.label = o.card", "SELECT COUNT(1) FROM owners AS o;")
	f("select count(*) from owners o left join towns t on t.code = o.card", needed) // a unique key of another collation
	f("select count(*) from owners o left join towns t on t.label = o.id", needed)  // texts that are one number
	f("select count(*) from owners o left join towns t on t.id <=> o.town", needed)
	f("select count(*) from owners o left join towns t on t.id = o.town or t.id = ?", needed)
	f("select count(*) from owners o left join towns t on t.id = ?", needed)
	f("select count(*) from owners o inner join towns t on t.id = o.town", needed)
	f("select count(distinct o.id) from owners o right join pets p on p.owner_id = o.id", needed)
	f("select count(distinct o.id), max(o.town) from owners o left join pets p on p.owner_id = o.id", "error: "+errKind.Error())
	f("select count(distinct o.id) from owners o left join pets p on p.owner_id = o.id group by o.town", "error: "+errKind.Error())
	f("select count(distinct o.id) from owners o left join pets p using (id)", "error: "+errOtherway.Error())
	f("select count(distinct o.id) from owners o left join strays s on s.owner_id = o.id", "error: "+errTables.Error())
	f("select count(distinct o.id) from owners o left join (select owner_id from pets) s on s.owner_id = o.id", "error: "+errDerived.Error())
	f("select count(distinct o.id) from owners o left join pets p on p.owner_id = o.id for update", "error: "+errKind.Error())
	f("select count(distinct o.id) from owners o left join pets p on p.owner_id = o.id where exists (select * from pets q where q.born < p.born)", needed)
	f("select count(distinct o.id) from owners o left join pets p on p.owner_id = o.id order by p.born", needed)
}

// TestLimit: the values of a LIMIT stay in the order in which a program binds them.
func TestLimit(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE b = ? LIMIT ? OFFSET ?": "SELECT a FROM t WHERE b = ? ORDER BY id LIMIT ? OFFSET ?;",
		"SELECT a FROM t WHERE b = ? LIMIT ?, ?":       "SELECT a FROM t WHERE b = ? ORDER BY id LIMIT ?, ?;",
		"SELECT a FROM t LIMIT 3 OFFSET 4":             "SELECT a FROM t ORDER BY id LIMIT 4, 3;",
		"SELECT a FROM t LIMIT ?":                      "SELECT a FROM t ORDER BY id LIMIT ?;",
	} {
		got, err := (Dialect{}).AddOrder(text, "id")
		if err != nil || strings.ReplaceAll(got, ",", ", ") != want && got != want {
			t.Errorf("%s: %q %v, want %q", text, got, err, want)
		}
	}
}
