package ptquerydigest

import (
	"slices"
	"strings"
)

// A tableName is a table as a statement names it, without back quotes.
type tableName struct {
	db, name string
}

// String is the name with the database in front, if the statement names one.
func (t tableName) String() string {
	if t.db == "" {
		return t.name
	}
	return t.db + "." + t.name
}

// tablesOf returns the tables that a statement seems to use: the names after
// FROM, JOIN, INTO and UPDATE, those of a LOCK TABLES, and the one that a
// definition is of. Comments count as text, quoted strings do not. A name may be
// there more than once.
func tablesOf(sql string) []tableName {
	sql = withoutStrings(sql)
	s := scanner{text: sql}
	s.blanks()
	switch first := s.word(); {
	case isDefinition(first):
		if strings.EqualFold(first, "create") || strings.EqualFold(first, "alter") {
			if i := wordIndex(sql, "select"); i >= 0 {
				return tablesAfterWords(sql[i:])
			}
		}
		if name, _, ok := definedTable(sql); ok {
			return []tableName{name}
		}
		return nil
	case strings.EqualFold(first, "lock") && s.eatWord("tables"):
		return lockedTables(&s)
	case strings.EqualFold(first, "load") && s.eatWord("data"):
		if i := wordIndex(sql, "into table"); i >= 0 {
			s.pos = i + len("into table")
			s.blanks()
			if name, ok := s.table(); ok {
				return []tableName{name}
			}
		}
		return nil
	}
	return tablesAfterWords(sql)
}

// isDefinition reports whether a statement that starts with the word defines
// something.
func isDefinition(word string) bool {
	return slices.ContainsFunc([]string{"create", "alter", "truncate", "drop", "rename"}, func(w string) bool {
		return strings.EqualFold(w, word)
	})
}

// tablesAfterWords goes through a statement.
func tablesAfterWords(sql string) []tableName {
	var out []tableName
	s := scanner{text: sql}
	start := true // no word was seen yet
	for s.next() {
		before := s.pos
		word := s.word()
		switch {
		case equalAny(word, "from", "join", "into"):
		case strings.EqualFold(word, "update"):
			if followsKey(sql[:before]) {
				continue
			}
		case start && equalAny(word, "insert", "replace"):
			start = false
			s.skipPriorities()
			if names := s.listUnless("into"); names != nil {
				out = append(out, names...)
			}
			continue
		default:
			start = false
			continue
		}
		start = false
		s.skipPriorities()
		out = append(out, s.list()...)
	}
	return out
}

// followsKey reports whether a text ends with the word KEY and one blank, as in
// ON DUPLICATE KEY UPDATE.
func followsKey(s string) bool {
	n := len(s)
	return n >= 4 && isBlank(s[n-1]) && strings.EqualFold(s[n-4:n-1], "key")
}

// lockedTables reads the tables of LOCK TABLES a READ, b AS c WRITE.
func lockedTables(s *scanner) []tableName {
	var out []tableName
	for {
		s.blanks()
		name, ok := s.table()
		if !ok {
			return out
		}
		out = append(out, name)
		i := strings.IndexByte(s.text[s.pos:], ',')
		if i < 0 {
			return out
		}
		s.pos += i + 1
	}
}

// definedTable returns the table or database that a definition is of, and how it
// is written there.
func definedTable(sql string) (name tableName, object string, ok bool) {
	for _, word := range []string{"table", "database"} {
		i := wordIndex(sql, word)
		if i < 0 {
			continue
		}
		s := scanner{text: sql, pos: i + len(word)}
		s.blanks()
		if s.eatWord("if") {
			s.eatWord("not")
			s.eatWord("exists")
		}
		s.blanks()
		from := s.pos
		name, ok = s.table()
		return name, sql[from:s.pos], ok && word == "table"
	}
	return tableName{}, "", false
}

// withoutStrings empties what is quoted. A backslash in front of a quote always
// keeps it from closing.
func withoutStrings(s string) string {
	if !strings.ContainsAny(s, `'"`) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, `'"`)
		if i < 0 {
			break
		}
		end := findClosing(s[i+1:], s[i])
		if end < 0 {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i])
		b.WriteByte('?')
		s = s[i+1+end+1:]
	}
	b.WriteString(s)
	return b.String()
}

// findClosing returns where the closing quote is, -1 without one.
func findClosing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == quote && (i == 0 || s[i-1] != '\\') {
			return i
		}
	}
	return -1
}

