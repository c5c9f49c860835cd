package join

import (
	"bytes"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// mostLiterals bounds the literals that are kept of one statement or URI.
const mostLiterals = 8

// appendLiterals takes numbers and quoted strings. Numbers within names (t1, x_2) are
// not literals.
func appendLiterals(dst []uint64, sql []byte) []uint64 {
	most := len(dst) + mostLiterals
	word := false // the byte before is part of a name
	for i := 0; i < len(sql) && len(dst) < most; {
		c := sql[i]
		switch {
		case c == '\'' || c == '"':
			end, _ := sqlshape.QuotedEnd(sql, i)
			dst = appendValue(dst, trimWildcards(sql[i+1:max(end-1, i+1)]))
			i, word = end, false
		case c == '`':
			i, _ = sqlshape.QuotedEnd(sql, i)
			word = false
		case !word && isDigit(c):
			end := i + 1
			for end < len(sql) && (isNameByte(sql[end]) || sql[end] == '.') {
				end++
			}
			dst = appendValue(dst, sql[i:end])
			i, word = end, false
		case c == '/' && i+1 < len(sql) && sql[i+1] == '*':
			end := bytes.Index(sql[i+2:], []byte("*/"))
			if end < 0 {
				return dst
			}
			i, word = i+2+end+2, false
		default:
			word = isNameByte(c)
			i++
		}
	}
	return dst
}

// literalsOfURI takes the path's segments that hold a digit and the values of the
// query.
func literalsOfURI(dst []uint64, uri []byte) []uint64 {
	most := len(dst) + mostLiterals
	if i := bytes.IndexByte(uri, '#'); i >= 0 {
		uri = uri[:i]
	}
	path, query, _ := bytes.Cut(uri, []byte("?"))
	for len(path) > 0 && len(dst) < most {
		var segment []byte
		segment, path, _ = bytes.Cut(path, []byte("/"))
		if bytes.ContainsAny(segment, "0123456789") {
			dst = appendValue(dst, unescapeText(segment))
		}
	}
	for len(query) > 0 && len(dst) < most {
		var pair []byte
		pair, query, _ = bytes.Cut(query, []byte("&"))
		if _, value, found := bytes.Cut(pair, []byte("=")); found {
			dst = appendValue(dst, unescapeText(value))
		}
	}
	return dst
}

// unescapeText decodes %XX and +; s itself when it has none.
func unescapeText(s []byte) []byte {
	if bytes.IndexByte(s, '%') < 0 && bytes.IndexByte(s, '+') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s) && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0:
			out = append(out, byte(hexDigit(s[i+1])<<4|hexDigit(s[i+2])))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return out
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// trimWildcards takes the % of a LIKE off both ends.
func trimWildcards(s []byte) []byte { return bytes.Trim(s, "%") }

// appendValue appends the hash (FNV-1a) of a value, but of an empty one none.
func appendValue(dst []uint64, value []byte) []uint64 {
	if len(value) == 0 {
		return dst
	}
	h := uint64(14695981039346656037)
	for _, c := range value {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return append(dst, h)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}

// infoOf looks at the first word, and of START at the second.
func infoOf(sql []byte) QueryInfo {
	first, rest := firstWord(sql)
	second, _ := firstWord(rest)
	switch {
	case bytes.EqualFold(first, []byte("begin")),
		bytes.EqualFold(first, []byte("start")) && bytes.EqualFold(second, []byte("transaction")):
		return QueryInfo{Begin: true}
	case bytes.EqualFold(first, []byte("commit")):
		return QueryInfo{Commit: true}
	case bytes.EqualFold(first, []byte("rollback")) && !bytes.EqualFold(second, []byte("to")):
		return QueryInfo{Rollback: true}
	}
	return QueryInfo{}
}

// firstWord returns the first word of s, after blanks and comments, and what
// follows it.
func firstWord(s []byte) (word, rest []byte) {
	for {
		s = bytes.TrimLeft(s, " \t\r\n;(")
		if !bytes.HasPrefix(s, []byte("/*")) {
			break
		}
		end := bytes.Index(s, []byte("*/"))
		if end < 0 {
			return nil, nil
		}
		s = s[end+2:]
	}
	end := 0
	for end < len(s) && isNameByte(s[end]) {
		end++
	}
	return s[:end], s[end:]
}
