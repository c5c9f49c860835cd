package pasted

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
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
	case "IDX-11":
		return s.applyConverted(f, code)
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
	var bound []map[string]any
	for _, text := range texts {
		bound = append(bound, valuesIn(text))
	}
	key, keys := "", []any{}
	for name, v := range bound[0] {
		if len(bound) == 1 || fmt.Sprint(bound[1][name]) != fmt.Sprint(v) {
			key = name
		}
	}
	for _, b := range bound {
		keys = append(keys, b[key])
	}
	var args []any
	given := 0 // keys
	for _, name := range placesIn(code) {
		v, ok := bound[0][name]
		if !ok {
			return "", fmt.Errorf("no value of %s in %s", name, texts[0])
		}
		if name == key {
			v = keys[min(given, len(keys)-1)]
			given++
		}
		args = append(args, v)
	}
	all, err := s.s.ask(strings.TrimSuffix(code, ";"), args...)
	if err != nil {
		return "", err
	}
	at := slices.Index(all.columns, key)
	if at < 0 {
		return "", fmt.Errorf("%s is not sent: %v", key, all.columns)
	}
	for i, text := range texts {
		want, err := s.s.ask(text)
		if err != nil {
			return "", err
		}
		var got [][]string
		for _, r := range all.rows {
			if b, ok := keys[i].([]byte); r[at] == fmt.Sprint(keys[i]) || ok && r[at] == string(b) {
				got = append(got, columnsOf(all.columns, r, want.columns))
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
		var got answer
		var err error
		for _, word := range []string{"+message", "+member"} { // of the chat, of the tracker
			if got, err = s.s.ask(asks, []any{word, 20}[:strings.Count(asks, "?")]...); err != nil || len(got.rows) > 0 {
				break
			}
		}
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
		values := valuesIn(text)
		var args []any
		for _, name := range placesIn(asks) {
			args = append(args, values[name])
		}
		got, err := s.s.ask(asks, args...)
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

// applyConverted sends as texts what was sent as numbers.
func (s *set) applyConverted(f *kasoku.Finding, code string) (string, error) {
	steps := strings.Split(strings.TrimSuffix(code, ";"), ";\n")
	for _, q := range steps[:len(steps)-1] {
		if _, err := s.s.db.Exec(q); err != nil {
			return "", fmt.Errorf("%s: %w", q, err)
		}
	}
	rows := 0
	for _, texts := range s.sent {
		columns := sqlshape.Numbers([]byte(texts[0]))
		asks := steps[len(steps)-1]
		if len(columns) != 1 || !slices.Contains(sqlshape.Tables([]byte(texts[0])), f.Object.Name) ||
			!strings.Contains(asks, bareName(columns[0])+" = '?'") {
			continue
		}
		for _, text := range texts {
			want, err := s.s.ask(text)
			if err != nil {
				return "", err
			}
			got, err := s.s.ask(strings.Replace(asks, "'?'", fmt.Sprintf("'%v'", valuesIn(text)[bareName(columns[0])]), 1))
			if err != nil {
				return "", err
			}
			if rows += len(got.rows); fmt.Sprint(got.rows) != fmt.Sprint(want.rows) {
				return "", fmt.Errorf("%s: %v, before %v", text, got.rows, want.rows)
			}
		}
	}
	if rows == 0 {
		return "", fmt.Errorf("no rows to compare")
	}
	return fmt.Sprintf("same %d rows", rows), nil
}

// wrapped returns the texts of the table that compare what a function of a column gives.
func (s *set) wrapped(f *kasoku.Finding) []string {
	for _, texts := range s.sent {
		if strings.ContainsAny(wrapping().FindString(texts[0]), "(") && slices.Contains(sqlshape.Tables([]byte(texts[0])), f.Object.Name) {
			return texts
		}
	}
	return nil
}

var (
	wrapping = lazyregexp.New(`(?i)\b(DATE|YEAR|LOWER)\([\w.` + "`" + `]+\)\s*=`)
	compared = lazyregexp.New(`(?i)([\w.` + "`" + `]+)\)?\s*(?:>=|<=|=|<|>|\bIN)\s*(?:DATE_ADD)?\(?\s*('[^']*'|x'\w*'|_binary'|[\d.]+|\?)|\bLIMIT (\d+|\?)|(,) *\?`)
)

// limited is the name of what a LIMIT has.
const limited = "limit"

// valuesIn returns what a text compares its columns with, by their bare names.
func valuesIn(text string) map[string]any {
	out := map[string]any{}
	for _, m := range compared().FindAllStringSubmatch(text, -1) {
		switch {
		case m[3] != "":
			n, _ := strconv.Atoi(m[3])
			out[limited] = n
		case m[2] == "_binary'": // bytes, which no pattern bounds
			out[bareName(m[1])] = literalsIn(text)[len(out)]
		case m[2] != "" && m[2] != "?":
			out[bareName(m[1])] = literalsIn(m[2])[0]
		}
	}
	return out
}

// placesIn returns of each question mark which column it is compared with.
func placesIn(code string) (out []string) {
	for _, m := range compared().FindAllStringSubmatch(code, -1) {
		switch {
		case m[3] == "?" || m[2] == "?" && strings.HasPrefix(bareName(m[1]), "row_no"):
			out = append(out, limited)
		case m[4] != "" && len(out) > 0:
			out = append(out, out[len(out)-1])
		case m[2] == "?": // the column that has LOWER(ref) is called ref_lower
			out = append(out, strings.TrimSuffix(bareName(m[1]), "_lower"))
		}
	}
	return out
}

func bareName(name string) string {
	name = strings.ReplaceAll(name, "`", "")
	return name[strings.LastIndex(name, ".")+1:]
}

// columnsOf returns the cells of a row in the order of other columns.
func columnsOf(have, row, want []string) (out []string) {
	for i, c := range want {
		at := slices.Index(have, c)
		if at < 0 { // a name that the rewrite gives to an expression: the last ones
			at = len(have) - len(want) + i
		}
		out = append(out, row[at])
	}
	return out
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
			if n, err := strconv.Atoi(v); err == nil {
				out = append(out, n)
			} else {
				out = append(out, v) // 80.00
			}
		}
	}
	return out
}
