package pasted

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// A lookup is a statement of a loop: what it sends for each of three keys must be what the
// one statement for all of them sends.
type lookup struct {
	shows string
	sql   string   // with %v for the values of the key, in the order of the keys
	keys  [][]any  // of three parents
	names []string // of the columns that are the key
	first []any    // other values, in the order of the rewritten statement: before the keys
	rest  []any    // after them
	words string   // what the rule says instead of SQL
	rule  string   // QRY-05 unless it says another
}

// three parents: one with many rows, one with few, one with none.
var three = [][]any{{1}, {2}, {3}}

func lookupRows() (out []row) {
	for _, l := range slices.Concat(plainLookups, groupedLookups, limitedLookups, refusedLookups) {
		if l.rule == "" {
			l.rule = "QRY-05"
		}
		if l.keys == nil {
			l.keys = three
		}
		out = append(out, row{l.rule, l.shows, l.check})
	}
	return out
}

var plainLookups = []lookup{
	{shows: "one row by its key", sql: "SELECT name FROM readers WHERE id = %v", names: []string{"id"}},
	{shows: "LIMIT 1 by a unique key", sql: "SELECT * FROM readers WHERE id = %v LIMIT 1", names: []string{"id"}},
	{shows: "text that is compared without case", sql: "SELECT id FROM readers WHERE card = '%v'", names: []string{"card"},
		keys: [][]any{{"a-1"}, {"B-2"}, {"none"}}},
	{shows: "does a row exist", sql: "SELECT 1 FROM loans WHERE reader = %v", names: []string{"reader"}, first: []any{1}},
	{shows: "NULL beside the key", sql: "SELECT id, back FROM loans WHERE reader = %v AND back IS NULL ORDER BY lent DESC", names: []string{"reader"}},
	{shows: "a join is kept, ORDER BY too", names: []string{"reader"},
		sql: "SELECT b.title, s.label FROM loans l JOIN books b ON b.id = l.book JOIN shelves s ON s.id = b.shelf WHERE l.reader = %v ORDER BY b.title DESC"},
	{shows: "an outer join is kept", names: []string{"reader"},
		sql: "SELECT l.id, s.label FROM loans l LEFT JOIN books b ON b.id = l.book LEFT JOIN shelves s ON s.id = b.shelf WHERE l.reader = %v ORDER BY l.id"},
	{shows: "JOIN … USING, DISTINCT", names: []string{"reader"},
		sql: "SELECT DISTINCT b.kind FROM loans l JOIN copies c USING (book) JOIN books b ON b.id = l.book WHERE l.reader = %v ORDER BY b.kind"},
	{shows: "OR beside the key", sql: "SELECT id FROM loans WHERE reader = %v AND (back IS NULL OR fine > 1) ORDER BY id", names: []string{"reader"}, rest: []any{1}},
	{shows: "two keys", sql: "SELECT n FROM copies WHERE branch = %v AND book = %v", names: []string{"branch", "book"}, keys: [][]any{{1, 1}, {2, 3}, {9, 9}}},
	{shows: "reserved and quoted names", sql: "SELECT `a``b`, `select` FROM `order` WHERE `key` = %v ORDER BY `group` DESC", names: []string{"key"}},
	{shows: "another database", names: []string{"reader"},
		sql: "SELECT a.id, r.name FROM reading_archive.loans a JOIN " + schema + ".readers r ON r.id = a.reader WHERE a.reader = %v ORDER BY a.id"},
	{shows: "comments, a route's tag", names: []string{"reader"},
		sql: "/* route='GET /page' */ SELECT id -- the number\n FROM loans /* all */ WHERE reader = %v # one\n ORDER BY id"},
	{shows: "_binary, backslashes, quotes", names: []string{"reader"}, rest: []any{`a\b`, "it's"},
		sql: `SELECT id FROM loans WHERE reader = %v AND (note = _binary'a\\b' OR note = "it's") ORDER BY id`},
	{shows: "a list beside the key", sql: "SELECT id FROM loans WHERE reader = %v AND book IN (1, 2, 3) ORDER BY id", names: []string{"reader"}, rest: []any{1, 2, 3}},
	{shows: "a query within, without values", names: []string{"reader"},
		sql: "SELECT id FROM loans l WHERE l.reader = %v AND EXISTS (SELECT * FROM books b WHERE b.id = l.book AND b.shelf IS NOT NULL) ORDER BY id"},
	{shows: "CASE, CAST, dates", names: []string{"reader"}, first: []any{"x", 2, "no"},
		sql: "SELECT CASE WHEN note = 'x' THEN CAST(fine + 2 AS CHAR) ELSE 'no' END AS c, YEAR(lent) AS y FROM loans WHERE reader = %v ORDER BY id"},
	{shows: "BETWEEN, LIKE, NOT", names: []string{"reader"}, rest: []any{"2026-01-01", "2026-12-31", "x%"},
		sql: "SELECT id FROM loans WHERE reader = %v AND lent BETWEEN '2026-01-01' AND '2026-12-31' AND NOT (note LIKE 'x%%') ORDER BY id"},
	{shows: "FOR UPDATE", sql: "SELECT id FROM loans WHERE reader = %v ORDER BY id FOR UPDATE", names: []string{"reader"}},
	{shows: "LOCK IN SHARE MODE, which MariaDB has alone", sql: "SELECT id FROM loans WHERE reader = %v ORDER BY id LOCK IN SHARE MODE", names: []string{"reader"}},
	{shows: "joins by a comma, in parentheses", names: []string{"reader"},
		sql: "SELECT l.id, s.label FROM readers r, loans l LEFT JOIN (books b JOIN shelves s ON s.id = b.shelf) ON b.id = l.book WHERE r.id = l.reader AND l.reader = %v ORDER BY l.id"},
	{shows: "a column of another table by the key's name", names: []string{"id_key"},
		sql: "SELECT b.id, b.title FROM loans l JOIN books b ON b.id = l.book WHERE l.id = %v"},
	{shows: "all columns of another table", names: []string{"id_key"},
		sql: "SELECT b.* FROM loans l JOIN books b ON b.id = l.book WHERE l.id = %v"},
	{shows: "loops within loops", rule: "QRY-06", sql: "SELECT title FROM books WHERE id = %v", names: []string{"id"}},
}

