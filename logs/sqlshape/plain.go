package sqlshape

import "bytes"

// PlainSelect reports whether a statement is one SELECT that does no more than return
// rows, whatever the server and its sql_mode: nothing stands INTO a file or a variable, no
// /*! … */ reads otherwise on another version, and no statement follows. Where servers may
// split the bytes otherwise than a [Lexer], as with a backslash in a string, what could
// hide there is refused. locks is whether it locks the rows. What stored and loadable
// functions do is the server's matter.
func PlainSelect(sql []byte) (locks, ok bool) {
	if Verb(sql) != "SELECT" || bytes.ContainsFunc(sql, isReadApart) && hides(sql) {
		return false, false
	}
	l := NewLexer(sql)
	var last Token
	for t := l.Raw(); t.Kind != End; t = l.Raw() {
		switch {
		case t.Open, last.IsSymbol(';'):
			return false, false
		case t.Kind == Comment:
			if isVersioned(t.Text) {
				return false, false
			}
			continue
		case t.Kind == Word || t.Kind == Number:
			if isInto(t.Text) {
				return false, false
			}
		}
		locks = locks || last.Is("for") && (t.Is("update") || t.Is("share")) || last.Is("lock") && t.Is("in")
		last = t
	}
	return locks, true
}

// isReadApart reports whether servers read a character otherwise than the lexer in some
// mode: backslashes, with NO_BACKSLASH_ESCAPES, and control characters, after two minus
// signs.
func isReadApart(r rune) bool {
	return r == '\\' || r == 0x7f || r < ' ' && r != '\t' && r != '\n' && r != '\r'
}

// hides reports whether something that is no part of a plain SELECT could stand in the
// bytes, however they are split.
func hides(sql []byte) bool {
	lower := bytes.ToLower(sql)
	return bytes.Contains(lower, []byte("into")) || bytes.IndexByte(sql, ';') >= 0 || bytes.Contains(sql, []byte("/*"))
}

// isInto reports whether a word is INTO, or a number with INTO at its end: servers read
// 1.INTO as two tokens.
func isInto(word []byte) bool {
	n := len(word) - len("into")
	return n >= 0 && equalFold(word[n:], "into") && (n == 0 || isDigit(word[0]) || word[0] == '.')
}

// isVersioned reports whether a comment, or the part of it that is a token, holds what
// some servers execute.
func isVersioned(text []byte) bool {
	return bytes.HasPrefix(text, []byte("/*!")) || bytes.HasPrefix(text, []byte("/*M!")) || bytes.HasPrefix(text, []byte("*/"))
}
