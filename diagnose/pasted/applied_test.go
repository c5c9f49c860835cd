package pasted

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// mostSent is how many texts of a class are kept, for the fixes to be applied to.
const mostSent = 3

// apply does what the findings of a set say, and compares the answers with those from before.
func (s *set) apply(found []kasoku.Finding) {
	for i := range found {
		f := &found[i]
		code, _ := sqlOf(f.Fixes)
		if code == "" {
			s.t.Logf("%s %s: in words", f.ID, f.Object)
			continue
		}
		said, err := s.applyOne(f, code)
		if err != nil {
			s.t.Errorf("%s %s: %v\n%s", f.ID, f.Object, err, code)
		}
		s.t.Logf("%s %s: %s", f.ID, f.Object, said)
	}
}

func (s *set) applyOne(f *kasoku.Finding, code string) (string, error) {
	for _, e := range f.Fixes[0].Edits {
		if e.Kind == kasoku.EditIndex {
			return s.applyIndex(e)
		}
	}
	switch f.ID {
	case "QRY-05":
		return s.applyLookups(f, code)
	case "DRV-03":
		return s.applyInserts(f, code)
	case "QRY-02":
		return s.applyCount(f, code)
	case "IDX-09", "IDX-10":
		return s.applyScan(f, code)
	}
	return "", fmt.Errorf("no way to apply it")
}

// applyIndex creates an index and asks all reads of the run again.
func (s *set) applyIndex(e kasoku.Edit) (string, error) {
	before, err := s.reads()
	if err != nil {
		return "", err
	}
	if _, err := s.s.db.Exec(e.Do); err != nil {
		return "", err
	}
	after, err := s.reads()
	if err != nil {
		return "", err
	}
	for text, rows := range before {
		if fmt.Sprint(rows) != fmt.Sprint(after[text]) {
			return "", fmt.Errorf("%s: %v, before %v", text, after[text], rows)
		}
	}
	if _, err := s.s.db.Exec(e.Undo); err != nil {
		return "", err
	}
	return fmt.Sprintf("same answers to %d statements", len(before)), nil
}

// reads returns the rows of the texts that are kept, sorted where no order is asked for.
func (s *set) reads() (map[string][][]string, error) {
	out := map[string][][]string{}
	for _, texts := range s.sent {
		for _, text := range texts {
			if sqlshape.Verb([]byte(text)) != "SELECT" || strings.Contains(text, "_LOCK") || strings.Contains(text, "FOR UPDATE") {
				continue
			}
			got, err := s.s.ask(text)
			if err != nil {
				return nil, err
			}
			if !strings.Contains(strings.ToUpper(text), "ORDER BY") {
				sortRows(got.rows)
			}
			out[text] = got.rows
		}
	}
	return out, nil
}

// textsOf returns the texts of the class of a verb that an endpoint runs the most often.
func (s *set) textsOf(f *kasoku.Finding, verb string) (best []string) {
	var most uint64
	for key, calls := range s.calls {
		for at, n := range calls {
			e := s.endpoints[at]
			if e.Method+" "+e.Route == f.Object.Name && n > most && sqlshape.Verb([]byte(s.sent[key][0])) == verb {
				best, most = s.sent[key], n
			}
		}
	}
	return best
}

// applyLookups compares the rows that one statement sends for all keys with those of each
// lookup.
func (s *set) applyLookups(f *kasoku.Finding, code string) (string, error) {
	texts := s.textsOf(f, "SELECT")
	var keys []any
	for _, text := range texts {
		values := literalsIn(text)
		if len(values) != 1 {
			return "", fmt.Errorf("%d values in %s", len(values), text)
		}
		keys = append(keys, values[0])
	}
	for len(keys) < strings.Count(code, "?") {
		keys = append(keys, keys[0])
	}
	all, err := s.s.ask(strings.TrimSuffix(code, ";"), keys...)
	if err != nil {
		return "", err
	}
	for i, text := range texts {
		want, err := s.s.ask(text)
		if err != nil {
			return "", err
		}
		var got [][]string
		for _, r := range all.rows {
			if b, ok := keys[i].([]byte); r[0] == fmt.Sprint(keys[i]) || ok && r[0] == string(b) {
				got = append(got, r[len(r)-len(want.columns):])
			}
		}
		sortRows(got)
		sortRows(want.rows)
		if len(got) == 0 && len(want.rows) == 1 && !slices.ContainsFunc(want.rows[0], isSomething) &&
			strings.Contains(f.Fixes[0].Note, "A key without rows is missing") {
			continue
		}
		if fmt.Sprint(got) != fmt.Sprint(want.rows) {
			return "", fmt.Errorf("%s: %v, at once %v", text, want.rows, got)
		}
	}
	return fmt.Sprintf("same answers for %d keys, %d rows", len(texts), len(all.rows)), nil
}

