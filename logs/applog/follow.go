package applog

import "bytes"

// goesOn takes a line that belongs to the entry before and reports whether it
// does.
func (r *reader) goesOn(line []byte) bool {
	e := &r.cur
	inner := bytes.TrimLeft(line, " \t")
	indented := len(inner) < len(line)
	joined := false
	switch {
	case isRows(inner) || isGoTrace(inner):
	case !e.active:
		return false
	case e.source && inner[0] == '[': // GORM writes the place on a line of its own
		rest, level, _ := stripHead(inner)
		e.text, e.level, e.source = append(e.text[:0], rest...), level, false
		e.verb = findVerb(e.text, 0)
	case isTimedRows(inner):
		joined = e.join(inner)
	case e.trace == goTrace && isCall(inner):
	case e.trace == pythonTrace && !indented && !isStamped(inner):
		if bytes.HasPrefix(e.text, []byte("Traceback (")) { // what was raised says more
			e.text, e.level = append(e.text[:0], inner...), failure
		}
		e.trace = noTrace
	case bytes.HasPrefix(inner, []byte("Traceback (")) && e.level == failure:
		e.trace = pythonTrace
	case bytes.HasPrefix(inner, []byte("During handling of the above exception")) ||
		bytes.HasPrefix(inner, []byte("The above exception was")):
	case bytes.HasPrefix(inner, []byte("Caused by: ")):
	case indented && !isStamped(inner) && !isTimed(inner):
		joined = (e.verb >= 0 || len(e.text) == 0 || verbLen(inner) > 0) && e.join(inner)
	case e.verb >= 0 && isClause(inner):
		joined = e.join(inner)
	default:
		return false
	}
	if isGoTrace(inner) {
		e.trace = goTrace
	}
	if e.active {
		e.bytes += uint64(r.src.Width())
		if e.code[0] == 0 && !joined {
			e.code, _ = findCode(inner)
		}
	}
	return true
}

// join makes a further line part of the text and reports whether there was room.
func (e *entry) join(line []byte) bool {
	if len(e.text)+len(line) >= maxJoined {
		return false
	}
	if len(e.text) > 0 {
		e.text = append(e.text, ' ')
	}
	e.text = append(e.text, line...)
	if e.verb < 0 {
		e.verb = findVerb(e.text, 0)
	}
	return true
}

func isStamped(line []byte) bool {
	_, level, stamped := stripHead(line)
	return stamped || level != unknown
}

// isRows reports whether the line is "[1 rows affected or returned]", which
// GORM 1 writes after a statement.
func isRows(line []byte) bool {
	if len(line) < 3 || line[0] != '[' {
		return false
	}
	n := 1 + countDigits(line[1:])
	return n > 1 && bytes.HasPrefix(line[n:], []byte(" rows affected"))
}

// isTimedRows reports whether the line starts like "[0.512ms] [rows:1] ", which
// GORM 2 writes below the place in the source.
func isTimedRows(line []byte) bool {
	if len(line) < 8 || line[0] != '[' || !isDigit(line[1]) {
		return false
	}
	i := bytes.IndexByte(line[:min(len(line), 24)], ']')
	return i > 0 && bytes.HasPrefix(line[i+1:], []byte(" [rows:"))
}

// isTimed reports whether an indented line says how long something took, and
// so is an entry of its own: Rails indents "User Load (0.3ms)  SELECT …".
func isTimed(line []byte) bool {
	const farthest = 80 // after the name of a model and its action
	i := bytes.Index(line[:min(len(line), farthest)], []byte("ms"))
	return i > 0 && isDigit(line[i-1]) && i+2 < len(line) && (line[i+2] == ')' || line[i+2] == ']')
}

// isGoTrace reports whether the line can stand nowhere but in the traces that
// Go's runtime prints.
func isGoTrace(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte("goroutine ")):
		n := 10 + countDigits(line[10:])
		return n > 10 && bytes.HasPrefix(line[n:], []byte(" ["))
	case bytes.HasPrefix(line, []byte("created by ")):
		return true
	}
	return bytes.HasPrefix(line, []byte("[signal "))
}

// isCall reports whether the line is a frame's call, main.(*T).f(0x1, …), or
// the last line of a program that go run started.
func isCall(line []byte) bool {
	if bytes.HasPrefix(line, []byte("exit status ")) || bytes.HasPrefix(line, []byte("panic(")) {
		return true
	}
	open := bytes.IndexByte(line, '(')
	dot := bytes.IndexByte(line, '.')
	return dot > 0 && dot < open && line[len(line)-1] == ')' && bytes.IndexByte(line[:open], ' ') < 0
}

// clauses are the words with which a line goes on with a statement.
var clauses = [...]string{
	"from", "where", "set", "values", "order", "group", "limit", "having", "and", "or", "join", "left", "right",
	"inner",
	"on", "union", "select", "offset", "for",
}

// isClause reports whether the line starts with a clause of SQL in upper case,
// or with a parenthesis.
func isClause(line []byte) bool {
	if line[0] == '(' || line[0] == ')' {
		return true
	}
	n := 0
	for n < len(line) && n < 8 && line[n] >= 'A' && line[n] <= 'Z' {
		n++
	}
	if n == 0 || n < len(line) && isWord(line[n]) {
		return false
	}
	for _, c := range clauses {
		if len(c) == n && hasFold(line, c) {
			return true
		}
	}
	return false
}

// isSource reports whether the text is only a place in a source file:
// (/app/main.go:12) or /app/main.go:12.
func isSource(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) > 1 && text[0] == '(' && text[len(text)-1] == ')' {
		text = text[1 : len(text)-1]
	}
	i := bytes.LastIndexByte(text, ':')
	return i > 2 && i+1 < len(text) && countDigits(text[i+1:]) == len(text)-i-1 &&
		bytes.IndexByte(text[:i], '.') > 0 && !bytes.ContainsAny(text, " \t(") && bytes.IndexByte(text, '/') >= 0
}

// countDigits returns how many digits the text starts with.
func countDigits(b []byte) int {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}
