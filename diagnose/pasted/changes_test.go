package pasted

import (
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

func changeRows() []row {
	out := []row{
		{"QRY-02", "COUNT(*) by the primary key", asksWhether("SELECT COUNT(*) FROM readers WHERE id = %v", 1, 9)},
		{"QRY-02", "COUNT(1) by a unique key, with more", asksWhether(
			"SELECT COUNT(1) FROM copies WHERE branch = 1 AND book = %v AND n > 3", 1, 2)},
		{"QRY-02", "COUNT of a column that may be NULL", inWords("QRY-02",
			"SELECT COUNT(town) FROM readers WHERE id = 1", "Ask for one row")},
		{"QRY-04", "a box, and its rows one by one in a polygon", asksForArea},
		{"OPS-04", "rows as they are stored", keepsOrder},
		{"LCK-03", "a row that is locked by its state", takesOnce(
			"SELECT id FROM books WHERE id = 1 AND kind = 'novel' FOR UPDATE",
			"UPDATE books SET kind = 'taken' WHERE id = 1", "kind")},
		{"LCK-03", "the first row of a state", takesOnce(
			"SELECT id FROM books WHERE kind = 'map' ORDER BY id LIMIT 1 FOR UPDATE",
			"UPDATE books SET shelf = 9, kind = 'taken' WHERE id = 3", "kind")},
		{"LCK-03", "what is written is read before", isNoTaking(
			"SELECT id, shelf FROM books WHERE id = 1 AND kind = 'novel' FOR UPDATE",
			"UPDATE books SET shelf = 3, kind = 'taken' WHERE id = 1")},
		{"LCK-03", "a row by its key alone", isNoTaking("SELECT kind FROM books WHERE id = 1 FOR UPDATE",
			"UPDATE books SET kind = 'taken' WHERE id = 1")},
		{"LCK-03", "a row that others skip", isNoTaking(
			"SELECT id FROM books WHERE kind = 'map' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
			"UPDATE books SET kind = 'taken' WHERE id = 3")},
		{"LCK-04", "a lock by name", holdsOff},
		{"QRY-01", "rows that no answer holds", saysInWords("QRY-01",
			unread("SELECT * FROM loans WHERE fine > 0 ORDER BY lent DESC"))},
		{"QRY-01", "rows that no answer holds, in an order", stopsAtLimit},
	}
	for _, text := range []string{
		"SELECT SQL_CALC_FOUND_ROWS id, note FROM loans WHERE fine IS NULL ORDER BY id LIMIT 2",
		"SELECT SQL_CALC_FOUND_ROWS l.id, b.title FROM loans l LEFT JOIN books b ON b.id = l.book WHERE l.reader = 1 ORDER BY b.title LIMIT 1, 2",
		"SELECT SQL_CALC_FOUND_ROWS DISTINCT kind FROM books ORDER BY kind LIMIT 1",
		"SELECT SQL_CALC_FOUND_ROWS reader, COUNT(*) AS n FROM loans GROUP BY reader HAVING n > 0 ORDER BY reader LIMIT 1",
	} {
		out = append(out, row{"QRY-11", "a page and its count: " + text, pageAndCount(text)})
	}
	for text, keeps := range map[string]string{
		"SELECT COUNT(DISTINCT r.id) FROM readers r LEFT JOIN loans l ON l.reader = r.id WHERE r.town = 1":                                  "readers AS r",
		"SELECT COUNT(*) FROM loans l LEFT JOIN books b ON b.id = l.book LEFT JOIN shelves s ON s.id = b.shelf WHERE l.reader = 1":          "loans AS l",
		"SELECT COUNT(l.fine) AS n FROM loans l LEFT JOIN books b ON b.id = l.book":                                                         "loans AS l",
		"SELECT COUNT(DISTINCT b.kind) FROM loans l JOIN books b ON b.id = l.book LEFT JOIN copies c ON c.book = b.id WHERE l.fine IS NULL": "loans AS l books AS b",
		"SELECT COUNT(*) FROM loans l LEFT JOIN books b ON b.id = l.book JOIN readers r ON r.id = l.reader WHERE r.town = 1":                "loans AS l readers AS r",
		"SELECT COUNT(*) FROM copies c LEFT JOIN copies d ON d.branch = c.branch AND d.book = c.book":                                       "copies AS c",
		"SELECT COUNT(*) FROM loans l LEFT JOIN readers r ON r.card = l.note":                                                               "loans AS l",
		"SELECT COUNT(DISTINCT r.name, r.town) FROM readers r LEFT JOIN loans l ON l.reader = r.id AND l.fine > 0":                          "readers AS r",
	} {
		out = append(out, row{"QRY-15", "the same count: " + text, countsTheSame(text, keeps)})
	}
	for _, text := range []string{
		"SELECT COUNT(*) FROM readers r LEFT JOIN loans l ON l.reader = r.id",
		"SELECT COUNT(*) FROM loans l LEFT JOIN books b ON b.id = l.book WHERE b.kind = 'map'",
		"SELECT COUNT(DISTINCT r.id) FROM readers r LEFT JOIN loans l ON l.reader = r.id WHERE l.fine > 0",
		"SELECT COUNT(DISTINCT r.id) FROM readers r LEFT JOIN loans l ON l.reader = r.id WHERE lent > '2026-01-01'",
		"SELECT COUNT(DISTINCT r.id) FROM readers r JOIN loans l ON l.reader = r.id",
		"SELECT COUNT(DISTINCT r.id, l.id) FROM readers r LEFT JOIN loans l ON l.reader = r.id",
		"SELECT COUNT(*) FROM loans l LEFT JOIN readers r ON r.card = l.id",
		"SELECT COUNT(*) FROM copies c LEFT JOIN copies d ON d.branch = c.branch",
		"SELECT COUNT(*) FROM loans l LEFT JOIN books b ON b.id = l.book OR b.id = 1",
		"SELECT COUNT(*) FROM loans l LEFT JOIN books b ON b.id >= l.book",
		"SELECT COUNT(*) FROM readers r LEFT JOIN loans l ON l.reader = r.id LEFT JOIN books b ON b.id = l.book WHERE b.kind = 'map'",
		"SELECT COUNT(DISTINCT r.id) FROM readers r LEFT JOIN loans l ON l.reader = r.id WHERE EXISTS (SELECT 1 FROM books b WHERE b.id = l.book)",
	} {
		out = append(out, row{"QRY-15", "a join that counts: " + text, keepsJoins(text)})
	}
	for _, i := range inserts {
		out = append(out, row{"DRV-03", i.shows, i.check})
	}
	return out
}

// asksWhether compares a count with the number of rows that the rule's statement sends.
func asksWhether(text string, values ...any) func(*server) (string, error) {
	return func(s *server) (string, error) {
		for _, v := range values {
			original := fmt.Sprintf(text, v)
			fixes, err := s.fixes("QRY-02", s.run(class("P", original, 20_000, 1, 40*time.Second)))
			if err != nil {
				return "", err
			}
			code, words := sqlOf(fixes)
			if code == "" {
				return "", fmt.Errorf("in words: %s", words)
			}
			if err := s.prepare(code); err != nil {
				return "", err
			}
			var args []any
			if args = []any{v}; strings.Count(code, "?") == 3 {
				args = []any{1, v, 3}
			}
			want, err := s.ask(original)
			if err != nil {
				return "", err
			}
			got, err := s.ask(code, args...)
			if err != nil {
				return "", err
			}
			if want.rows[0][0] != fmt.Sprint(len(got.rows)) {
				return "", fmt.Errorf("%v: %d rows, the count is %s", v, len(got.rows), want.rows[0][0])
			}
		}
		return fmt.Sprintf("as many rows as are counted, %d times", len(values)), nil
	}
}

// pageAndCount compares the two statements with the page and FOUND_ROWS().
func pageAndCount(text string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		q := class("P", text, 1000, 2, 40*time.Second)
		q.RowsExamined = 20_000 * q.Calls
		rec := s.run(q)
		rec.Plans = nil // by which the rule is silent where the split is no gain; here it is to be right
		fixes, err := s.fixes("QRY-11", rec)
		if err != nil {
			return "", err
		}
		code, words := sqlOf(fixes)
		steps := strings.Split(strings.TrimSuffix(code, ";"), ";\n")
		if len(steps) < 2 {
			return "", fmt.Errorf("in words: %s", words)
		}
		for i := range steps {
			if err := s.prepare(steps[i]); err != nil {
				return "", err
			}
		}
		fill := func(t string) string { // the values of the original, in their order
			for _, v := range valuesOf(text)[:strings.Count(t, "?")] {
				t = strings.Replace(t, "?", v, 1)
			}
			return t
		}
		conn, err := s.db.Conn(s.t.Context())
		if err != nil {
			return "", err
		}
		defer conn.Close()
		rows, err := conn.QueryContext(s.t.Context(), text)
		if err != nil {
			return "", err
		}
		for rows.Next() {
		}
		if err := rows.Close(); err != nil {
			return "", err
		}
		var all string
		if err := conn.QueryRowContext(s.t.Context(), "SELECT FOUND_ROWS()").Scan(&all); err != nil {
			return "", err
		}
		want, err := s.ask(text)
		if err != nil {
			return "", err
		}
		got, err := s.ask(fill(steps[len(steps)-2]))
		if err != nil {
			return "", err
		}
		count, err := s.ask(fill(steps[len(steps)-1]))
		if err != nil {
			return "", err
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || count.rows[0][0] != all {
			return "", fmt.Errorf("%s: %v of %s, before %v of %s", code, got, count.rows[0][0], want, all)
		}
		return fmt.Sprintf("same %d rows of %s: %s", len(got.rows), all, steps[len(steps)-1]), nil
	}
}

// dearCount is a run of a statement that takes most of the time, without its plan: by that the rule is silent
// where the server leaves the join out by itself.
func dearCount(s *server, text string) *diagnose.Case {
	c := s.run(class("P", text, 1000, 1, 40*time.Second))
	c.Plans = nil
	return c
}

// countsTheSame compares a count with that of the fix, which reads these tables alone.
func countsTheSame(text, keeps string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		fixes, err := s.fixes("QRY-15", dearCount(s, text))
		if err != nil {
			return "", err
		}
		code, words := sqlOf(fixes)
		if code == "" {
			return "", fmt.Errorf("in words: %s", words)
		}
		_, from, _ := strings.Cut(code, " FROM ")
		for _, table := range []string{"readers", "loans", "books", "shelves", "copies"} {
			if strings.Count(from, table+" AS ") != strings.Count(keeps, table+" AS ") {
				return "", fmt.Errorf("%s: wants %s", code, keeps)
			}
		}
		if err := s.prepare(code); err != nil {
			return "", err
		}
		var values []any
		for _, v := range valuesOf(text)[:strings.Count(code, "?")] {
			values = append(values, v)
		}
		want, err := s.ask(text)
		if err != nil {
			return "", err
		}
		got, err := s.ask(code, values...)
		if err != nil {
			return "", err
		}
		if fmt.Sprint(got.rows) != fmt.Sprint(want.rows) || text != strings.Replace(text, " AS n ", "", 1) && got.columns[0] != "n" {
			return "", fmt.Errorf("%s: %v, before %v", code, got, want)
		}
		return fmt.Sprintf("%s: %s", got.rows[0][0], code), nil
	}
}

