package sqlshape

import (
	"bytes"
	"encoding/hex"
	"unicode/utf8"
)

// PlainText returns a statement as it can be sent where it is a plain SELECT: as it is, or with
// the strings that hold backslashes written so that every sql_mode reads them the same. Keys of
// bytes have semicolons in one of sixteen, which could end a statement otherwise.
func PlainText(sql []byte) (text []byte, locks, ok bool) {
	if locks, ok = PlainSelect(sql); ok {
		return sql, locks, true
	}
	text = withoutBackslashes(sql)
	locks, ok = PlainSelect(text)
	return text, locks, ok
}

// PlainSelect reports whether a statement is one SELECT that does no more than return
// rows, whatever the server and its sql_mode: nothing stands INTO a file or a variable, no
// /*! … */ reads otherwise on another version, and no statement follows. Where servers may
// split the bytes otherwise than a [Lexer], as with a backslash in a string, what could
// hide there is refused. locks is whether it locks the rows. What stored and loadable
// functions do is the server's matter.
func PlainSelect(sql []byte) (locks, ok bool) {
	if Verb(sql) != "SELECT" || hides(sql) && mayReadApart(sql) {
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

// mayReadApart reports whether servers may split the bytes otherwise than a lexer. A string
// without a backslash ends where it ends, whatever its bytes are.
func mayReadApart(sql []byte) bool {
	l, from := NewLexer(sql), 0
	for t := l.Raw(); t.Kind != End; t = l.Raw() {
		if t.Kind == String && bytes.IndexByte(t.Text, '\\') < 0 {
			if bytes.ContainsFunc(sql[from:l.pos-len(t.Text)], isReadApart) {
				return true
			}
			from = l.pos
		}
	}
	return bytes.ContainsFunc(sql[from:], isReadApart)
}

// withoutBackslashes writes strings that hold a backslash with doubled quotes, and those whose
// values hold one, or control characters, as hexadecimal digits.
func withoutBackslashes(sql []byte) []byte {
	l, from := NewLexer(sql), 0
	var out []byte
	var last Token
	for t := l.Raw(); t.Kind != End; t = l.Raw() {
		at := bytes.IndexAny(t.Text, `'"`)
		if t.Kind == String && !t.Open && bytes.IndexByte(t.Text, '\\') >= 0 && (at == 0 || t.Text[0] == '_') {
			introduced := at > 0 || last.Kind == Word && last.Text[0] == '_'
			out = append(out, sql[from:l.pos-len(t.Text)]...)
			out = appendValue(append(out, t.Text[:at]...), stringValue(t), introduced)
			from = l.pos
		}
		if t.Kind != Comment {
			last = t
		}
	}
	return append(out, sql[from:]...)
}

// appendValue writes a string, after its character set where that is introduced.
func appendValue(dst, v []byte, introduced bool) []byte {
	if !bytes.ContainsFunc(v, isReadApart) {
		dst = append(append(dst, '\''), bytes.ReplaceAll(v, []byte("'"), []byte("''"))...)
		return append(dst, '\'')
	}
	switch {
	case introduced:
	case utf8.Valid(v):
		dst = append(dst, "_utf8mb4"...)
	default:
		dst = append(dst, "_binary"...)
	}
	return hex.AppendEncode(append(dst, " 0x"...), v)
}

// stringValue returns the value of a string that is closed.
//
// Source: MySQL 8.4 Reference Manual, 11.1.1 String Literals.
func stringValue(t Token) []byte {
	text := t.Unquoted()
	quote, out := t.Text[len(t.Text)-1], make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == quote {
			i++ // doubled
		}
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		if at := bytes.IndexByte([]byte("0bnrtZ"), text[i]); at >= 0 {
			out = append(out, "\x00\b\n\r\t\x1a"[at])
			continue
		}
		if text[i] == '%' || text[i] == '_' { // for LIKE
			out = append(out, '\\')
		}
		out = append(out, text[i])
	}
	return out
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

// Parameters returns where in a statement the parameters of a prepared one stand.
func Parameters(sql []byte) (at []int) {
	l := NewLexer(sql)
	for t := l.Next(); t.Kind != End; t = l.Next() {
		if t.IsSymbol('?') {
			at = append(at, l.pos-1)
		}
	}
	return at
}
