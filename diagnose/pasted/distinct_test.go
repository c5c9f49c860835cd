package pasted

import (
	"fmt"
	"strings"
	"time"
)

// distinctTables are for QRY-14: 400 poems, each in two or three volumes, some without a poet.
var distinctTables = []string{
	"CREATE TABLE poems (id INT NOT NULL, part INT NOT NULL, line VARCHAR(60) NOT NULL, poet INT NULL, " +
		"verses TEXT NULL, `order` INT NOT NULL, notes VARCHAR(2000) NOT NULL, PRIMARY KEY (id, part))",
	"CREATE TABLE volumes (poem INT NOT NULL, volume INT NOT NULL, copies INT NOT NULL, PRIMARY KEY (poem, volume))",
	"CREATE TABLE poets (id INT PRIMARY KEY, line VARCHAR(40) NOT NULL, life TEXT NULL)",
	"INSERT INTO poems WITH RECURSIVE up AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM up WHERE n < 400) " +
		"SELECT n, n MOD 3, CONCAT('line ', n * 7 MOD 400), IF(n MOD 5 = 0, NULL, n MOD 40), IF(n MOD 9 = " +
		"0, NULL, REPEAT(CONCAT('verse ', n, ' '), 90)), n * 7 MOD 401, REPEAT('note ', n MOD 50) " +
		"FROM up",
	"INSERT INTO volumes SELECT id, 1, 3 FROM poems UNION ALL SELECT id, 2, 4 FROM poems UNION ALL SELECT " +
		"id, 3, 5 FROM poems WHERE part = 1",
	"INSERT INTO poets SELECT id, CONCAT('poet ', id), REPEAT('born ', 200) FROM poems WHERE id < 40",
	"ANALYZE TABLE poems, volumes, poets",
}

func distinctRows() (out []row) {
	for _, text := range []string{
		"SELECT DISTINCT P.id, P.part, P.verses FROM poems AS P JOIN volumes AS V ON V.poem = P.id " +
			"WHERE V.copies > 3 ORDER BY P.id LIMIT 20",
		"SELECT DISTINCT p.id, p.part, p.line, p.verses FROM poems p JOIN volumes v ON v.poem = p.id " +
			"WHERE v.copies > 3 ORDER BY p.line, p.id LIMIT 20",
		"SELECT DISTINCT p.* FROM poems AS p INNER JOIN volumes v ON v.poem = p.id AND v.volume < 3 WHERE " +
			"p.part > 0 ORDER BY p.`order` DESC LIMIT 30, 15",
		"SELECT DISTINCT poems.id AS poem, verses, part, poems.line AS title, volumes.volume FROM poems, " +
			"volumes WHERE volumes.poem = poems.id AND copies > 3 ORDER BY title DESC, volume LIMIT 12",
		"SELECT DISTINCT page.notes, page.id, page.part, LENGTH(page.verses) AS long_as FROM volumes v " +
			"LEFT JOIN poems page ON page.id = v.poem AND page.part = 1 WHERE v.copies > 3 ORDER BY id " +
			"DESC LIMIT 25",
		"SELECT DISTINCT t.id, t.life, p.poet FROM poems p LEFT JOIN poets t ON t.id = p.poet WHERE " +
			"p.part < 2 ORDER BY p.poet LIMIT 18",
	} {
		out = append(out, row{"QRY-14", "its long columns last: " + text, fetchesLast(text)})
	}
	for _, text := range []string{
		"SELECT DISTINCT r.* FROM (SELECT v.*, p.line FROM volumes v LEFT JOIN poems p ON p.id = v.poem " +
			"AND p.part = v.volume WHERE v.copies > 3) r ORDER BY r.volume, r.poem LIMIT 20",
		"SELECT DISTINCT v.poem, v.volume AS numbered, v.copies, p.line FROM volumes v JOIN poems p ON " +
			"p.part = v.volume AND v.poem = p.id WHERE v.copies > 3 ORDER BY numbered, v.poem LIMIT 20",
	} {
		out = append(out, row{"QRY-14", "without DISTINCT: " + text, dropsDistinct(text)})
	}
	for _, x := range []struct{ shows, text string }{
		{"rows that joins multiply", "SELECT DISTINCT p.id, p.part, p.line FROM poems p JOIN volumes v " +
			"ON v.poem = p.id WHERE v.copies > 0 ORDER BY p.line LIMIT 20"},
		{"rows that have a part of a key", "SELECT DISTINCT v.poem, v.copies, t.line FROM volumes v JOIN poets t " +
			"ON t.id = v.poem ORDER BY v.copies LIMIT 20"},
		{"groups", "SELECT DISTINCT r.* FROM (SELECT v.poem, COUNT(*) AS n FROM volumes v GROUP BY v.poem) r " +
			"ORDER BY r.n LIMIT 20"},
		{"no primary key", "SELECT DISTINCT p.id, p.line, p.verses FROM poems p JOIN volumes v ON v.poem " +
			"= p.id WHERE v.copies > 3 ORDER BY p.line, p.id LIMIT 20"},
		{"an order of a function", "SELECT DISTINCT p.id, p.part, p.verses FROM poems p JOIN volumes v ON " +
			"v.poem = p.id WHERE v.copies > 3 ORDER BY LENGTH(p.line) LIMIT 20"},
		{"no order", "SELECT DISTINCT p.id, p.part, p.verses FROM poems p JOIN volumes v ON v.poem = p.id " +
			"WHERE v.copies > 3 LIMIT 20"},
		{"an order of a long column", "SELECT DISTINCT p.id, p.part, p.verses FROM poems p JOIN volumes v " +
			"ON v.poem = p.id WHERE v.copies > 3 ORDER BY p.verses LIMIT 20"},
		{"an order by the name of a long column", "SELECT DISTINCT p.id, p.part, p.verses AS line, p.line AS t " +
			"FROM poems p JOIN volumes v ON v.poem = p.id WHERE v.copies > 3 ORDER BY line LIMIT 20"},
		{"all columns of two tables", "SELECT DISTINCT * FROM poems p JOIN volumes v ON v.poem = p.id " +
			"WHERE v.copies > 3 ORDER BY p.line LIMIT 20"},
		{"rows of a group", "SELECT DISTINCT p.id, p.part, p.verses, COUNT(*) AS n FROM poems p JOIN " +
			"volumes v ON v.poem = p.id GROUP BY p.id, p.part, p.verses ORDER BY p.id LIMIT 20"},
	} {
		out = append(out, row{"QRY-14", x.shows, isNotFetchedLast(x.text)})
	}
	return out
}