// applyInserts compares what a table then holds: after the statements one by one, and after
// one for all of them.
func (s *set) applyInserts(f *kasoku.Finding, code string) (string, error) {
	texts := s.textsOf(f, "INSERT")
	var args []any
	for _, text := range texts {
		args = append(args, literalsIn(text)...)
	}
	table := sqlshape.Tables([]byte(texts[0]))[0]
	var held [2]answer
	for k := range held {
		err := s.within(func(tx *sql.Tx) error {
			if k == 1 {
				if _, err := tx.Exec(strings.TrimSuffix(code, ";"), args...); err != nil {
					return err
				}
			}
			for _, text := range texts {
				if k == 0 {
					if _, err := tx.Exec(text); err != nil {
						return err
					}
				}
			}
			columns, err := s.s.ask("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? "+
				"AND EXTRA NOT LIKE '%auto_increment%' ORDER BY ORDINAL_POSITION", schema, table)
			if err != nil {
				return err
			}
			var names []string
			for _, r := range columns.rows {
				names = append(names, r[0])
			}
			rows, err := tx.Query("SELECT " + strings.Join(names, ", ") + " FROM " + table)
			if err == nil {
				held[k], err = readAnswer(rows)
			}
			return err
		})
		if err != nil {
			return "", err
		}
		sortRows(held[k].rows)
	}
	if fmt.Sprint(held[0]) != fmt.Sprint(held[1]) {
		return "", fmt.Errorf("%s holds %d rows, one by one %d, or others", table, len(held[1].rows), len(held[0].rows))
	}
	return fmt.Sprintf("same %d rows in %s", len(held[1].rows), table), nil
}

// within runs f in a transaction at a fixed time, which is taken back.
func (s *set) within(f func(*sql.Tx) error) error {
	tx, err := s.s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec("SET timestamp = 1770000000"); err != nil {
		return err
	}
	err = f(tx)
	if _, also := tx.Exec("SET timestamp = DEFAULT"); err == nil {
		err = also
	}
	return err
}

// applyCount compares a count with the number of rows that are sent instead.
func (s *set) applyCount(f *kasoku.Finding, code string) (string, error) {
	n := 0
	for _, texts := range s.sent {
		if !strings.Contains(texts[0], "COUNT(") || !slices.Contains(sqlshape.Tables([]byte(texts[0])), f.Object.Name) {
			continue
		}
		for _, text := range texts {
			want, err := s.s.ask(text)
			if err != nil {
				return "", err
			}
			got, err := s.s.ask(strings.TrimSuffix(code, ";"), literalsIn(text)...)
			if err != nil {
				return "", err
			}
			if n++; want.rows[0][0] != strconv.Itoa(len(got.rows)) {
				return "", fmt.Errorf("%s: %s, instead %d rows", text, want.rows[0][0], len(got.rows))
			}
		}
	}
	if n == 0 {
		return "", fmt.Errorf("no such count of %s", f.Object.Name)
	}
	return fmt.Sprintf("as many rows as are counted, %d times", n), nil
}

// applyScan makes an index and asks by the column itself for what a function of it was
// compared with: the same rows. A search by words finds others, which the fix must say.
func (s *set) applyScan(f *kasoku.Finding, code string) (string, error) {
	steps := strings.Split(strings.TrimSuffix(code, ";"), ";\n")
	asks := steps[len(steps)-1]
	for _, q := range steps[:len(steps)-1] {
		if _, err := s.s.db.Exec(q); err != nil {
			return "", fmt.Errorf("%s: %w", q, err)
		}
	}
	if f.ID == "IDX-09" {
		if !strings.Contains(f.Fixes[0].Note, "Answers differ") {
			return "", fmt.Errorf("does not say that answers differ")
		}
		args := []any{"+message", 20}
		got, err := s.s.ask(asks, args[:strings.Count(asks, "?")]...)
		if err == nil && len(got.rows) == 0 {
			err = fmt.Errorf("no row has the word")
		}
		return fmt.Sprintf("finds %d rows by a word; the fix says that answers differ", len(got.rows)), err
	}
	rows := 0
	for _, text := range s.wrapped(f) {
		want, err := s.s.ask(text)
		if err != nil {
			return "", err
		}
		values := literalsIn(text)
		got, err := s.s.ask(asks, slices.Repeat(values[:1], strings.Count(asks, "?"))...)
		if err != nil {
			return "", err
		}
		if rows += len(got.rows); len(got.rows) == 0 || fmt.Sprint(got.rows) != fmt.Sprint(want.rows) {
			return "", fmt.Errorf("%s: %v, before %v", asks, got.rows, want.rows)
		}
	}
	if rows == 0 {
		return "", fmt.Errorf("no rows to compare")
	}
	return fmt.Sprintf("same %d rows", rows), nil
}

// wrapped returns the texts of the table that compare what DATE gives.
func (s *set) wrapped(f *kasoku.Finding) []string {
	for _, texts := range s.sent {
		if strings.Contains(texts[0], " DATE(") && slices.Contains(sqlshape.Tables([]byte(texts[0])), f.Object.Name) {
			return texts
		}
	}
	return nil
}

// literalsIn returns the literals of a text that its mask replaces.
func literalsIn(text string) (out []any) {
	l := sqlshape.NewLexer([]byte(strings.ReplaceAll(text, "NOW(3)", "NOW()")))
	for t := l.Next(); t.Kind != sqlshape.End; t = l.Next() {
		if !t.Literal() {
			continue
		}
		v := string(t.Text)
		switch {
		case strings.HasPrefix(v, "x'"):
			b, _ := hex.DecodeString(strings.Trim(v[1:], "'"))
			out = append(out, b)
		case v[0] == '\'':
			out = append(out, strings.Trim(v, "'"))
		default:
			n, _ := strconv.Atoi(v)
			out = append(out, n)
		}
	}
	return out
}
