package accessformat

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep JSON objects are looked into.
const maxDepth = 64

// A jsonScan reads one line. It takes what encoding/json takes, and what servers
// write that is not quite JSON: nothing at all or a dash for a number, lists of
// numbers, and bytes as \xHH, which are left as they are.
type jsonScan struct {
	p    *Parser
	line []byte
	r    *Record
	n    int // place of the next key
	why  string
}

// json reads an object with any nesting.
//
// Source: RFC 8259.
func (p *Parser) json(line []byte, r *Record) (why string) {
	p.beginKeys()
	s := &p.scan
	*s = jsonScan{p: p, line: line, r: r}
	i := s.blanks(0)
	if i >= len(line) || line[i] != '{' {
		return "not a JSON object"
	}
	i = s.object(i+1, nil, 0)
	if s.why != "" {
		return s.why
	}
	if i = s.blanks(i); i < len(line) {
		return "unexpected " + quoteShort(line[i:]) + " after the JSON object"
	}
	return p.finishKeyed(r)
}

// fail describes why the line is no record.
func (s *jsonScan) fail(i int, what string) int {
	if s.why == "" {
		s.why = "bad JSON at byte " + strconv.Itoa(i) + ": " + what
	}
	return len(s.line)
}

// blanks returns the place of the next byte that is no blank.
func (s *jsonScan) blanks(i int) int {
	for i < len(s.line) && (s.line[i] == ' ' || s.line[i] == '\t' || s.line[i] == '\r' || s.line[i] == '\n') {
		i++
	}
	return i
}

// object reads what stands after an opening brace and returns the place after
// the closing one. The parent is the key of the object, nil for the outermost.
func (s *jsonScan) object(i int, parent *slot, depth int) int {
	line := s.line
	for {
		var to *slot
		if at := s.p.layout.find(s.n, line[i:], parent); at != nil {
			to = at.slot
			i += len(at.label)
		} else {
			i = s.blanks(i)
			if i < len(line) && line[i] == '}' {
				return i + 1
			}
			to, i = s.key(i, parent)
			if s.why != "" {
				return i
			}
		}
		s.n++
		i = s.value(i, to, depth)
		if s.why != "" {
			return i
		}
		if i+1 < len(line) && line[i] == ',' {
			if i++; line[i] == ' ' {
				i++
			}
			continue
		}
		i = s.blanks(i)
		switch {
		case i >= len(line):
			return s.fail(i, "the object does not end")
		case line[i] == '}':
			return i + 1
		case line[i] != ',':
			return s.fail(i, "no comma after a value")
		}
		i++
	}
}

// key reads a key that is not the one of the last line, with the colon and the
// blanks after it.
func (s *jsonScan) key(i int, parent *slot) (to *slot, value int) {
	line := s.line
	if i >= len(line) || line[i] != '"' {
		return nil, s.fail(i, "no key in quotes")
	}
	n := findClosing(line[i+1:])
	if n < 0 {
		return nil, s.fail(i, "the key does not end")
	}
	key := line[i+1 : i+1+n]
	value = s.blanks(i + 2 + n)
	if value >= len(line) || line[value] != ':' {
		return nil, s.fail(value, "no colon after a key")
	}
	value = s.blanks(value + 1)
	if bytes.IndexByte(key, '\\') >= 0 {
		key = appendUnescaped(nil, key)
	}
	if parent != nil {
		s.p.path = append(append(append(s.p.path[:0], parent.name...), '.'), key...)
		key = s.p.path
	}
	to = s.p.keys[string(key)]
	s.p.layout.learn(s.n, line[i:value], parent, to)
	return to, value
}

// value reads a value and returns the place after it.
func (s *jsonScan) value(i int, to *slot, depth int) int {
	line := s.line
	if i < len(line) && line[i] <= ' ' { // more blanks than the last line had
		i = s.blanks(i)
	}
	if i >= len(line) {
		return s.fail(i, "no value after a key")
	}
	switch line[i] {
	case '"':
		n := findClosing(line[i+1:])
		if n < 0 {
			return s.fail(i, "a text does not end")
		}
		if to != nil {
			s.put(to, line[i+1:i+1+n], true)
		}
		return i + 2 + n
	case '{':
		if to == nil || !to.object || depth >= maxDepth {
			return s.skip(i)
		}
		return s.object(i+1, to, depth+1)
	case '[':
		if first := s.blanks(i + 1); to != nil && first < len(line) && line[first] == '"' {
			if n := findClosing(line[first+1:]); n >= 0 {
				s.put(to, line[first+1:first+1+n], true)
			}
		}
		return s.skip(i)
	}
	end := s.bare(i)
	if to != nil {
		v := line[i:end]
		for len(v) > 0 && v[len(v)-1] <= ' ' {
			v = v[:len(v)-1]
		}
		if string(v) == "null" {
			v = nil
		}
		s.put(to, v, false)
	}
	return end
}

// bare returns where a value without quotes ends. A comma with no key after it
// belongs to a list of numbers.
func (s *jsonScan) bare(i int) int {
	for ; i < len(s.line); i++ {
		switch s.line[i] {
		case '}', ']':
			return i
		case ',':
			if next := s.blanks(i + 1); next >= len(s.line) || s.line[next] == '"' || s.line[next] == '}' {
				return i
			}
		}
	}
	return i
}

// put hands a value on.
func (s *jsonScan) put(to *slot, v []byte, text bool) {
	if text && bytes.IndexByte(v, '\\') >= 0 {
		start := len(s.p.buf)
		s.p.buf = appendUnescaped(s.p.buf, v)
		v = s.p.buf[start:]
	}
	if !s.p.keyed(to, v, s.r) {
		s.why = badValue(to.name, v)
	}
}

// skip returns the place after an object or a list that is not wanted.
func (s *jsonScan) skip(i int) int {
	depth := 0
	for i < len(s.line) {
		switch s.line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			n := findClosing(s.line[i+1:])
			if n < 0 {
				return s.fail(i, "a text does not end")
			}
			i += n + 1
		}
		i++
	}
	return s.fail(i, "a list or an object does not end")
}

// appendUnescaped appends the text of a JSON string. Escapes that JSON does not
// know stay as they are.
func appendUnescaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, '\\')
		if i < 0 || i+1 >= len(v) {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		c := v[i+1]
		n := 2
		switch c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			var r rune
			if r, n = unescapeRune(v[i:]); n == 0 {
				dst, n = append(dst, '\\', 'u'), 2
			} else {
				dst = utf8.AppendRune(dst, r)
			}
		default:
			dst = append(dst, '\\', c)
		}
		v = v[i+n:]
	}
}

// unescapeRune reads \u0041, or two such that are one character together.
func unescapeRune(v []byte) (r rune, n int) {
	if r, n = hexRune(v); n == 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, m := hexRune(v[n:]); m > 0 {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, n + m
			}
		}
		return utf8.RuneError, n
	}
	return r, n
}

func hexRune(v []byte) (r rune, n int) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, 0
	}
	for _, c := range v[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, 0
		}
		r = r<<4 | rune(c)
	}
	return r, 6
}