// keepsJoins: the rule says nothing of a count that may be another without the join.
func keepsJoins(text string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		if _, err := s.ask(text); err != nil {
			return "", err
		}
		if fixes, err := s.fixes("QRY-15", dearCount(s, text)); err == nil {
			return "", fmt.Errorf("proposes %+v", fixes)
		}
		return "is silent", nil
	}
}

// valuesOf returns the numbers of a statement.
func valuesOf(text string) (out []string) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' || r == ')' }) {
		if w[0] >= '0' && w[0] <= '9' {
			out = append(out, w)
		}
	}
	return out
}

func inWords(rule, text, words string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		fixes, err := s.fixes(rule, s.run(class("P", text, 20_000, 1, 40*time.Second)))
		code, said := sqlOf(fixes)
		if err == nil && (code != "" || !strings.Contains(said, words)) {
			err = fmt.Errorf("wants words, is %s %s", code, said)
		}
		return "in words: " + words, err
	}
}

// saysInWords: what the program needs of the rows is not in the log, so no SQL is printed.
func saysInWords(rule string, q kasoku.Query) func(*server) (string, error) {
	return func(s *server) (string, error) {
		fixes, err := s.fixes(rule, s.run(q))
		if code, _ := sqlOf(fixes); err == nil && code != "" {
			err = fmt.Errorf("wants words, is %s", code)
		}
		return "in words", err
	}
}

