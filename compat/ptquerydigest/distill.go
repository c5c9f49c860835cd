package ptquerydigest

import (
	"strings"
)

// distillStatement describes in a few words what a statement does: its verbs and tables, such as
// "UPDATE SELECT items orders".
func distillStatement(sql string) string {
	if s, ok := distillAdmin(sql); ok {
		return s
	}
	bare := withoutComments(sql)
	if s, ok := distillShow(bare); ok {
		return s
	}
	s := scanner{text: bare}
	s.blanks()
	if verb := s.word(); isDefinition(verb) {
		return distillDefinition(strings.ToUpper(verb), sql, bare)
	}
	out := strings.Join(verbsOf(bare), " ")
	for _, t := range distillTables(tablesOf(sql)) {
		out += " " + t
	}
	return out
}

// distillAdmin is for statements that are known by their first word.
func distillAdmin(sql string) (string, bool) {
	const command = "administrator command: "
	if rest, ok := strings.CutPrefix(sql, command); ok {
		return "ADMIN " + strings.ToUpper(rest), true
	}
	s := scanner{text: sql}
	s.blanks()
	switch first := s.word(); {
	case strings.EqualFold(first, "call") && s.blanks():
		token, _, _ := strings.Cut(strings.Map(blankToSpace, s.text[s.pos:]), " ")
		if i := strings.LastIndexByte(token, '('); i > 0 {
			return "CALL " + token[:i], true
		}
	case strings.EqualFold(first, "use") && s.blanks() && s.word() != "":
		return "USE", true
	case strings.EqualFold(first, "unlock") && s.eatWord("tables"):
		return "UNLOCK", true
	case strings.EqualFold(first, "xa") && s.blanks():
		if what := s.word(); what != "" {
			return "XA_" + what, true
		}
	case strings.EqualFold(first, "load") && s.blanks():
		table := ""
		if i := wordIndex(sql, "into table"); i >= 0 {
			s.pos = i + len("into table")
			s.blanks()
			if t, ok := s.table(); ok {
				table = t.String()
			}
		}
		return "LOAD DATA " + table, true
	}
	return "", false
}

func blankToSpace(r rune) rune {
	if r < 0x80 && isBlank(byte(r)) {
		return ' '
	}
	return r
}

// withoutComments takes out the comments between /* and */ but for those that
// servers execute.
func withoutComments(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "/*")
		if i < 0 {
			break
		}
		end := strings.Index(s[i+2:], "*/")
		if end < 0 {
			break
		}
		end += i + 4
		if i+2 < len(s) && s[i+2] == '!' {
			b.WriteString(s[:end])
		} else {
			b.WriteString(s[:i])
		}
		s = s[end:]
	}
	b.WriteString(s)
	return b.String()
}

// distillDefinition is for CREATE, DROP and the like.
func distillDefinition(verb, sql, bare string) string {
	out := verb
	_, object, isTable := definedTable(bare)
	switch {
	case isTable:
		out += " TABLE"
	case object != "":
		return out + " DATABASE " + object
	}
	seen := false
	for _, t := range distillTables(tablesOf(sql)) {
		out += " " + t
		seen = seen || t == object
	}
	if isTable && !seen {
		out += " " + object
	}
	return out
}

// distillTables returns the names of tables with their digits as question marks,
// equal neighbours once.
func distillTables(tables []tableName) []string {
	var out []string
	for _, t := range tables {
		name := digitsAsMarks(t.String())
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// digitsAsMarks puts one question mark for each row of digits.
func digitsAsMarks(s string) string {
	var b strings.Builder
	digits := false
	for i := range len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			if !digits {
				b.WriteByte('?')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteByte(s[i])
	}
	return b.String()
}

// verbsOf returns the verbs of a statement in upper case, in order, equal
// neighbours once. Of a SELECT only UNION is returned in addition.
func verbsOf(sql string) []string {
	var out []string
	s := scanner{text: sql}
	for s.next() {
		at := s.pos
		word := strings.ToUpper(s.word())
		switch word {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "UNION":
		case "COMMIT", "ROLLBACK", "BEGIN", "FLUSH", "SET", "START", "LOCK":
			if at > 0 {
				continue
			}
		default:
			continue
		}
		if len(out) == 0 || out[len(out)-1] != word {
			out = append(out, word)
		}
	}
	if len(out) == 0 || out[0] != "SELECT" {
		return out
	}
	for _, word := range out {
		if word == "UNION" {
			return []string{"SELECT", "UNION"}
		}
	}
	return []string{"SELECT"}
}

// distillShow is for SHOW: the two words that say what is shown.
func distillShow(sql string) (string, bool) {
	s := scanner{text: sql}
	lead := ""
	if s.blanks() {
		lead = " "
	}
	if !strings.EqualFold(s.word(), "show") {
		return "", false
	}
	what := []string{"SHOW"}
	words := strings.Fields(strings.ToUpper(strings.ReplaceAll(sql[s.pos:], "(", " (")))
	for i, w := range words {
		switch strings.TrimRight(w, ";") {
		case "FULL", "SESSION", "STORAGE", "ENGINE", "COUNT", "(*)":
			continue
		case "FROM", "IN", "LIKE", "WHERE", "FOR", "LIMIT":
			return lead + strings.Join(what, " "), true
		case "INDEXES", "KEYS":
			w = "INDEX"
		case "/*!50002":
			if i+2 < len(words) && words[i+1] == "FULL*/" && words[i+2] == "TABLES" {
				return lead + "SHOW TABLES", true
			}
		}
		w = strings.TrimRight(strings.ReplaceAll(w, "SCHEMA", "DATABASE"), ";")
		w = strings.TrimPrefix(w, "FULL") // FULL*/
		what = append(what, w)
		if len(what) == 3 {
			break
		}
	}
	return lead + strings.Join(what, " "), true
}