var groupedLookups = []lookup{
	{shows: "COUNT( * )", sql: "SELECT COUNT( * ) FROM loans WHERE reader = %v", names: []string{"reader"}},
	{shows: "COUNT(*) over a join", sql: "SELECT COUNT(*) FROM loans l JOIN copies c ON c.book = l.book WHERE l.reader = %v", names: []string{"reader"}},
	{shows: "COUNT of one column, DISTINCT", sql: "SELECT COUNT(fine), COUNT(DISTINCT book) FROM loans WHERE reader = %v", names: []string{"reader"}},
	{shows: "sums with NULLs", sql: "SELECT SUM(fine) AS s, IFNULL(MAX(fine), 0) AS m, AVG(fine) FROM loans WHERE reader = %v", names: []string{"reader"}, first: []any{0}},
	{shows: "a count with ORDER BY and LIMIT", sql: "SELECT COUNT(*) FROM loans WHERE reader = %v ORDER BY lent LIMIT 1", names: []string{"reader"}},
	{shows: "GROUP BY, HAVING", names: []string{"reader"}, rest: []any{0},
		sql: "SELECT b.kind, COUNT(*) AS n FROM loans l JOIN books b ON b.id = l.book WHERE l.reader = %v GROUP BY b.kind HAVING n > 0 ORDER BY b.kind"},
	{shows: "a count by the name of its key", names: []string{"reader_key"},
		sql: "SELECT COUNT(*) AS reader FROM loans WHERE reader = %v"},
	{shows: "TRUE beside the key, a sum by its name", names: []string{"reader"},
		sql: "SELECT SUM(fine) AS book FROM loans WHERE book = TRUE AND reader = %v"},
	{shows: "a name beside a count", names: []string{"id"},
		sql: "SELECT r.name, COUNT(l.id) FROM readers r LEFT JOIN loans l ON l.reader = r.id WHERE r.id = %v GROUP BY r.id, r.name"},
	{shows: "counts by two keys", sql: "SELECT COUNT(*), MAX(n) FROM copies WHERE branch = %v AND book = %v", names: []string{"branch", "book"},
		keys: [][]any{{1, 1}, {2, 3}, {9, 9}}},
}