// unread is a class that sends 400 rows a call, which no answer holds.
func unread(text string) kasoku.Query { return class("P", text, 1000, 400, 30*time.Second) }

// stopsAtLimit makes the index of an order, and asks whether the server reads no more than the
// LIMIT by it, in the same order.
func stopsAtLimit(s *server) (string, error) {
	const text = "SELECT id, lent FROM loans ORDER BY lent DESC, id DESC"
	fixes, err := s.fixes("QRY-01", s.run(unread(text)))
	if err != nil {
		return "", err
	}
	code, _ := sqlOf(fixes)
	want, err := s.ask(text + " LIMIT 3")
	if err != nil {
		return "", err
	}
	if _, err := s.db.Exec(code); err != nil {
		return "", fmt.Errorf("%s: %w", code, err)
	}
	defer s.db.Exec("DROP INDEX loans_lent ON loans")
	got, err := s.ask(text + " LIMIT 3")
	if err != nil {
		return "", err
	}
	key, err := s.keyOf(text + " LIMIT 3")
	if err != nil {
		return "", err
	}
	if key != "loans_lent" || fmt.Sprint(got) != fmt.Sprint(want) {
		return "", fmt.Errorf("%s: by %s %v, before %v", code, key, got, want)
	}
	return "same rows, by " + code, nil
}

