package config

import (
	"strconv"
	"strings"
)

// joint stands between the parts of a key in a lineIndex; no TOML key holds it.
const joint = "\x00"

// A lineIndex says on which line each key of a document stands, by its parts
// joined. Elements of an array of tables are counted: units, 0, name. Keys inside
// inline tables are not in it.
type lineIndex map[string]int

// find returns the line of the key, or of the longest start of it that is known.
func (x lineIndex) find(path []string) int {
	for n := len(path); n > 0; n-- {
		if line, ok := x[strings.Join(path[:n], joint)]; ok {
			return line
		}
	}
	return 0
}

// A keyScanner walks over a document that a TOML parser has accepted, and notes the lines of
// its keys, which that parser does not return.
type keyScanner struct {
	doc   string
	at    int
	line  int // of doc[at]
	index lineIndex
	count map[string]int // elements so far of each array of tables
}

func indexLines(doc string) lineIndex {
	s := &keyScanner{doc: doc, line: 1, index: lineIndex{}, count: map[string]int{}}
	var table []string
	for s.space(true) {
		if s.doc[s.at] == '[' {
			table = s.header()
			continue
		}
		line := s.line
		key := s.key()
		s.note(append(append([]string(nil), table...), key...), line)
		s.value()
	}
	return s.index
}

// note keeps the first line of a key and of the tables that it implies.
func (s *keyScanner) note(path []string, line int) {
	for n := 1; n <= len(path); n++ {
		id := strings.Join(path[:n], joint)
		if _, ok := s.index[id]; !ok {
			s.index[id] = line
		}
	}
}

// header reads [table] or [[array]] and returns the path of what it opens.
func (s *keyScanner) header() []string {
	line := s.line
	s.at++
	array := s.at < len(s.doc) && s.doc[s.at] == '['
	if array {
		s.at++
	}
	var path []string
	key := s.key()
	for i, part := range key {
		path = append(path, part)
		id := strings.Join(path, joint)
		if array && i == len(key)-1 {
			s.count[id]++
		}
		if n := s.count[id]; n > 0 {
			path = append(path, strconv.Itoa(n-1))
		}
	}
	s.note(path, line)
	s.skipLine()
	return path
}

// key reads a dotted key up to the sign after it.
func (s *keyScanner) key() []string {
	var parts []string
	for s.space(false) {
		from := s.at
		switch c := s.doc[s.at]; c {
		case '"', '\'':
			s.text()
			part := s.doc[from+1 : max(s.at-1, from+1)]
			if c == '"' {
				if plain, err := strconv.Unquote(s.doc[from:s.at]); err == nil {
					part = plain
				}
			}
			parts = append(parts, part)
		case '.':
			s.at++
		case '=', ']', '\n':
			return parts
		default:
			for s.at < len(s.doc) && !strings.ContainsRune(" \t\r\n.=]\"'", rune(s.doc[s.at])) {
				s.at++
			}
			parts = append(parts, s.doc[from:s.at])
		}
	}
	return parts
}

// value skips a value with all that it holds, and the rest of its line.
func (s *keyScanner) value() {
	for depth := 0; s.at < len(s.doc); {
		switch s.doc[s.at] {
		case '"', '\'':
			s.text()
			continue
		case '#':
			s.skipLine()
			if depth <= 0 {
				return
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return
			}
			s.line++
		}
		s.at++
	}
}

// text skips a string of any of the four kinds.
func (s *keyScanner) text() {
	quote := s.doc[s.at : s.at+1]
	end := quote
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.doc[s.at:], triple) {
		end = triple
	}
	for s.at += len(end); s.at < len(s.doc); s.at++ {
		switch {
		case s.doc[s.at] == '\\' && quote == `"`:
			s.at++
			if s.at < len(s.doc) && s.doc[s.at] == '\n' {
				s.line++
			}
		case s.doc[s.at] == '\n':
			s.line++
		case strings.HasPrefix(s.doc[s.at:], end):
			s.at += len(end)
			// Up to two quotes may stand right before the three that end a string.
			for len(end) == 3 && s.at < len(s.doc) && s.doc[s.at:s.at+1] == quote {
				s.at++
			}
			return
		}
	}
	s.at = min(s.at, len(s.doc))
}

// space skips blanks and, between statements, line ends and comments too. It
// reports whether anything is left.
func (s *keyScanner) space(lines bool) bool {
	for s.at < len(s.doc) {
		switch c := s.doc[s.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case lines && c == '\n':
			s.at++
			s.line++
		case lines && c == '#':
			s.skipLine()
		default:
			return true
		}
	}
	return false
}

// skipLine goes to the end of the line.
func (s *keyScanner) skipLine() {
	if i := strings.IndexByte(s.doc[s.at:], '\n'); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.doc)
}

// maxDepth is how deep brackets may stand: far deeper than any key needs. The parser
// takes the square of the depth.
const maxDepth = 16

// tooDeep returns the line on which brackets stand more than maxDepth deep, 0 when
// there is none. The document need not be one that a parser accepts: up to its first
// mistake strings and comments are what they are for the parser.
func tooDeep(doc string) int {
	s := &keyScanner{doc: doc, line: 1}
	for depth := 0; s.at < len(doc); {
		switch doc[s.at] {
		case '"', '\'':
			s.text()
			continue
		case '#':
			s.skipLine()
			continue
		case '[', '{':
			if depth++; depth > maxDepth {
				return s.line
			}
		case ']', '}':
			depth = max(depth-1, 0)
		case '\n':
			s.line++
		}
		s.at++
	}
	return 0
}