var limitedLookups = []lookup{
	{shows: "the newest of each", sql: "SELECT * FROM loans WHERE reader = %v ORDER BY lent DESC LIMIT 1", names: []string{"reader"}, rest: []any{1}},
	{shows: "the first three of each", sql: "SELECT id, lent FROM loans WHERE reader = %v ORDER BY fine, id LIMIT 3", names: []string{"reader"}, rest: []any{3}},
	{shows: "LIMIT over a join", names: []string{"reader"}, rest: []any{2},
		sql: "SELECT b.title, s.label AS shelf FROM loans l JOIN books b ON b.id = l.book LEFT JOIN shelves s ON s.id = b.shelf WHERE l.reader = %v ORDER BY b.title LIMIT 2"},
	{shows: "LIMIT, an order by a name given", names: []string{"reader"}, first: []any{2, 2}, rest: []any{2},
		sql: "SELECT id, fine * 2 AS twice FROM loans l WHERE l.reader = %v ORDER BY twice DESC, id LIMIT 2"},
	{shows: "LIMIT, quoted names", sql: "SELECT `select` FROM `order` o WHERE o.`key` = %v ORDER BY o.`group` LIMIT 1", names: []string{"key"}, rest: []any{1}},
	{shows: "LIMIT, a column that is called as the one of the numbers", sql: "SELECT * FROM seats WHERE hall = %v ORDER BY row_no DESC LIMIT 2", names: []string{"hall"}, rest: []any{2}},
	{shows: "LIMIT, a name given that is the one of the numbers", sql: "SELECT id, seat AS row_no FROM seats WHERE hall = %v ORDER BY row_no LIMIT 2", names: []string{"hall"}, rest: []any{2}},
	{shows: "LIMIT, all columns of an alias", sql: "SELECT * FROM loans AS l WHERE l.reader = %v ORDER BY l.id DESC LIMIT 2", names: []string{"reader"}, rest: []any{2}},
}

var refusedLookups = []lookup{
	{shows: "LIMIT without ORDER BY", sql: "SELECT id FROM loans WHERE reader = %v LIMIT 2", words: "takes any rows"},
	{shows: "pages of each", sql: "SELECT id FROM loans WHERE reader = %v ORDER BY id LIMIT 1, 2", words: "the page that a LIMIT takes"},
	{shows: "groups with LIMIT", sql: "SELECT book, COUNT(*) AS n FROM loans WHERE reader = %v GROUP BY book ORDER BY n LIMIT 1", words: "a LIMIT for each key"},
	{shows: "LIMIT, two columns of one name", words: "a LIMIT for each key",
		sql: "SELECT l.id, b.id FROM loans l JOIN books b ON b.id = l.book WHERE l.reader = %v ORDER BY l.id LIMIT 1"},
	{shows: "columns by their position", sql: "SELECT book, COUNT(*) FROM loans WHERE reader = %v GROUP BY 1 ORDER BY 2", words: "by their position"},
	{shows: "totals WITH ROLLUP", sql: "SELECT book, COUNT(*) FROM loans WHERE reader = %v GROUP BY book WITH ROLLUP", words: "WITH ROLLUP"},
	{shows: "the key within a query", sql: "SELECT id FROM loans WHERE reader = %v AND lent = (SELECT MAX(lent) FROM loans WHERE reader = 1)", words: "a query within it has values"},
	{shows: "what TRIM takes off", sql: "SELECT TRIM(LEADING 'x' FROM note) FROM loans WHERE reader = %v", words: "rewritten safely"},
	{shows: "a list without an order", sql: "SELECT GROUP_CONCAT(book) FROM loans WHERE reader = %v", words: "without ORDER BY"},
	{shows: "what the grammar does not read", sql: "SELECT GROUP_CONCAT(book ORDER BY book SEPARATOR '-') FROM loans WHERE reader = %v", words: "rewritten safely"},
	{shows: "functions over windows", sql: "SELECT ROW_NUMBER() OVER (ORDER BY id) FROM loans WHERE reader = %v", words: "functions over windows"},
	{shows: "variables", sql: "SELECT @n := 1, id FROM loans WHERE reader = %v", words: "variables"},
	{shows: "RAND()", sql: "SELECT id FROM loans WHERE reader = %v ORDER BY RAND()", words: "how often they run"},
	{shows: "|| of two modes", sql: "SELECT id FROM loans WHERE reader = %v AND (back || fine)", words: "|| means"},
	{shows: "names in double quotes", sql: `SELECT "name", id FROM readers WHERE id = %v`, words: "a name in double quotes"},
	{shows: "all names in double quotes", sql: `SELECT id FROM readers WHERE "name" = %v AND town = 1 AND town = 2`, words: "compared with two values"},
}