// asksForArea runs the box and asks for each of its rows, and then the one statement.
func asksForArea(s *server) (string, error) {
	const (
		polygon = "POLYGON((1 1, 1 6, 8 6, 1 1))"
		box     = "SELECT id FROM spots WHERE lat >= 1 AND lat <= 8 AND lon >= 1 AND lon <= 6 ORDER BY id DESC"
		lookup  = "SELECT * FROM spots WHERE id = %v AND ST_Contains(ST_PolygonFromText('" + polygon + "'), ST_GeomFromText('POINT(%v %v)'))"
	)
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf("(%d, %d.5, %d.25)", i, i/10, i%10))
	}
	for _, q := range []string{"CREATE TABLE spots (id INT PRIMARY KEY, lat DOUBLE NOT NULL, lon DOUBLE NOT NULL)", "INSERT INTO spots VALUES " + strings.Join(rows, ",")} {
		if _, err := s.db.Exec(q); err != nil {
			return "", err
		}
	}
	list, point := class("L", box, 1000, 20, time.Second), class("P", fmt.Sprintf(lookup, 1, 2, 3), 20_000, 1, 40*time.Second)
	point.RowsSent = 9000
	fixes, err := s.fixes("QRY-04", s.run(list, point))
	if err != nil {
		return "", err
	}
	code, words := sqlOf(fixes)
	if code == "" {
		return "", fmt.Errorf("in words: %s", words)
	}
	boxed, err := s.ask(strings.Replace(box, "id FROM", "id, lat, lon FROM", 1))
	if err != nil {
		return "", err
	}
	var want []string
	for _, r := range boxed.rows {
		one, err := s.ask(fmt.Sprintf(lookup, r[0], r[1], r[2]))
		if err != nil {
			return "", err
		}
		if len(one.rows) > 0 {
			want = append(want, r[0])
		}
	}
	got, err := s.ask(code, 1, 8, 1, 6, polygon)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, r := range got.rows {
		ids = append(ids, r[0])
	}
	if fmt.Sprint(ids) != fmt.Sprint(want) || len(ids) == 0 || len(ids) == len(boxed.rows) {
		return "", fmt.Errorf("%s: %v, one by one %v", code, ids, want)
	}
	return fmt.Sprintf("same %d of %d rows of the box", len(ids), len(boxed.rows)), nil
}

// keepsOrder numbers the rows of a table, and reads them in that order: as before, also when
// the table then gets a key, and for statements that name no columns.
func keepsOrder(s *server) (string, error) {
	const text = "SELECT * FROM slips WHERE day >= 2 LIMIT 5"
	for _, q := range []string{"CREATE TABLE slips (id INT NOT NULL, day INT NOT NULL)",
		"INSERT INTO slips VALUES (9,1),(8,2),(7,3),(1,4),(2,5),(3,6),(6,7),(5,8)"} {
		if _, err := s.db.Exec(q); err != nil {
			return "", err
		}
	}
	want, err := s.ask(text)
	if err != nil {
		return "", err
	}
	q := class("P", text, 1000, 5, time.Second)
	q.RowsExamined = 8000
	fixes, err := s.fixes("OPS-04", s.run(q))
	if err != nil {
		return "", err
	}
	number, ordered, ok := strings.Cut(fixes[1].Code, "\n")
	if !ok {
		return "", fmt.Errorf("no statement with an order: %s", fixes[1].Code)
	}
	for _, change := range []string{number, "ALTER TABLE slips ADD PRIMARY KEY (id)", "INSERT INTO slips VALUES (4, 9)"} {
		if _, err := s.db.Exec(change); err != nil {
			return "", fmt.Errorf("%s: %w", change, err)
		}
	}
	got, err := s.ask(ordered, 2, 5)
	if err != nil {
		return "", err
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return "", fmt.Errorf("%s: %v, before %v", ordered, got, want)
	}
	return fmt.Sprintf("same %d rows in the same order, with a primary key too", len(got.rows)), nil
}

