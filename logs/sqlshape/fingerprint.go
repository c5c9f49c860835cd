package sqlshape

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"strings"
)

// A Shaper computes fingerprints and reuses its memory from one to the next.
// The zero value is ready. It is not safe for concurrent use.
type Shaper struct {
	a, b []byte // of two, one is read and one is written

	// What prepare saw of the last statement.
	cut       bool // it has several rows, of which only the first counts
	commented bool // it holds /*
}

// maxKeep is the largest buffer, in bytes, that a Shaper keeps for the next statement.
// Without it, one statement of the length of max_allowed_packet (16 MiB by default on
// MariaDB, 64 MiB on MySQL) would take its memory for ever.
const maxKeep = 1 << 20

// Fingerprint returns pt-query-digest's fingerprint of a statement without its
// final semicolon. The result is valid until the next call and until the
// statement changes.
func (s *Shaper) Fingerprint(sql []byte) []byte {
	q, whole := s.prepare(sql)
	if whole {
		return q
	}
	q = s.strings(q, '\'')
	q = s.numbersAndSpace(q)
	q = s.nulls(q)
	q = s.lists(q)
	q = s.unions(q)
	q = s.limit(q)
	return s.ascending(q)
}

// Rows reports whether the last statement has several rows, of which the fingerprint holds the first.
func (s *Shaper) Rows() bool { return s.cut }

// prepare takes the first steps, up to the strings in double quotes. Whole means
// that the result is the fingerprint.
func (s *Shaper) prepare(sql []byte) (q []byte, whole bool) {
	if cap(s.a) > maxKeep || cap(s.b) > maxKeep {
		s.a, s.b = nil, nil
	}
	if bytes.Contains(sql, binaryMark) {
		sql = s.emptyBinary(sql)
	}
	s.cut, s.commented = false, hasPair(sql, '/', '*')
	if s.commented {
		if special := specialCase(sql); special != "" {
			return append(s.next(), special...), true
		}
	}
	if bytes.HasPrefix(sql, []byte("administrator command: ")) {
		return sql, true
	}
	if call := procedureCall(sql); call != nil {
		return appendLower(s.next(), call), true
	}
	q = firstRow(sql)
	s.cut = len(q) < len(sql)
	if s.commented {
		q = s.stripBlockComments(q)
	}
	q = s.stripLineComments(q)
	if end := useStatement(q); end >= 0 {
		return append(append(s.next(), "use ?"...), q[end:]...), true
	}
	if bytes.IndexByte(q, '\\') >= 0 {
		q = s.stripEscapes(q)
	}
	return s.strings(q, '"'), false
}

// binaryMark introduces a string of bytes. The servers write it so, in lower case,
// before values of prepared statements that are no text.
var binaryMark = []byte("_binary")

// emptyBinary puts an x in the place of each string of bytes: _binary'…'. The original
// reads quotes, brackets and backslashes in such bytes as SQL, so that each value is a
// class of its own; here alone the fingerprint differs from its.
func (s *Shaper) emptyBinary(sql []byte) []byte {
	out := s.next()
	from, binary := 0, false
	for l := NewLexer(sql); ; {
		t := l.Raw()
		if t.Kind == End {
			return s.done(append(out, sql[from:]...))
		}
		if t.Kind == String && (binary || bytes.HasPrefix(t.Text, binaryMark)) {
			open := l.pos - len(t.Text) + bytes.IndexAny(t.Text, `'"`)
			out = append(append(out, sql[from:open]...), "'x'"...)
			from = l.pos
		}
		binary = t.Kind == Word && bytes.Equal(t.Text, binaryMark)
	}
}

