package pasted

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A scanned is a statement whose condition no index can seek: what is printed is run, must
// answer the same, and must be read by the index that it makes.
type scanned struct {
	rule, shows string
	sql         string // with %s for the value
	values      []string
	args        func(value string) []any // of what is printed, where the value is not enough
	differs     string                   // a value for which the answers differ, as the note says
	words       string
	kept        bool // the statement stays
}

var scannedStatements = []scanned{
	{rule: "IDX-10", shows: "YEAR of a DATETIME", sql: "SELECT id FROM visits WHERE YEAR(at) = %s", values: []string{"2011", "2019", "1999"}, args: twice},
	{rule: "IDX-10", shows: "YEAR of a DATE, with another column, turned", sql: "SELECT id FROM visits v WHERE place > 3 AND %s = YEAR(v.born)", values: []string{"1990"},
		args: func(v string) []any { return []any{3, v, v} }},
	{rule: "IDX-10", shows: "years from one on", sql: "SELECT id FROM visits v WHERE %s < YEAR(v.at) ORDER BY id", values: []string{"2028", "2030"}},
	{rule: "IDX-10", shows: "DATE of a DATETIME", sql: "SELECT id FROM visits WHERE DATE(at) = %s", values: []string{"'2011-03-04'", "'2024-02-29'"}, args: twice},
	{rule: "IDX-10", shows: "CAST AS DATE, days between", sql: "SELECT id FROM visits WHERE CAST(at AS DATE) BETWEEN %s AND '2012-01-03'", values: []string{"'2011-12-30'"},
		args: func(v string) []any { return []any{v, "2012-01-03"} }},
	{rule: "IDX-10", shows: "DATE of a DATE", sql: "SELECT id FROM visits WHERE DATE(born) = %s", values: []string{"'1950-01-17'"}},
	{rule: "IDX-10", shows: "LOWER where letters compare without case", sql: "SELECT id FROM visits WHERE LOWER(name) = %s", values: []string{"'guest 77'", "'nobody'"}},
	{rule: "IDX-10", shows: "UPPER IN a list, where letters compare without case", sql: "SELECT id FROM visits WHERE UPPER(name) IN (%s, 'GUEST 9')", values: []string{"'GUEST 77'"},
		args: func(v string) []any { return []any{v, "GUEST 9"} }},
	{rule: "IDX-10", shows: "LOWER where it matters", sql: "SELECT id FROM visits WHERE LOWER(code) = %s", values: []string{"'box 77'"}, kept: true},
	{rule: "IDX-10", shows: "CHAR_LENGTH", sql: "SELECT id FROM visits WHERE CHAR_LENGTH(name) = %s", values: []string{"7"}, kept: true},
	{rule: "IDX-10", shows: "LOWER, compared with case", sql: "SELECT id FROM visits WHERE LOWER(name) = %s COLLATE utf8mb4_bin", values: []string{"'guest 77'"}, words: "stands alone"},
	{rule: "IDX-10", shows: "what no index has whole", sql: "SELECT id FROM visits WHERE TRIM(story) = %s", values: []string{"'Story 77'"}, words: "stands alone"},
	{rule: "IDX-10", shows: "a function that depends on more", sql: "SELECT id FROM visits WHERE DATE_FORMAT(at, '%%Y-%%m') = %s", values: []string{"'2011-03'"}, words: "stands alone"},
	{rule: "IDX-09", shows: "a word anywhere", sql: "SELECT id FROM visits WHERE note LIKE %s ORDER BY id", values: []string{"'%%harbour8999%%'", "'%%nowhere%%'"}, args: asWord, differs: "'%%arbour8999%%'"},
	{rule: "IDX-09", shows: "a word in one of two columns", sql: "SELECT id FROM visits v WHERE (v.note LIKE %s OR v.name LIKE '%%harbour8999%%') AND place > 0", values: []string{"'%%harbour8999%%'"},
		args: func(v string) []any { return append(asWord(v), 0) }},
}

func twice(v string) []any { return []any{v, v} }

// asWord is what the program sends for a word.
func asWord(v string) []any { return []any{"+" + strings.Trim(v, "%")} }

var visitTables = []string{
	"CREATE TABLE visits (id INT PRIMARY KEY, place INT NOT NULL, at DATETIME NULL, born DATE NOT NULL, name VARCHAR(40) NOT NULL, code VARCHAR(20) COLLATE utf8mb4_bin NOT NULL, note VARCHAR(200) NOT NULL, story TEXT NOT NULL) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
}

