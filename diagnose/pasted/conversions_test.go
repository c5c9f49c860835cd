package pasted

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A converted is a statement for which a column of text is converted: IDX-11 says so though the
// run keeps no values, the rules about missing indexes propose none of the column, and what is
// printed answers the same by an index.
type converted struct {
	shows, sql string
	table      string // whose column is converted
	printed    string // the statement with its text, of what is printed with '?'; empty: it stays
	differs    bool   // rows that are equal as numbers alone, which the note's statement counts
	words      string
	silent     bool // nothing is converted
	mysql      bool // in MySQL alone: MariaDB seeks by the index and compares what it finds
}

var convertedStatements = []converted{
	{shows: "a text that equals a number", table: "parcels", sql: "SELECT id, note FROM parcels WHERE tag = 7005", printed: "7005"},
	{shows: "texts that equal numbers, by an alias", table: "parcels", sql: "SELECT p.id, p.note FROM parcels p WHERE p.note <> 'x' AND p.tag IN (7005, 7012) ORDER BY p.id", printed: "7005"},
	{shows: "a text without an index", table: "parcels", sql: "SELECT id, note FROM parcels WHERE shelf = 77", printed: "77"},
	{shows: "texts that are no plain numbers", table: "parcels", sql: "SELECT id, note FROM parcels WHERE odd = 77", printed: "77", differs: true},
	{shows: "a text joined to a number", table: "parcels", sql: "SELECT p.id, p.note FROM depots d JOIN parcels p ON p.depot = d.id WHERE d.name = 'Depot 7'"},
	{shows: "a text joined to a broader character set", table: "parcels", sql: "SELECT p.id, p.note FROM depots d JOIN parcels p ON p.region = d.region WHERE d.name = 'Depot 7'"},
	{shows: "a text joined to a binary collation", mysql: true, table: "parcels", sql: "SELECT p.id, p.note FROM depots d JOIN parcels p ON p.plain = d.exact WHERE d.name = 'Depot 7'"},
	{shows: "a column of a foreign key", table: "stamps", words: "Give region the character set",
		sql: "SELECT s.id FROM depots d JOIN stamps s ON s.region = d.region WHERE d.name = 'Depot 7'"},
	{shows: "a text that equals a text", table: "parcels", sql: "SELECT id, note FROM parcels WHERE shelf = '77'", silent: true},
	{shows: "a number that equals a text", table: "parcels", sql: "SELECT id, note FROM parcels WHERE grams = '77'", silent: true},
	{shows: "a number joined to a text, which is read first", table: "depots", silent: true,
		sql: "SELECT d.name FROM parcels p JOIN depots d ON d.id = p.depot WHERE p.id = 7"},
}

var parcelTables = []string{
	"CREATE TABLE depots (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(40) NOT NULL, region VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL, exact VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, KEY (name))",
	"CREATE TABLE regions (region VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY)",
	"CREATE TABLE parcels (id INT PRIMARY KEY, tag VARCHAR(20) NOT NULL, shelf VARCHAR(20) NULL DEFAULT NULL COMMENT 'a ''place'', CHARSET = x', odd VARCHAR(20) NOT NULL, depot VARCHAR(20) NOT NULL, region VARCHAR(20) CHARACTER SET latin1 NOT NULL DEFAULT 'none', plain VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, grams INT NOT NULL, note VARCHAR(100) NOT NULL, KEY by_tag (tag), KEY by_odd (odd), KEY by_depot (depot), KEY by_region (region), KEY by_plain (plain)) CHARACTER SET utf8mb4",
	"CREATE TABLE stamps (id INT PRIMARY KEY, region VARCHAR(20) CHARACTER SET latin1 NOT NULL, note VARCHAR(100) NOT NULL, CONSTRAINT of_region FOREIGN KEY (region) REFERENCES regions (region))",
}

func (s *server) fillParcels() error {
	for _, t := range parcelTables {
		if _, err := s.db.Exec(t); err != nil {
			return err
		}
	}
	const all = 20_000
	insert := func(table string, n int, one func(i int) string) error {
		for from := 0; from < n; from += 2000 {
			var rows []string
			for i := from; i < min(from+2000, n); i++ {
				rows = append(rows, one(i))
			}
			if _, err := s.db.Exec("INSERT INTO " + table + " VALUES " + strings.Join(rows, ",")); err != nil {
				return err
			}
		}
		return nil
	}
	odd := func(i int) string {
		switch i {
		case 5, 6, 7, 8:
			return []string{"77abc", "077", " 77", "77.0"}[i-5]
		}
		return fmt.Sprint(i)
	}
	for _, err := range []error{
		insert("depots", 2000, func(i int) string { return fmt.Sprintf("(%d,'Depot %d','R%d','p%d')", i, i, i, i) }),
		insert("regions", 2000, func(i int) string { return fmt.Sprintf("('R%d')", i) }),
		insert("parcels", all, func(i int) string {
			return fmt.Sprintf("(%d,'%d','%d','%s','%d','R%d','%s%d',%d,'%s')", i, i, i*7%all, odd(i), i%2000, i%2000,
				[]string{"p", "P"}[i/2000%2], i%2000, i, strings.Repeat("note ", 15))
		}),
		insert("stamps", all, func(i int) string { return fmt.Sprintf("(%d,'R%d','%s')", i, i%2000, strings.Repeat("note ", 15)) }),
	} {
		if err != nil {
			return err
		}
	}
	_, err := s.ask("ANALYZE TABLE depots, regions, parcels, stamps")
	return err
}

