package alp

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/logs/patterns"
)

// A lineReader finds the values of a line. It is for one goroutine.
type lineReader interface {
	// read sets the values by their index, nil for one that the line lacks. They
	// are valid until the next line. It returns why the line is none, empty when
	// it is one.
	read(line []byte, values [][]byte) (why string)
}

// newReader returns the reader of a kind of log for values with these names.
func (f *fields) newReader(names []string, finder *patterns.Finder) lineReader {
	switch f.kind {
	case "ltsv":
		return &ltsvReader{names: byteNames(names)}
	case "json":
		return &jsonReader{names: byteNames(names)}
	}
	r := &regexpReader{finder: finder, plain: f.pattern == defaultPattern, groups: make([]int, len(names))}
	for i, name := range names {
		r.groups[i] = -1
		for g, n := range finder.Names() {
			if g > 0 && n == name {
				r.groups[i] = g // the last one of that name
			}
		}
	}
	return r
}

func byteNames(names []string) (out [][]byte) {
	for _, n := range names {
		out = append(out, []byte(n))
	}
	return out
}

// An ltsvReader reads lines of label:value fields with tabs between them.
// Source: http://ltsv.org.
type ltsvReader struct {
	names [][]byte
}

func (r *ltsvReader) read(line []byte, values [][]byte) string {
	clear(values)
	for rest := bytes.TrimRight(line, "\r\n"); ; {
		field, more := rest, false
		if i := bytes.IndexByte(rest, '\t'); i >= 0 {
			field, rest, more = rest[:i], rest[i+1:], true
		}
		colon := bytes.IndexByte(field, ':')
		if colon < 0 {
			return "a field without a colon"
		}
		label := trimBlanks(field[:colon])
		for i, name := range r.names {
			if len(name) == len(label) && string(name) == string(label) {
				values[i] = trimBlanks(field[colon+1:])
			}
		}
		if !more {
			return ""
		}
	}
}

// trimBlanks is bytes.TrimSpace for what mostly has no space around it.
func trimBlanks(b []byte) []byte {
	if n := len(b); n == 0 || b[0] > ' ' && b[0] < 0x80 && b[n-1] > ' ' && b[n-1] < 0x80 {
		return b
	}
	return bytes.TrimSpace(b)
}

// defaultPattern is alp's: combined, followed by the response time, and
// perhaps the request time.
const defaultPattern = `^(\S+)\s\S+\s+(\S+\s+)+\[(?P<time>[^]]+)\]\s"(?P<method>\S*)\s?(?P<uri>(?:[^"]*(?:\\")?)*)\s([^"]*)"\s(?P<status>\S+)\s(?P<body_bytes>\S+)\s"((?:[^"]*(?:\\")?)*)"\s"(?:.+)"\s(?P<response_time>\S+)(?:\s(?P<request_time>\S+))?$`

// A regexpReader reads lines by an expression with named groups.
type regexpReader struct {
	finder *patterns.Finder
	plain  bool  // the expression is defaultPattern
	groups []int // by value; -1: there is none of that name
	marks  []int
}

func (r *regexpReader) read(line []byte, values [][]byte) string {
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	marks, ok := r.marks, false
	if r.plain {
		marks, ok = plainMarks(marks, line)
	}
	if !ok {
		if marks = r.finder.Find(marks, line); marks == nil {
			return "the pattern does not match"
		}
	}
	r.marks = marks
	for i, g := range r.groups {
		values[i] = nil
		if g >= 0 && marks[2*g] >= 0 {
			values[i] = line[marks[2*g]:marks[2*g+1]]
		}
	}
	return ""
}

// The groups of defaultPattern that plainMarks finds.
const (
	groupTime = 3 + iota
	groupMethod
	groupURI
	_
	groupStatus
	groupBody
	_
	groupTook
	groupTook2
	plainGroups
)