// An insert writes three rows one by one; one statement must leave the same table.
type insert struct {
	shows string
	sql   string // with %v
	each  [][]any
	words string
}

var stocked = [][]any{{1, 10}, {2, 20}, {1, 5}}

var inserts = []insert{
	{shows: "plain rows", sql: "INSERT INTO stock (shop, n) VALUES (%v, %v)", each: [][]any{{1, 10}, {2, 20}, {3, 5}}},
	{shows: "a function in a row", sql: "INSERT INTO stock (shop, n, note) VALUES (%v, %v, CONCAT('a\\\\b', \"c\"))", each: [][]any{{1, 10}, {2, 20}, {3, 5}}},
	{shows: "ON DUPLICATE KEY UPDATE", sql: "INSERT INTO stock (shop, n) VALUES (%v, %v) ON DUPLICATE KEY UPDATE n = n + VALUES(n)", each: stocked},
	{shows: "REPLACE", sql: "REPLACE INTO stock (shop, n) VALUES (%v, %v)", each: stocked},
	{shows: "INSERT IGNORE", sql: "INSERT IGNORE INTO stock (shop, n) VALUES (%v, %v)", each: stocked},
	{shows: "a value outside of the row", sql: "INSERT INTO stock (shop, n) VALUES (%v, %v) ON DUPLICATE KEY UPDATE n = 7", each: stocked, words: "needs a form of its own"},
	{shows: "the key of the row before", sql: "INSERT INTO stock (shop, n) VALUES (%v, %v + LAST_INSERT_ID())", each: stocked, words: "needs a form of its own"},
	{shows: "a query in a row", sql: "INSERT INTO stock (shop, n) VALUES (%v, (SELECT %v))", each: stocked, words: "needs a form of its own"},
}

func (i insert) check(s *server) (string, error) {
	q := class("P", fmt.Sprintf(i.sql, i.each[0]...), 20_000, 0, 40*time.Second)
	q.SingleRow, q.Streak, q.Streaks = q.Calls, 20, q.Calls
	fixes, err := s.fixes("DRV-03", s.run(q))
	if err != nil {
		return "", err
	}
	code, words := sqlOf(fixes)
	if i.words != "" {
		if code != "" || !strings.Contains(words, i.words) {
			return "", fmt.Errorf("wants the words %q, is %s %s", i.words, code, words)
		}
		return "in words: " + i.words, nil
	}
	var args []any
	for _, e := range i.each {
		args = append(args, e...)
		if strings.Count(code, "?") > 6 {
			args = append(args, `a\b`, "c")
		}
	}
	var tables [2]answer
	for k := range tables {
		for _, q := range []string{"DROP TABLE IF EXISTS stock", "CREATE TABLE stock (shop INT PRIMARY KEY, n INT NOT NULL, note VARCHAR(20))"} {
			if _, err := s.db.Exec(q); err != nil {
				return "", err
			}
		}
		if k == 1 {
			_, err = s.db.Exec(code, args...)
		}
		for _, e := range i.each {
			if k == 0 && err == nil {
				_, err = s.db.Exec(fmt.Sprintf(i.sql, e...))
			}
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", code, err)
		}
		if tables[k], err = s.ask("SELECT * FROM stock ORDER BY shop"); err != nil {
			return "", err
		}
	}
	if fmt.Sprint(tables[0]) != fmt.Sprint(tables[1]) {
		return "", fmt.Errorf("%s: %v, one by one %v", code, tables[1], tables[0])
	}
	return fmt.Sprintf("same %d rows in the table", len(tables[1].rows)), nil
}