func conversionRows() (out []row) {
	filled := map[*server]func() error{}
	for _, x := range convertedStatements {
		out = append(out, row{"IDX-11", "converted: " + x.shows, func(s *server) (string, error) {
			if filled[s] == nil {
				filled[s] = sync.OnceValue(s.fillParcels)
			}
			if err := filled[s](); err != nil {
				return "", err
			}
			return x.check(s)
		}})
	}
	return out
}

func (x converted) check(s *server) (said string, err error) {
	x.silent = x.silent || x.mysql && strings.Contains(s.version, "MariaDB")
	q := class("P", x.sql, 1000, 2, 40*time.Second)
	q.Numbers = sqlshape.Numbers([]byte(x.sql))
	q.RowsExamined = 20_000 * q.Calls
	c := s.run(q)
	c.Queries[0].Raw = "" // a run keeps no values
	for _, rule := range []string{"IDX-01", "IDX-02", "IDX-03", "IDX-04"} {
		if fixes, err := s.fixes(rule, c); err == nil && !x.silent {
			return "", fmt.Errorf("%s proposes %+v", rule, fixes)
		}
	}
	fixes, err := s.fixes("IDX-11", c)
	if x.silent {
		if err == nil {
			return "", fmt.Errorf("says %+v", fixes)
		}
		return "silent", nil
	}
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
	if _, err = s.keyOfTable(x.table, x.sql, false); err != nil {
		return "", err
	}
	steps, printed := strings.Split(strings.TrimSuffix(code, ";"), ";\n"), x.sql
	if last := steps[len(steps)-1]; strings.HasPrefix(last, "SELECT") {
		printed, steps = strings.Replace(last, "'?'", "'"+x.printed+"'", 1), steps[:len(steps)-1]
		printed = strings.Replace(strings.Replace(printed, "'?'", "'7012'", 1), "!= ?", "!= 'x'", 1)
	}
	want, err := s.ask(x.sql)
	if err != nil {
		return "", err
	}
	if _, count, ok := strings.Cut(words, "SELECT COUNT(*)"); ok {
		count, _, _ = strings.Cut(count, " counts ")
		n, err := s.ask("SELECT COUNT(*)" + count)
		if err != nil {
			return "", err
		}
		if (n.rows[0][0] != "0") != x.differs {
			return "", fmt.Errorf("%s: %s", count, n.rows[0][0])
		}
	}
	kept := x.table + "_kept"
	if _, err := s.db.Exec("CREATE TABLE " + kept + " LIKE " + x.table + "; INSERT INTO " + kept + " SELECT * FROM " + x.table); err != nil {
		return "", err
	}
	defer s.db.Exec("DROP TABLE " + x.table + "; RENAME TABLE " + kept + " TO " + x.table + "; ANALYZE TABLE " + x.table)
	before := ""
	if err := s.db.QueryRow("SHOW CREATE TABLE "+x.table).Scan(new(string), &before); err != nil {
		return "", err
	}
	for _, step := range steps {
		if _, err := s.db.Exec(step); err != nil {
			return "", fmt.Errorf("%s: %w", step, err)
		}
	}
	if err := x.keepsComment(s, before); err != nil {
		return "", err
	}
	if _, err := s.ask("ANALYZE TABLE " + x.table); err != nil {
		return "", err
	}
	got, err := s.ask(printed)
	if err != nil {
		return "", err
	}
	if same := sorted(got) == sorted(want); same == x.differs || len(want.rows) == 0 {
		return "", fmt.Errorf("%s: %d rows, before %d", printed, len(got.rows), len(want.rows))
	}
	key, err := s.keyOfTable(x.table, printed, true)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d rows, before %d, by %s: %s", len(got.rows), len(want.rows), key, strings.ReplaceAll(code, "\n", " ")), nil
}

// keepsComment: what is changed of a column is its type alone.
func (x converted) keepsComment(s *server, before string) error {
	var after string
	if err := s.db.QueryRow("SHOW CREATE TABLE "+x.table).Scan(new(string), &after); err != nil {
		return err
	}
	for _, words := range []string{"COMMENT", "DEFAULT 'none'", "NOT NULL"} {
		if strings.Count(before, words) != strings.Count(after, words) {
			return fmt.Errorf("%s of the columns changed:\n%s\n%s", words, before, after)
		}
	}
	return nil
}

// keyOfTable returns the index by which the server reads a table, by its name or first letter; it
// fails where whether there is one, beside the primary key, is not as wanted.
func (s *server) keyOfTable(table, text string, wants bool) (string, error) {
	explain := "EXPLAIN "
	if !strings.Contains(s.version, "MariaDB") {
		explain += "FORMAT=TRADITIONAL "
	}
	plan, err := s.ask(explain + text)
	if err != nil {
		return "", err
	}
	at, of := slices.Index(plan.columns, "key"), slices.Index(plan.columns, "table")
	for _, r := range plan.rows {
		if r[of] == table || r[of] == table[:1] {
			if wholly := r[at] == null || r[at] == "PRIMARY"; wholly == wants {
				return "", fmt.Errorf("%s reads %s by %s", text, table, r[at])
			}
			return r[at], nil
		}
	}
	return "", fmt.Errorf("%s: no step of %s: %v", text, table, plan.rows)
}