// plainMarks returns the named groups of defaultPattern in a line in which there
// is but one way to find them: six quotes, no backslash before the user agent,
// single spaces. It reports false for any other line.
func plainMarks(marks []int, line []byte) ([]int, bool) {
	if cap(marks) < 2*plainGroups {
		marks = make([]int, 2*plainGroups)
	}
	marks = marks[:2*plainGroups]
	var q [7]int // the quotes, and the end
	for i, at := 0, 0; ; i++ {
		n := bytes.IndexByte(line[at:], '"')
		if n < 0 {
			if i != 6 {
				return marks, false
			}
			break
		}
		if i == 6 {
			return marks, false
		}
		q[i] = at + n
		at += n + 1
	}
	q[6] = len(line)
	if bytes.IndexByte(line[:q[3]], '\\') >= 0 || !plainText(line[:q[3]]) || !plainText(line[q[5]:]) {
		return marks, false
	}
	if q[4] != q[3]+2 || line[q[3]+1] != ' ' || q[5] == q[4]+1 || bytes.IndexByte(line[q[4]:q[5]], '\n') >= 0 {
		return marks, false
	}
	set := func(group, from, to int) { marks[2*group], marks[2*group+1] = from, to }
	// host user … [time] before the first quote
	head := line[:q[0]]
	open := bytes.IndexByte(head, '[')
	if open < 0 || bytes.Count(head, []byte("[")) != 1 || bytes.IndexByte(head, ']') != q[0]-2 || open+1 >= q[0]-2 ||
		head[q[0]-1] != ' ' {
		return marks, false
	}
	if !threeWords(head[:open]) {
		return marks, false
	}
	set(groupTime, open+1, q[0]-2)
	// method uri protocol
	request := line[q[0]+1 : q[1]]
	first, last := bytes.IndexByte(request, ' '), bytes.LastIndexByte(request, ' ')
	if first < 0 || first == last {
		return marks, false
	}
	set(groupMethod, q[0]+1, q[0]+1+first)
	set(groupURI, q[0]+1+first+1, q[0]+1+last)
	// status size, then after the user agent one time or two
	middle := line[q[1]+1 : q[2]]
	if len(middle) < 5 || middle[0] != ' ' || middle[len(middle)-1] != ' ' {
		return marks, false
	}
	space := bytes.IndexByte(middle[1:], ' ') + 1
	if space == 1 || space == len(middle)-1 || space+1 == len(middle)-1 || bytes.Count(middle, []byte(" ")) != 3 {
		return marks, false
	}
	set(groupStatus, q[1]+2, q[1]+1+space)
	set(groupBody, q[1]+1+space+1, q[2]-1)
	return plainTimes(marks, line, q[5]+1)
}

// plainTimes finds the one time or two that a line ends with.
func plainTimes(marks []int, line []byte, at int) ([]int, bool) {
	tail := line[at:]
	if len(tail) < 2 || tail[0] != ' ' {
		return marks, false
	}
	end := len(tail)
	marks[2*groupTook2], marks[2*groupTook2+1] = -1, -1
	if i := bytes.IndexByte(tail[1:], ' ') + 1; i > 0 {
		if i == 1 || i+1 == len(tail) || bytes.IndexByte(tail[i+1:], ' ') >= 0 {
			return marks, false
		}
		marks[2*groupTook2], marks[2*groupTook2+1] = at+i+1, len(line)
		end = i
	}
	marks[2*groupTook], marks[2*groupTook+1] = at+1, at+end
	return marks, true
}

// plainText reports whether the only white space of a text is the space.
func plainText(b []byte) bool {
	for _, c := range b {
		if c < ' ' {
			return false
		}
	}
	return true
}

// threeWords reports whether a text is three words or more with a space after
// each, one space after the first.
func threeWords(b []byte) bool {
	if len(b) == 0 || b[0] == ' ' || b[len(b)-1] != ' ' {
		return false
	}
	i := bytes.IndexByte(b, ' ')
	return b[min(i+1, len(b)-1)] != ' ' && len(bytes.Fields(b)) >= 3
}

// A request is what a line says. Its slices are valid until the next line.
type request struct {
	name   []byte // the URI as it is counted
	method []byte
	time   []byte
	took   exact.Number // seconds
	body   float64      // bytes
	status int
	values [][]byte // all that were asked for
}

// A requestReader reads requests. It is for one goroutine.
type requestReader struct {
	lines lineReader
	rule  keyRule
	names []string // of the values, for messages
}

// read reads a line. It returns why it is no request, empty when it is one.
func (r *requestReader) read(line []byte, q *request) (why string) {
	if why := r.lines.read(line, q.values); why != "" {
		return why
	}
	var ok bool
	if q.values[valueURI] == nil {
		return r.lacks(valueURI)
	}
	if q.name, ok = r.rule.append(q.name[:0], q.values[valueURI]); !ok {
		return r.bad(valueURI)
	}
	if q.took, ok = exact.Parse(q.values[valueTook], 1); !ok {
		if q.took, ok = exact.Parse(q.values[valueTook2], 1); !ok {
			return fmt.Sprintf("no number in %s and %s", r.names[valueTook], r.names[valueTook2])
		}
	}
	size, ok := exact.Parse(q.values[valueBody], 1)
	if !ok {
		return r.bad(valueBody)
	}
	if q.status, ok = parseStatus(q.values[valueStatus]); !ok {
		return r.bad(valueStatus)
	}
	q.body, q.method, q.time = size.Value, q.values[valueMethod], q.values[valueTime]
	return ""
}

func (r *requestReader) lacks(i int) string { return "no " + r.names[i] }

func (r *requestReader) bad(i int) string { return "no usable " + r.names[i] }

func parseStatus(b []byte) (int, bool) {
	if len(b) == 3 && b[0]-'0' <= 9 && b[1]-'0' <= 9 && b[2]-'0' <= 9 {
		return int(b[0]-'0')*100 + int(b[1]-'0')*10 + int(b[2]-'0'), true
	}
	n, err := strconv.Atoi(string(b))
	return n, err == nil
}

// valueNames returns the names of the values, followed by others.
func (f *fields) valueNames(others []string) []string {
	return append(slices.Clone(f.names[:]), others...)
}