// wordIndex returns where a word, or words with one blank between, stand in a
// statement, -1 when they do not. Upper and lower case are the same.
func wordIndex(sql, word string) int {
	for i := 0; i+len(word) <= len(sql); i++ {
		if strings.EqualFold(sql[i:i+len(word)], word) && (i == 0 || !isWord(sql[i-1])) &&
			(i+len(word) == len(sql) || !isWord(sql[i+len(word)])) {
			return i
		}
	}
	return -1
}

func equalAny(word string, of ...string) bool {
	for _, w := range of {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

// A scanner reads the words of a statement.
type scanner struct {
	text string
	pos  int
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// blanks skips blanks and reports whether there were some.
func (s *scanner) blanks() bool {
	from := s.pos
	for s.pos < len(s.text) && isBlank(s.text[s.pos]) {
		s.pos++
	}
	return s.pos > from
}

// next goes to the next word.
func (s *scanner) next() bool {
	for s.pos < len(s.text) && !isWord(s.text[s.pos]) {
		s.pos++
	}
	return s.pos < len(s.text)
}

// word takes a word, which may be empty.
func (s *scanner) word() string {
	from := s.pos
	for s.pos < len(s.text) && isWord(s.text[s.pos]) {
		s.pos++
	}
	return s.text[from:s.pos]
}

// eatWord takes that word, after blanks.
func (s *scanner) eatWord(word string) bool {
	was := s.pos
	s.blanks()
	if strings.EqualFold(s.word(), word) {
		return true
	}
	s.pos = was
	return false
}

// skipPriorities skips the words that may stand in front of a table.
func (s *scanner) skipPriorities() {
	for s.eatWord("low_priority") || s.eatWord("ignore") || s.eatWord("delayed") {
	}
}

// identifier takes a name, in back quotes or not.
func (s *scanner) identifier() (string, bool) {
	if s.pos < len(s.text) && s.text[s.pos] == '`' {
		end := strings.IndexByte(s.text[s.pos+1:], '`')
		if end <= 0 {
			return "", false
		}
		name := s.text[s.pos+1 : s.pos+1+end]
		s.pos += end + 2
		return name, true
	}
	name := s.word()
	return name, name != ""
}

// table takes the name of a table. One that is all digits is none.
func (s *scanner) table() (tableName, bool) {
	was := s.pos
	name, ok := s.identifier()
	if !ok {
		return tableName{}, false
	}
	t := tableName{name: name}
	if db, rest, ok := strings.Cut(name, "."); ok {
		t = tableName{db, rest} // `a.b` in one pair of quotes
	}
	if s.pos < len(s.text) && s.text[s.pos] == '.' {
		dot := s.pos
		s.pos++
		if second, ok := s.identifier(); ok {
			t = tableName{name, second}
		} else {
			s.pos = dot
		}
	}
	if t.db == "" && strings.Trim(name, "0123456789") == "" {
		s.pos = was
		return tableName{}, false
	}
	return t, true
}

// list takes one table or several with commas between, each with an alias or not:
// a AS b, c d, e.
func (s *scanner) list() []tableName {
	was := s.pos
	s.blanks()
	if s.pos < len(s.text) && s.text[s.pos] == '(' {
		s.pos++
	}
	first, ok := s.table()
	if !ok || first.db == "" && strings.EqualFold(first.name, "select") {
		s.pos = was
		return nil
	}
	out := []tableName{first}
	for {
		was := s.pos
		name, ok := s.another()
		if !ok {
			s.pos = was
			return out
		}
		out = append(out, name)
	}
}

// another takes an alias, a comma and a table.
func (s *scanner) another() (tableName, bool) {
	if s.blanks() {
		if s.eatWord("as") {
			s.blanks()
		}
		if s.word() == "" {
			return tableName{}, false
		}
	}
	if s.pos >= len(s.text) || s.text[s.pos] != ',' {
		return tableName{}, false
	}
	s.pos++
	s.blanks()
	return s.table()
}

// listUnless is list, unless that word comes first.
func (s *scanner) listUnless(word string) []tableName {
	was := s.pos
	if s.eatWord(word) {
		s.pos = was
		return nil
	}
	if !s.blanks() {
		return nil
	}
	name, ok := s.table()
	if !ok {
		s.pos = was
		return nil
	}
	return []tableName{name}
}
