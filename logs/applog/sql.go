package applog

import (
	"bytes"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// findVerb returns where, from that position on, a statement may start: one of
// the verbs at the start of a word, after what can stand before a statement. It
// is -1 without one.
func findVerb(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		if !tab.verb[text[i]] {
			continue
		}
		if i > 0 && !tab.beforeVerb[text[i-1]] {
			continue
		}
		if v := verbLen(text[i:]); v > 0 && (i+v == len(text) || isBlank(text[i+v])) {
			return i
		}
	}
	return -1
}

// verbLen returns the length of the verb that the text starts with.
func verbLen(b []byte) int {
	for _, v := range [...]string{"select", "insert", "update", "delete", "replace"} {
		if hasFold(b, v) && (len(b) == len(v) || !isWord(b[len(v)])) {
			return len(v)
		}
	}
	return 0
}

// findSQL returns the statement of the text from that verb on.
func findSQL(text []byte, verb int) (start, end int, ok bool) {
	for tries := 0; verb >= 0 && tries < 32; tries++ {
		if isStatement(text, verb) {
			return verb, sqlEnd(text, verb), true
		}
		verb = findVerb(text, verb+1)
	}
	return 0, 0, false
}

// isStatement reports whether what starts with the verb is SQL and not prose. A
// verb in lower case after a word is prose, as in "please select an item from
// the list", unless that word announces a statement.
func isStatement(text []byte, at int) bool {
	sql := text[at:]
	upper := sql[0] <= 'Z'
	if !upper && !isAnnounced(text[:at]) {
		return false
	}
	switch sql[0] | 0x20 {
	case 's':
		return hasWord(sql, "from")
	case 'i', 'r':
		return endsWithInto(sql)
	case 'd':
		rest, found := cutWord(sql[6:], "from")
		return found && isNameStart(rest)
	}
	return updateSet(sql[6:])
}

// isAnnounced reports whether a statement may follow the text: no word stands
// before, or one that says so.
func isAnnounced(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	if n := len(before); n == 0 || !isLetter(before[n-1]) {
		return true
	}
	for _, w := range [...]string{"sql", "query", "queries", "statement", "stmt", "exec", "execute", "executing",
		"executed", "prepare", "run", "running"} {
		if n := len(before) - len(w); n >= 0 && hasFold(before[n:], w) && (n == 0 || !isWord(before[n-1])) {
			return true
		}
	}
	return false
}

// endsWithInto reports whether INSERT or REPLACE, words such as IGNORE, INTO, a name and
// what comes after it follow.
func endsWithInto(sql []byte) bool {
	rest := sql[verbLen(sql):]
	for range 3 { // LOW_PRIORITY, DELAYED, HIGH_PRIORITY; IGNORE; INTO
		r, found := cutWord(rest, "into")
		if !found {
			if rest, found = anyWord(rest); !found {
				return false
			}
			continue
		}
		if !isNameStart(r) {
			return false
		}
		r = skipName(r)
		for _, w := range [...]string{"values", "value", "select", "set", "with", "partition"} {
			if _, found := cutWord(r, w); found {
				return true
			}
		}
		return len(r) > 0 && r[0] == '('
	}
	return false
}

// updateSet reports whether names and SET follow, as in an UPDATE.
func updateSet(rest []byte) bool {
	const names = 12 // several tables, their aliases and joins
	if !isNameStart(bytes.TrimLeft(rest, " \t")) {
		return false
	}
	for range names {
		if r, found := cutWord(rest, "set"); found {
			return isNameStart(r)
		}
		rest = bytes.TrimLeft(rest, " \t")
		if n := len(skipName(rest)); n < len(rest) {
			rest = rest[len(rest)-n:]
			continue
		}
		if len(rest) == 0 || bytes.IndexByte([]byte(",.=()"), rest[0]) < 0 {
			return false
		}
		rest = rest[1:]
	}
	return false
}

// hasWord reports whether the lower-case word stands in the text, in any case,
// with blanks or signs around it and something after it.
func hasWord(text []byte, w string) bool {
	for i := 0; i+len(w) < len(text); i++ {
		if text[i]|0x20 == w[0] && hasFold(text[i:], w) && !isWord(text[i-min(i, 1)]) && !isWord(text[i+len(w)]) {
			return true
		}
	}
	return false
}

// cutWord returns what follows when the text starts with the lower-case word, in
// any case.
func cutWord(b []byte, w string) ([]byte, bool) {
	b = bytes.TrimLeft(b, " \t")
	if !hasFold(b, w) || len(b) > len(w) && isWord(b[len(w)]) {
		return b, false
	}
	return bytes.TrimLeft(b[len(w):], " \t"), true
}

func anyWord(b []byte) ([]byte, bool) {
	b = bytes.TrimLeft(b, " \t")
	n := 0
	for n < len(b) && isWord(b[n]) {
		n++
	}
	return b[n:], n > 0
}

func isNameStart(b []byte) bool {
	return len(b) > 0 && (b[0] == '`' || b[0] == '"' || isWord(b[0]) && !isDigit(b[0]) || b[0] >= 0x80)
}

// skipName returns what follows a name, which may be quoted and qualified, and
// blanks.
func skipName(b []byte) []byte {
	i := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == '`' || c == '"':
			end := bytes.IndexByte(b[i+1:], c)
			if end < 0 {
				return nil
			}
			i += end + 2
		case isWord(c) || c == '.' || c == '$' || c >= 0x80:
			i++
		default:
			return bytes.TrimLeft(b[i:], " \t")
		}
	}
	return nil
}

// sqlEnd returns where the statement that starts there ends: before the quote
// that was opened just before it, before a bracket or brace, which SQL has only
// in quotes and programs write before arguments, else at the end.
func sqlEnd(text []byte, start int) int {
	closing := byte(0)
	if start > 0 && text[start-1] == '"' {
		closing = '"'
	}
	for i := start; i < len(text); i++ {
		c := text[i]
		if !tab.sqlStop[c] {
			continue
		}
		if c == closing || c == '[' || c == '{' {
			return i
		}
		if c == '\\' {
			i++
			continue
		}
		end, closed := sqlshape.QuotedEnd(text, i)
		if !closed {
			return len(text)
		}
		i = end - 1
	}
	return len(text)
}

// withoutArguments drops the arguments in brackets or braces that programs write
// after a statement: they are its values.
func withoutArguments(tail []byte) []byte {
	if len(tail) == 0 || tail[0] != '[' && tail[0] != '{' {
		return tail
	}
	return tail[argumentsEnd(tail):]
}

// argumentsEnd returns the position after the brackets that the text starts
// with, its end when they do not close.
func argumentsEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := stringEnd(b, i)
			if end == 0 {
				return len(b)
			}
			i = end - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}