// check compares, or finds the words.
func (l lookup) check(s *server) (string, error) {
	code, words, err := l.written(s)
	if err != nil {
		return "", err
	}
	if l.words != "" {
		if code != "" || !strings.Contains(words, l.words) {
			return "", fmt.Errorf("wants the words %q, is %s %s", l.words, code, words)
		}
		return "in words: " + l.words, nil
	}
	if code == "" {
		return "", fmt.Errorf("in words: %s", words)
	}
	if err := s.prepare(code); err != nil {
		return "", err
	}
	args := slices.Clone(l.first)
	for _, k := range l.keys {
		args = append(args, k...)
	}
	all, err := s.ask(code, append(args, l.rest...)...)
	if err != nil {
		return "", err
	}
	if name := repeatedName(all.columns); name != "" {
		return "", fmt.Errorf("two columns are named %s\n%s", name, code)
	}
	for _, k := range l.keys {
		if err := l.compare(s, k, all); err != nil {
			return "", fmt.Errorf("%w\n%s", err, code)
		}
	}
	return fmt.Sprintf("same answers for %d keys, %d rows", len(l.keys), len(all.rows)), nil
}

// repeatedName returns a name that two of the columns have; empty without one.
func repeatedName(columns []string) string {
	for i, c := range columns {
		if slices.ContainsFunc(columns[:i], func(o string) bool { return strings.EqualFold(o, c) }) {
			return c
		}
	}
	return ""
}

// written is what the rule makes of the loop.
func (l lookup) written(s *server) (code, words string, err error) {
	list := class("L", "SELECT id, reader FROM loans ORDER BY lent", 1000, 20, time.Second)
	queries := []kasoku.Query{list, class("P", fmt.Sprintf(l.sql, l.keys[0]...), 20_000, 1, 40*time.Second)}
	if l.rule == "QRY-06" {
		list.RowsSent = 4000
		outer := class("O", "SELECT book FROM loans WHERE reader = 1", 4000, 5, 2*time.Second)
		queries = []kasoku.Query{list, outer, queries[1]}
	}
	fixes, err := s.fixes(l.rule, s.run(queries...))
	code, words = sqlOf(fixes)
	return code, words, err
}

// compare holds the rows of one key against what the lookup sends for it.
func (l lookup) compare(s *server, key []any, all answer) error {
	want, err := s.ask(fmt.Sprintf(l.sql, key...))
	if err != nil {
		return err
	}
	got := l.rowsOf(key, all, len(want.columns))
	if len(got) == 0 && len(want.rows) == 1 && strings.Contains(l.sql, "(") &&
		!slices.ContainsFunc(want.rows[0], isSomething) {
		return nil // no row counts as none
	}
	if !strings.Contains(l.sql, "ORDER BY") {
		sortRows(want.rows)
		sortRows(got)
	}
	if fmt.Sprint(got) != fmt.Sprint(want.rows) {
		return fmt.Errorf("key %v: %v, the lookup sends %v", key, got, want.rows)
	}
	return nil
}

// isSomething reports whether a figure is neither NULL nor a zero.
func isSomething(v string) bool { return v != null && strings.Trim(v, "0.") != "" }

func sortRows(rows [][]string) {
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// rowsOf returns the rows of a key without what was added: the keys before, and the row's
// number after.
func (l lookup) rowsOf(key []any, all answer, columns int) (out [][]string) {
	at := make([]int, len(key))
	for i, name := range l.names {
		at[i] = slices.IndexFunc(all.columns, func(c string) bool { return strings.EqualFold(c, name) })
	}
	end := len(all.columns)
	if strings.HasPrefix(all.columns[end-1], "row_no") {
		end--
	}
	for _, r := range all.rows {
		if !slices.ContainsFunc(at, func(i int) bool {
			return i < 0 || !strings.EqualFold(r[i], fmt.Sprint(key[slices.Index(at, i)]))
		}) {
			out = append(out, r[end-columns:end])
		}
	}
	return out
}