// gathers returns the SQL of a class that examines many rows for a page.
func (s *server) gathers(text string) (code string, err error) {
	if _, err := s.db.Exec("SELECT 1 FROM poems"); err != nil {
		for _, q := range distinctTables {
			if _, err := s.db.Exec(q); err != nil {
				return "", err
			}
		}
	}
	q := class("P", text, 1000, 20, 40*time.Second)
	q.RowsExamined = 20_000 * q.Calls
	found, err := s.fixes("QRY-14", s.run(q))
	if err != nil {
		return "", err
	}
	code, _ = sqlOf(found)
	return code, nil
}

// fetchesLast compares rows and names of columns.
func fetchesLast(text string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		code, err := s.gathers(text)
		if err != nil {
			return "", err
		}
		if err := s.prepare(code); err != nil {
			return "", err
		}
		for _, v := range valuesOf(text) {
			code = strings.Replace(code, "?", v, 1)
		}
		want, err := s.ask(text)
		if err != nil {
			return "", err
		}
		got, err := s.ask(code)
		if err != nil {
			return "", err
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || len(got.rows) == 0 {
			return "", fmt.Errorf("%s: %.300v, before %.300v", code, got, want)
		}
		return fmt.Sprintf("same %d rows", len(got.rows)), nil
	}
}

// dropsDistinct compares rows and names of columns, too.
func dropsDistinct(text string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		code, err := s.gathers(text)
		if err == nil && strings.Contains(code, "DISTINCT") {
			err = fmt.Errorf("still distinct: %s", code)
		}
		if err != nil {
			return "", err
		}
		return fetchesLast(text)(s)
	}
}

func isNotFetchedLast(text string) func(*server) (string, error) {
	return func(s *server) (string, error) {
		if code, err := s.gathers(text); err == nil {
			return "", fmt.Errorf("wants silence, is %s", code)
		} else if !strings.Contains(err.Error(), "0 findings") {
			return "", err
		}
		return "silent", nil
	}
}