func (s *server) fillVisits() error {
	if _, err := s.db.Exec(visitTables[0]); err != nil {
		return err
	}
	for from := 0; from < 20_000; from += 2000 {
		var rows []string
		for i := from; i < from+2000; i++ {
			at := "'" + time.Date(2006, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i*11)*time.Hour).Format(time.DateTime) + "'"
			if i%50 == 49 {
				at = "NULL"
			}
			born := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i).Format(time.DateOnly)
			rows = append(rows, fmt.Sprintf("(%d,%d,%s,'%s','Guest %d','Box %d','seen at harbour%d with others','Story %d')", i, i%400+1, at, born, i, i, i*7919%9001, i))
		}
		if _, err := s.db.Exec("INSERT INTO visits VALUES " + strings.Join(rows, ",")); err != nil {
			return err
		}
	}
	_, err := s.ask("ANALYZE TABLE visits")
	return err
}

func scanRows() (out []row) {
	filled := map[*server]func() error{}
	for _, x := range scannedStatements {
		out = append(out, row{x.rule, "no index seeks: " + x.shows, func(s *server) (string, error) {
			if filled[s] == nil {
				filled[s] = sync.OnceValue(s.fillVisits)
			}
			if err := filled[s](); err != nil {
				return "", err
			}
			return x.check(s)
		}})
	}
	return out
}

func (x scanned) check(s *server) (said string, err error) {
	if x.values == nil {
		x.values = []string{"2000"}
	}
	original := func(v string) string { return fmt.Sprintf(x.sql, v) }
	literal := strings.ReplaceAll(original(x.values[0]), "%%", "%")
	q := class("P", literal, 1000, 20, 40*time.Second)
	q.RowsExamined = 20_000 * q.Calls
	fixes, err := s.fixes(x.rule, s.run(q))
	if err != nil {
		return "", err
	}
	code, words := sqlOf(fixes)
	if x.words != "" {
		if code != "" || !strings.Contains(words, x.words) {
			return "", fmt.Errorf("wants the words %q, is %s %s", x.words, code, words)
		}
		return "in words: " + x.words, nil
	}
	if code == "" {
		return "", fmt.Errorf("in words: %s", words)
	}
	steps := strings.Split(strings.TrimSuffix(code, ";"), ";\n")
	printed := ""
	if last := steps[len(steps)-1]; strings.HasPrefix(last, "SELECT") {
		printed, steps = last, steps[:len(steps)-1]
	}
	want := map[string]answer{}
	for _, v := range append(x.values, x.differs) {
		if v != "" {
			if want[v], err = s.ask(strings.ReplaceAll(original(v), "%%", "%")); err != nil {
				return "", err
			}
		}
	}
	defer s.db.Exec("DROP TABLE visits; RENAME TABLE visits_kept TO visits")
	if _, err := s.db.Exec("CREATE TABLE visits_kept LIKE visits; INSERT INTO visits_kept SELECT * FROM visits"); err != nil {
		return "", err
	}
	for _, step := range steps {
		if _, err := s.db.Exec(step); err != nil {
			return "", fmt.Errorf("%s: %w", step, err)
		}
	}
	if _, err := s.ask("ANALYZE TABLE visits"); err != nil {
		return "", err
	}
	rows := 0
	for _, v := range append(x.values, x.differs) {
		if v == "" {
			continue
		}
		v0 := strings.ReplaceAll(v, "%%", "%")
		text, args := printed, []any{strings.Trim(v0, "'")}
		if text == "" || x.kept && strings.Count(text, "?") == 0 {
			text, args = strings.ReplaceAll(original(v), "%%", "%"), nil
		} else if x.args != nil {
			args = x.args(strings.Trim(v0, "'"))
		}
		got, err := s.ask(text, args...)
		if err != nil {
			return "", err
		}
		same := sorted(got) == sorted(want[v])
		if same == (v == x.differs) {
			return "", fmt.Errorf("%s %v: %d rows, before %d", text, args, len(got.rows), len(want[v].rows))
		}
		rows += len(got.rows)
		key, err := s.keyOf(text, args...)
		if err != nil {
			return "", err
		}
		if key == null && len(want[v].rows) > 0 && len(want[v].rows) < 500 {
			return "", fmt.Errorf("%s %v: the server uses no index", text, args)
		}
	}
	return fmt.Sprintf("same %d rows, by an index: %s", rows, strings.ReplaceAll(code, "\n", " ")), nil
}

// sorted writes the rows of an answer in one order.
func sorted(a answer) string {
	var out []string
	for _, r := range a.rows {
		out = append(out, strings.Join(r, "\t"))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// keyOf returns the index by which the server reads the first table of a statement.
func (s *server) keyOf(text string, args ...any) (string, error) {
	explain := "EXPLAIN "
	if !strings.Contains(s.version, "MariaDB") {
		explain += "FORMAT=TRADITIONAL " // MySQL 9 prints a tree
	}
	plan, err := s.ask(explain+text, args...)
	if err != nil {
		return "", err
	}
	at := slices.Index(plan.columns, "key")
	if at < 0 || len(plan.rows) == 0 {
		return "", fmt.Errorf("a plan without keys: %v", plan)
	}
	return plan.rows[0][at], nil
}
