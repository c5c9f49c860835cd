package sqlshape

import "bytes"

// Backquoted returns a statement with its names in backquotes where it has them in double
// quotes, appended to dst; false where nothing shows that it does. The sql_mode ANSI_QUOTES of
// a session, which Drupal sets, stands in no log; but no text in quotes has a dot beside it, or
// stands where a table does. Without this all statements of a form are one class, whatever
// their tables are, and have no names.
func Backquoted(dst, sql []byte) (out []byte, names bool) {
	if !mayQuoteNames(sql) {
		return dst, false
	}
	from := len(dst)
	dst = append(dst, sql...)
	lex, depth := NewLexer(sql), 0
	var verb, prev Token
	for t := lex.Next(); t.Kind != End; t = lex.Next() {
		if verb.Kind == End {
			verb = t
		}
		switch {
		case t.IsSymbol('('):
			depth++
		case t.IsSymbol(')'):
			depth--
		case t.Kind == String && t.Text[0] == '"':
			if t.Open || len(t.Text) < 3 || bytes.ContainsAny(t.Text[1:len(t.Text)-1], "\\`\"") {
				return dst[:from], false
			}
			names = names || prev.IsSymbol('.') || lex.at(0) == '.' || depth == 0 && isBeforeTable(verb, prev)
			dst[from+lex.pos-len(t.Text)], dst[from+lex.pos-1] = '`', '`'
		}
		prev = t
	}
	if !names {
		return dst[:from], false
	}
	return dst, true
}

// InBackquotes returns the statement as Backquoted does, or itself.
func InBackquotes(sql []byte) []byte {
	if out, names := Backquoted(nil, sql); names {
		return out
	}
	return sql
}

// mayQuoteNames reports whether a double quote has a dot beside it, or stands after a blank and
// a letter with which FROM, INTO, JOIN or UPDATE ends, or a comment. It reads most statements
// whose texts stand in double quotes no further.
func mayQuoteNames(sql []byte) bool {
	if bytes.IndexByte(sql, '"') < 0 {
		return false
	}
	for i, c := range sql {
		if c != '"' {
			continue
		}
		if i > 0 && sql[i-1] == '.' || i+1 < len(sql) && sql[i+1] == '.' {
			return true
		}
		at := i - 1
		for at >= 0 && isSpace(sql[at]) {
			at--
		}
		if at >= 0 && bytes.IndexByte([]byte("mMoOnNeE/"), sql[at]) >= 0 {
			return true
		}
	}
	return false
}

// isBeforeTable reports whether the name of a table follows outside of all parentheses. In them
// FROM may stand before a text, as in TRIM('x' FROM "xy"), and PREPARE takes a statement from one.
func isBeforeTable(verb, prev Token) bool {
	switch {
	case verb.Is("select"), verb.Is("with"), verb.Is("delete"):
		return prev.Is("from") || prev.Is("join")
	case verb.Is("insert"), verb.Is("replace"):
		return prev.Is("into") || prev.Is("from") || prev.Is("join")
	case verb.Is("update"):
		return prev.Is("update") || prev.Is("join")
	}
	return false
}
