package accessformat

import (
	"bytes"
	"fmt"
	"time"
)

// combinedName is the name of inferred formats until their unit is known.
const combinedName = "combined"

// The beginning that all combined and common lines have in common, and what
// stands after it.
var (
	commonHead = []piece{
		valuePiece("$remote_addr", aRemoteAddr), textPiece(" "), valuePiece("$ident", noField), textPiece(" "), valuePiece("$remote_user", aUser),
	}
	commonBody = []piece{
		valuePiece("$time_local", aTime), textPiece(`] "`), valuePiece("$request", aRequest), textPiece(`" `), valuePiece("$status", aStatus), textPiece(" "),
		valuePiece("$body_bytes_sent", aSize),
	}
	// anyCombined reads common, combined, and combined with a number.
	anyCombined = mustCompile("combined", append(append(append([]piece{}, commonHead...), textPiece(" [")),
		append(append([]piece{}, commonBody[:len(commonBody)-1]...),
			piece{name: "$body_bytes_sent", key: "body_bytes_sent", meaning: meaning{what: aSize}, maybe: true},
			textPiece(` "`),
			valuePiece("$http_referer", aReferer), textPiece(`" "`),
			piece{name: "$http_user_agent", key: "http_user_agent", meaning: meaning{what: anAgent}, maybe: true},
			textPiece(`" `),
			piece{name: "$request_time", key: "request_time", meaning: meaning{what: aLatency}, list: true})...))
)

func textPiece(s string) piece { return piece{text: s} }

func valuePiece(name string, f field) piece {
	return piece{name: name, key: name[1:], meaning: meaning{what: f}}
}

// mustCompile compiles a format that is written here.
func mustCompile(name string, pieces []piece) *Format {
	pr, err := compilePieces(pieces)
	if err != nil {
		panic("accessformat: " + name + ": " + err.Error())
	}
	return &Format{name: name, kind: byProgram, program: pr, unit: time.Second}
}

// A token is one of the values after the size of a combined line.
type token struct {
	open, shut string // what stands around it: quotes, brackets, rt=
	text       []byte
}

// A combinedLine is a line in the common or combined format, with anything after
// it:
//
//	host ident user [time] "request" status size "referer" "agent" …
type combinedLine struct {
	head                  [][]byte
	request, status, size []byte
	tail                  []token
}

// splitCombined splits a line and reports whether it has the format.
func splitCombined(line []byte, times *timeParser) (c combinedLine, ok bool) {
	open := bytes.IndexByte(line, '[')
	if open < 0 || open > 0 && line[open-1] != ' ' {
		return c, false
	}
	c.head = bytes.Fields(line[:open])
	n := times.take(line[open+1:])
	rest, ok := bytes.CutPrefix(line[open+1+n:], []byte(`] "`))
	if n == 0 || !ok {
		return c, false
	}
	end := findClosing(rest)
	if end < 0 || end+1 >= len(rest) || rest[end+1] != ' ' {
		return c, false
	}
	c.request, rest = rest[:end], rest[end+2:]
	c.status, rest, _ = bytes.Cut(rest, []byte(" "))
	c.size, rest, _ = bytes.Cut(rest, []byte(" "))
	var r Record
	if len(c.status) == 0 || len(c.size) == 0 || !setStatus(&r, c.status) {
		return c, false
	}
	if _, ok := parseDigits(c.size); !ok && !isDash(c.size) {
		return c, false
	}
	for len(rest) > 0 && len(c.tail) < 64 {
		var t token
		if t, rest, ok = nextToken(rest); !ok {
			return c, false
		}
		c.tail = append(c.tail, t)
	}
	return c, len(rest) == 0
}

// nextToken takes the next value from what stands after the size.
func nextToken(b []byte) (t token, rest []byte, ok bool) {
	name := 0
	for name < len(b) && (isToken[b[name]] && b[name] != '-') {
		name++
	}
	if name > 0 && name < len(b) && b[name] == '=' {
		t.open = string(b[:name+1])
		b = b[name+1:]
	}
	end := -1
	switch {
	case len(b) > 0 && b[0] == '"':
		t.open, t.shut = t.open+`"`, `"`
		b = b[1:]
		end = findClosing(b)
	case len(b) > 0 && b[0] == '[':
		t.open, t.shut = t.open+"[", "]"
		b = b[1:]
		end = bytes.IndexByte(b, ']')
	default:
		end = listEnd(b)
	}
	if end < 0 {
		return t, nil, false
	}
	t.text = b[:end]
	rest = b[end+len(t.shut):]
	if len(rest) == 0 {
		return t, nil, true
	}
	return t, rest[1:], rest[0] == ' '
}

// inferCombined finds out what stands after the size in combined lines, and
// makes a format of it; nil when there are no such lines.
func inferCombined(sample []byte) *Format {
	var times timeParser
	var all []combinedLine
	shapes := map[string]int{}
	eachLine(sample, func(_ int64, line []byte) {
		if c, ok := splitCombined(line, &times); ok {
			all = append(all, c)
			shapes[c.shape()]++
		}
	})
	if len(all) == 0 {
		return nil
	}
	best := all[0].shape()
	for _, c := range all {
		if s := c.shape(); shapes[s] > shapes[best] {
			best = s
		}
	}
	same := all[:0]
	for _, c := range all {
		if c.shape() == best {
			same = append(same, c)
		}
	}
	f := &Format{name: combinedName, kind: byProgram, unit: time.Second}
	pieces := headOf(same)
	pieces = append(pieces, commonBody...)
	tail, assumed := inferTail(same)
	pieces = append(pieces, tail...)
	pr, err := compilePieces(pieces)
	if err != nil {
		return nil
	}
	f.program, f.assumed = pr, assumed
	return f
}

// shape describes which values a line has, but not what they are.
func (c *combinedLine) shape() string {
	s := fmt.Sprint(min(len(c.head), 4))
	for _, t := range c.tail {
		s += " " + t.open
	}
	return s
}

// headOf returns the pieces before the time. Names of users may have blanks.
func headOf(same []combinedLine) []piece {
	head := same[0].head
	switch {
	case len(head) == 0:
		return []piece{textPiece("[")}
	case len(head) < 3:
		return []piece{valuePiece("$remote_addr", aRemoteAddr), textPiece(" [")}
	case len(head) >= 4 && looksLikeAddress(head[1]) && !isDash(head[1]):
		return append(append([]piece{valuePiece("$host", aVHost), textPiece(" ")}, commonHead...), textPiece(" ["))
	}
	return append(append([]piece{}, commonHead...), textPiece(" ["))
}

// looksLikeAddress reports whether a value is an address or a list of such.
func looksLikeAddress(b []byte) bool {
	digits, other := 0, false
	for _, c := range b {
		switch {
		case isDigit(c):
			digits++
		case c == '.' || c == ':' || c == ',' || c == ' ' || c|0x20 >= 'a' && c|0x20 <= 'f':
			other = other || c == '.' || c == ':'
		default:
			return isDash(b)
		}
	}
	return digits > 0 && other
}
