package slowlog

import (
	"bytes"
	"time"
)

// An Event is one entry of a slow log. Its slices, and what [Event.Attributes]
// yields, are valid until the next Scan.
type Event struct {
	Line   int64 // number of its first line in the window, from 1
	Offset int64 // of that line in the window, bytes

	Start      time.Time     // when the statement started; the last time that the log told when the entry tells none
	Resolution time.Duration // how exact Start is: a second, or a microsecond
	ThreadID   uint64        // connection id
	User, Host []byte
	Schema     []byte // default database, empty when the entry does not tell

	QueryTime, LockTime time.Duration
	RowsSent            uint64
	RowsExamined        uint64
	RowsAffected        uint64
	BytesSent           uint64
	HasAffected         bool // the log tells rows affected

	Admin     bool   // an administrator command, whose text starts with "administrator command: "
	Truncated bool   // the statement was longer than the bound; an open quote was closed
	Statement []byte // without the final semicolon

	head         []byte // the lines that start with #, with newlines
	use          []byte // database of the use line
	user, host   [2]int // from and to in head, which may move while it grows
	schema       [2]int
	hasQueryTime bool
	timestamp    int64     // of SET timestamp, seconds; 0 without one
	logged       time.Time // of # Time in ISO form
	bad          string    // why the entry cannot be used
}

// reset empties the event and keeps its memory.
func (e *Event) reset() {
	*e = Event{Statement: e.Statement[:0], head: e.head[:0], use: e.use[:0]}
}

// Attributes yields every "Name: value" of the entry's head, in order, such as
// Rows_sent, Full_scan or Pages_accessed. A value may be empty.
func (e *Event) Attributes(yield func(name, value []byte) bool) {
	for rest := e.head; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if isComment(line) {
			continue
		}
		if !attributes(line, func(name, value []byte) bool { return yield(name, value) }) {
			return
		}
	}
}

// isComment reports whether a head line holds no attributes: the EXPLAIN rows
// of MariaDB, and the lines that have a form of their own.
func isComment(line []byte) bool {
	return hasPrefix(line, "# explain:") || hasPrefix(line, "# User@Host:") || hasPrefix(line, "# Time:") ||
		hasPrefix(line, "# administrator command:") || len(line) < 3
}

// attributes yields the "Name: value" pairs of a line. MariaDB writes an empty
// schema as "Schema:   QC_hit: No": what ends with a colon is no value.
func attributes(line []byte, yield func(name, value []byte) bool) bool {
	i := 1 // behind #
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		start := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if start == i {
			return true
		}
		if line[i-1] != ':' {
			continue
		}
		name := line[start : i-1]
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		v := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > v && line[i-1] == ':' && isAttributeName(line[v:i-1]) {
			i = v
		}
		if !yield(name, line[v:i]) {
			return false
		}
	}
}

func isAttributeName(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(b) > 0 && b[0] >= 'A' && b[0] <= 'Z'
}

// headLine reads a line that starts with #.
func (e *Event) headLine(line []byte) {
	start := len(e.head)
	e.head = append(append(e.head, line...), '\n')
	line = e.head[start : len(e.head)-1]
	switch {
	case hasPrefix(line, "# Time: "):
		e.logged, _ = isoTime(line[len("# Time: "):])
		if i := bytes.Index(line, []byte("# User@Host: ")); i > 0 {
			e.userHost(line[i:], start+i)
		}
	case hasPrefix(line, "# User@Host: "):
		e.userHost(line, start)
	case isComment(line):
	default:
		attributes(line, func(name, value []byte) bool {
			e.attribute(name, value, start, line)
			return true
		})
	}
}

// attribute keeps what an Event has a field for.
func (e *Event) attribute(name, value []byte, start int, line []byte) {
	ok := true
	switch string(name) {
	case "Query_time":
		e.QueryTime, ok = seconds(value)
		e.hasQueryTime = ok
	case "Lock_time":
		e.LockTime, ok = seconds(value)
	case "Rows_sent":
		e.RowsSent, ok = number(value)
	case "Rows_examined":
		e.RowsExamined, ok = number(value)
	case "Rows_affected":
		e.RowsAffected, e.HasAffected = number(value)
		ok = e.HasAffected
	case "Bytes_sent":
		e.BytesSent, ok = number(value)
	case "Thread_id", "Id":
		e.ThreadID, ok = number(value)
	case "Schema":
		at := start + cap(line) - cap(value) // value is a part of line
		e.schema = [2]int{at, at + len(value)}
	}
	if !ok && e.bad == "" {
		e.bad = "bad " + string(name) + " " + quote(value)
	}
}

// userHost reads "# User@Host: user[user] @ host [address]  Id:    12", which
// starts at that offset of the head.
func (e *Event) userHost(line []byte, start int) {
	p := len("# User@Host: ")
	bracket := bytes.IndexByte(line[p:], '[')
	at := bytes.Index(line[p:], []byte("@ "))
	if bracket < 0 || at < 0 {
		return
	}
	e.user = [2]int{start + p, start + p + bracket}
	p += at + 2
	open := bytes.IndexByte(line[p:], '[')
	if open < 0 {
		return
	}
	host := bytes.TrimRight(line[p:p+open], " ")
	from := p
	end := bytes.IndexByte(line[p+open:], ']')
	if end < 0 {
		return
	}
	if len(host) == 0 { // with skip_name_resolve there is only the address
		from, host = p+open+1, line[p+open+1:p+open+end]
	}
	e.host = [2]int{start + from, start + from + len(host)}
	attributes(line[p+open+end:], func(name, value []byte) bool {
		if string(name) == "Id" {
			e.ThreadID, _ = number(value)
		}
		return true
	})
}

// finish sets what depends on the whole entry. The last time is that of the
// entry before.
func (e *Event) finish(last time.Time) {
	e.User, e.Host = e.head[e.user[0]:e.user[1]], e.head[e.host[0]:e.host[1]]
	e.Schema = e.head[e.schema[0]:e.schema[1]]
	if len(e.Schema) == 0 {
		e.Schema = e.use
	}
	switch {
	case !e.logged.IsZero():
		e.Start, e.Resolution = e.logged.Add(-e.QueryTime), time.Microsecond
	case e.timestamp != 0:
		e.Start, e.Resolution = time.Unix(e.timestamp, 0), time.Second
	default:
		e.Start, e.Resolution = last, time.Second
	}
	if !e.hasQueryTime && e.bad == "" {
		e.bad = "no Query_time"
	}
}