// ID returns the id of a fingerprint: 32 upper-case hexadecimal digits, its
// MD5, which is what pt-query-digest prints after 0x since 3.0.11. The last 16
// digits are the id of older versions.
func ID(fingerprint []byte) string {
	sum := md5.Sum(fingerprint)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// next returns the buffer to write to, empty. The one that was written before
// is the one to read from; a step that changes nothing must not call next.
func (s *Shaper) next() []byte {
	s.a, s.b = s.b, s.a
	return s.a[:0]
}

// done keeps the buffer, which may have grown, and returns it.
func (s *Shaper) done(out []byte) []byte {
	s.a = out
	return out
}

// specialCase returns the fixed fingerprint of the statements of mysqldump and
// of pt-table-checksum.
func specialCase(sql []byte) string {
	if bytes.HasPrefix(sql, []byte("SELECT /*!40001 SQL_NO_CACHE */ * FROM `")) {
		return "mysqldump"
	}
	// /\*\w+\.\w+:[0-9]/[0-9]\*/
	for rest := sql; ; {
		i := bytes.Index(rest, []byte("/*"))
		if i < 0 {
			return ""
		}
		rest = rest[i+2:]
		p := skipWord(rest, 0)
		if p == 0 || p >= len(rest) || rest[p] != '.' {
			continue
		}
		e := skipWord(rest, p+1)
		if t := rest[e:]; e > p+1 && len(t) >= 6 && t[0] == ':' && isDigit(t[1]) && t[2] == '/' &&
			isDigit(t[3]) && t[4] == '*' && t[5] == '/' {
			return "percona-toolkit"
		}
	}
}

// procedureCall returns "call name" of a statement that calls a procedure with
// the parenthesis next to its name: \A\s*(call\s+\S+)\( without regard to case.
// As there, the last parenthesis of the run without blanks ends the name.
func procedureCall(sql []byte) []byte {
	start := skipSpace(sql, 0)
	if !hasFold(sql[start:], "call") {
		return nil
	}
	name := skipSpace(sql, start+4)
	if name == start+4 {
		return nil
	}
	end := name
	for end < len(sql) && !isSpace(sql[end]) {
		end++
	}
	if p := bytes.LastIndexByte(sql[name:end], '('); p > 0 {
		return sql[start : name+p]
	}
	return nil
}

// firstRow cuts an INSERT or REPLACE of several rows after its first row:
// \A((?:INSERT|REPLACE)(?: IGNORE)?\s+INTO.+?VALUES\s*\(.*?\))\s*,\s*\(
func firstRow(sql []byte) []byte {
	p := 0
	switch {
	case hasFold(sql, "insert"):
		p = 6
	case hasFold(sql, "replace"):
		p = 7
	default:
		return sql
	}
	if hasFold(sql[p:], " ignore") {
		p += 7
	}
	into := skipSpace(sql, p)
	if into == p || !hasFold(sql[into:], "into") {
		return sql
	}
	open := -1
	for v := into + 5; ; v++ { // at least one byte after into
		if v >= len(sql) {
			return sql
		}
		i := indexFold(sql[v:], "values")
		if i < 0 {
			return sql
		}
		v += i
		if o := skipSpace(sql, v+6); o < len(sql) && sql[o] == '(' {
			open = o
			break
		}
	}
	for p = open + 1; ; p++ {
		i := bytes.IndexByte(sql[p:], ')')
		if i < 0 {
			return sql
		}
		p += i
		if c := skipSpace(sql, p+1); c < len(sql) && sql[c] == ',' {
			if o := skipSpace(sql, c+1); o < len(sql) && sql[o] == '(' {
				return sql[:p+1]
			}
		}
	}
}

// stripBlockComments drops /* … */, but not /*! … */: /\*[^!].*?\*/
func (s *Shaper) stripBlockComments(q []byte) []byte {
	if !bytes.Contains(q, []byte("/*")) {
		return q
	}
	out := s.next()
	for {
		i := bytes.Index(q, []byte("/*"))
		if i < 0 || i+2 >= len(q) {
			return s.done(append(out, q...))
		}
		end := -1
		if q[i+2] != '!' {
			end = bytes.Index(q[i+3:], []byte("*/"))
			if end < 0 { // and so has no other start after it
				return s.done(append(out, q...))
			}
		}
		if end < 0 {
			out, q = append(out, q[:i+2]...), q[i+2:]
			continue
		}
		out, q = append(out, q[:i]...), q[i+3+end+2:]
	}
}

// stripLineComments drops "-- …" and "# …" up to the end of the line, unless a
// quote stands in between: (?:--|#)[^'"\r\n]*(?=[\r\n]|\Z)
func (s *Shaper) stripLineComments(q []byte) []byte {
	if bytes.IndexByte(q, '#') < 0 && !hasPair(q, '-', '-') {
		return q
	}
	out := s.next()
	for i := 0; i < len(q); {
		c := q[i]
		if c != '#' && (c != '-' || i+1 >= len(q) || q[i+1] != '-') {
			out = append(out, c)
			i++
			continue
		}
		end := i
		for end < len(q) && q[end] != '\'' && q[end] != '"' && q[end] != '\n' && q[end] != '\r' {
			end++
		}
		if end < len(q) && (q[end] == '\'' || q[end] == '"') {
			out = append(out, q[i:end]...)
		}
		i = end
	}
	return s.done(out)
}

// useStatement returns where the name ends in a statement that is all
// \Ause \S+\Z, else -1. A newline may follow.
func useStatement(q []byte) int {
	if !hasFold(q, "use ") {
		return -1
	}
	end := 4
	for end < len(q) && !isSpace(q[end]) {
		end++
	}
	if end > 4 && (end == len(q) || end == len(q)-1 && q[end] == '\n') {
		return end
	}
	return -1
}

// stripEscapes drops \', \" and \\. The original does it in five steps, of which
// the first two look at the byte before; they leave the same as one step does,
// because what they drop is not next to another backslash.
func (s *Shaper) stripEscapes(q []byte) []byte {
	out := s.next()
	from := 0
	for at := 0; at < len(q); at++ {
		i := bytes.IndexByte(q[at:], '\\')
		if i < 0 {
			break
		}
		if at += i; at+1 < len(q) && (q[at+1] == '\\' || q[at+1] == '\'' || q[at+1] == '"') {
			out = append(out, q[from:at]...)
			at++
			from = at + 1
		}
	}
	return s.done(append(out, q[from:]...))
}

// strings replaces quoted strings by ?: ([^\\])("Q.*?[^\\]?Q) by $1?, where Q is
// the quote. The byte before the string must not be part of the match before,
// so the second of two strings that touch each other stays; the optional last
// byte takes a third quote in a row.
func (s *Shaper) strings(q []byte, quote byte) []byte {
	if bytes.IndexByte(q, quote) < 0 {
		return q
	}
	out := s.next()
	for from := 0; ; {
		open := from + 1
		for ; open < len(q); open++ {
			i := bytes.IndexByte(q[open:], quote)
			if i < 0 {
				return s.done(append(out, q[from:]...))
			}
			open += i
			if q[open-1] != '\\' {
				break
			}
		}
		end := stringEnd(q, open)
		if end == 0 {
			return s.done(append(out, q[from:]...))
		}
		out = append(append(out, q[from:open]...), '?')
		from = end
	}
}

// stringEnd returns the end of the string that opens with the quote at open, 0
// when it has none.
func stringEnd(q []byte, open int) int {
	if open+1 >= len(q) {
		return 0
	}
	i := bytes.IndexByte(q[open+1:], q[open])
	if i < 0 {
		return 0
	}
	end := open + 1 + i
	if (i == 0 || q[end-1] == '\\') && end+1 < len(q) && q[end+1] == q[open] {
		end++
	}
	return end + 1
}
