package applog

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A form is how a line is written.
type form uint8

const (
	plainText form = iota
	jsonLines
	logfmt
	nginxErrors
	forms
)

// String returns the form as a log window's format.
func (f form) String() string { return [forms]string{"text", "json", "logfmt", "nginx"}[f] }

// A field is what the value of a key is good for.
type field uint8

const (
	ignored field = iota
	levelField
	messageField
	errorField
	sqlField
	methodField
	pathField
	lineField // a whole line, as Docker keeps it
	fieldCount
)

// fieldOf returns the use of the keys that the usual libraries write.
func fieldOf(key []byte) field {
	switch string(key) {
	case "level", "lvl", "severity", "levelname", "loglevel", "log_level", "log.level", "@level":
		return levelField
	case "msg", "message", "@message", "event":
		return messageField
	case "err", "error", "exception", "cause", "error.message", "exc_info":
		return errorField
	case "sql", "query", "statement", "stmt", "db.statement":
		return sqlField
	case "method":
		return methodField
	case "uri", "path", "url":
		return pathField
	case "log":
		return lineField
	}
	return ignored
}

// fields holds what a line of JSON or logfmt says. Its memory is reused.
type fields struct {
	value   [fieldCount][]byte // without quotes and escapes; part of the line or of scratch
	scratch [fieldCount][]byte
	line    []byte
	out     []byte
	nested  bool // the text is a line of plain text
}

func (p *fields) reset(line []byte) {
	p.value, p.line, p.nested = [fieldCount][]byte{}, line, false
}

// set keeps the first value of a field that is not empty.
func (p *fields) set(f field, raw []byte) {
	if f == ignored || len(p.value[f]) > 0 || string(raw) == "null" {
		return
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		p.scratch[f] = appendUnescaped(p.scratch[f][:0], raw)
		raw = p.scratch[f]
	}
	p.value[f] = raw
}

// levelOf returns the level that the fields give; pino and bunyan write numbers.
func (p *fields) levelOf() level {
	v := p.value[levelField]
	if len(v) == 2 && v[1] == '0' && v[0] >= '1' && v[0] <= '6' {
		return [...]level{debug, debug, info, warning, failure, failure}[v[0]-'1']
	}
	return levelNamed(v)
}

// text returns what the fields say as one line: the request where there is no
// message, then the error, then the statement.
func (p *fields) text() []byte {
	if l := bytes.TrimRight(p.value[lineField], "\r\n"); len(bytes.TrimSpace(l)) > 0 &&
		len(p.value[messageField]) == 0 {
		p.nested = true
		return l
	}
	out := append(p.out[:0], p.value[messageField]...)
	if len(out) == 0 && len(p.value[pathField]) > 0 {
		out = append(append(append(out, p.value[methodField]...), ' '), p.value[pathField]...)
	}
	for _, f := range [...]field{errorField, sqlField} {
		v := p.value[f]
		if len(v) == 0 || bytes.Contains(out, v) {
			continue
		}
		if len(out) > 0 {
			out = append(out, ": "...)
		}
		out = append(out, v...)
	}
	p.out = out
	if len(bytes.TrimSpace(out)) == 0 {
		return p.line
	}
	return out
}

// json reads a line that is one object. It reports false when it is not.
func (p *fields) json(line []byte) bool {
	p.reset(line)
	line = bytes.TrimRight(line, " \t\r")
	return len(line) > 1 && line[0] == '{' && p.object(line, 0, false) == len(line)
}

// object reads the object at i and returns its end, 0 when it is none. Inside of
// an error only the message counts.
func (p *fields) object(b []byte, i int, inError bool) int {
	if i = skipBlank(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) && b[i] == '"' {
		key := i
		if i = stringEnd(b, i); i == 0 {
			return 0
		}
		f := fieldOf(b[key+1 : i-1])
		if i = skipBlank(b, i); i >= len(b) || b[i] != ':' {
			return 0
		}
		i = skipBlank(b, i+1)
		if inError {
			f = errorOnly(f)
		}
		if i = p.jsonValue(b, i, f, inError); i == 0 {
			return 0
		}
		i = skipBlank(b, i)
		if i < len(b) && b[i] == '}' {
			return i + 1
		}
		if i >= len(b) || b[i] != ',' {
			return 0
		}
		i = skipBlank(b, i+1)
	}
	return 0
}

func errorOnly(f field) field {
	if f == messageField {
		return errorField
	}
	return ignored
}

// jsonValue reads the value at i and returns its end, 0 when it is none.
func (p *fields) jsonValue(b []byte, i int, f field, inError bool) int {
	if i >= len(b) {
		return 0
	}
	start := i
	switch b[i] {
	case '"':
		if i = stringEnd(b, i); i > 0 {
			p.set(f, b[start+1:i-1])
		}
		return i
	case '{':
		if f == errorField && !inError {
			return p.object(b, i, true)
		}
		return nestedEnd(b, i)
	case '[':
		return nestedEnd(b, i)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] > ' ' {
		i++
	}
	if i == start {
		return 0
	}
	p.set(f, b[start:i])
	return i
}

// nestedEnd returns the end of the object or array at i, 0 without one.
func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i == 0 {
				return 0
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return 0
}

// stringEnd returns the position after the string in double quotes at i, 0 when
// it does not end.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		end := i + n
		back := 0
		for p := end - 1; p >= i && b[p] == '\\'; p-- {
			back++
		}
		if back%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
	return 0
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

// appendUnescaped appends a JSON string without its escapes. Bad escapes stay;
// the ends of lines become blanks.
func appendUnescaped(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 >= len(b) {
			dst = append(dst, b[i])
			continue
		}
		i++
		switch c := b[i]; c {
		case 'n', 'r', 't', 'b', 'f':
			dst = append(dst, ' ')
		case 'u':
			r, n := hexRune(b[i+1:])
			if n == 0 {
				dst = append(dst, '\\', 'u')
				continue
			}
			dst = utf8.AppendRune(dst, r)
			i += n
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// hexRune reads the four digits after \u, and those of a second half.
func hexRune(b []byte) (rune, int) {
	r := parseHex4(b)
	if r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
		if low := parseHex4(b[6:]); low >= 0 {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 10
			}
		}
	}
	return r, 4
}

func parseHex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// logfmt reads a line of key=value pairs that has a message or a level. It
// reports false when the line is something else.
func (p *fields) logfmt(line []byte) bool {
	if n := keyLen(line); n == 0 || n >= len(line) || line[n] != '=' {
		return false
	}
	p.reset(line)
	for i := 0; i < len(line); {
		i = skipBlank(line, i)
		n := keyLen(line[i:])
		if n == 0 || i+n >= len(line) || line[i+n] != '=' { // a word
			for i < len(line) && line[i] != ' ' {
				i++
			}
			continue
		}
		f := fieldOf(line[i : i+n])
		i += n + 1
		start := i
		if i < len(line) && line[i] == '"' {
			if i = stringEnd(line, i); i == 0 {
				p.set(f, line[start+1:])
				break
			}
			p.set(f, line[start+1:i-1])
			continue
		}
		for i < len(line) && line[i] != ' ' {
			i++
		}
		p.set(f, line[start:i])
	}
	return len(p.value[messageField]) > 0 || p.levelOf() != unknown
}

// keyLen returns the length of the key that the text starts with.
func keyLen(b []byte) int {
	const longest = 64
	n := 0
	for n < len(b) && n < longest && (isWord(b[n]) || b[n] == '.' || b[n] == '-' || b[n] == '@') {
		n++
	}
	return n
}
