package slowlog

import (
	"bytes"
	"time"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// What follows reads a slow log line by line, the slow and obvious way.

// An slowEvent is one entry of a slow log. Its slices, and what Attributes
// yields, are valid until the next Scan.
type slowEvent struct {
	Line   int64 // number of its first line in the window, from 1
	Offset int64 // of that line in the window, bytes

	Start      time.Time     // when the statement started; the last time that the log gave when the entry has none
	Resolution time.Duration // how exact Start is: a second, or a microsecond
	ThreadID   uint64        // connection id
	User, Host []byte
	Schema     []byte // default database, empty when the entry does not name one

	QueryTime, LockTime time.Duration
	RowsSent            uint64
	RowsExamined        uint64
	RowsAffected        uint64
	BytesSent           uint64
	HasAffected         bool // the log has rows affected

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
func (e *slowEvent) reset() {
	*e = slowEvent{Statement: e.Statement[:0], head: e.head[:0], use: e.use[:0]}
}

// isComment reports whether a head line holds no attributes: the EXPLAIN rows
// of MariaDB, and the lines that have a form of their own.
func isComment(line []byte) bool {
	return hasPrefix(line, "# explain:") || hasPrefix(line, "# User@Host:") || hasPrefix(line, "# Time:") ||
		hasPrefix(line, "# administrator command:") || len(line) < 3
}

// headLine reads a line that starts with #.
func (e *slowEvent) headLine(line []byte) {
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
		eachAttribute(line, func(name, value []byte) bool {
			e.attribute(name, value, start, line)
			return true
		})
	}
}

// attribute keeps what an slowEvent has a field for.
func (e *slowEvent) attribute(name, value []byte, start int, line []byte) {
	ok := true
	switch string(name) {
	case "Query_time":
		e.QueryTime, ok = parseSeconds(value)
		e.hasQueryTime = ok
	case "Lock_time":
		e.LockTime, ok = parseSeconds(value)
	case "Rows_sent":
		e.RowsSent, ok = parseNumber(value)
	case "Rows_examined":
		e.RowsExamined, ok = parseNumber(value)
	case "Rows_affected":
		e.RowsAffected, e.HasAffected = parseNumber(value)
		ok = e.HasAffected
	case "Bytes_sent":
		e.BytesSent, ok = parseNumber(value)
	case "Thread_id", "Id":
		e.ThreadID, ok = parseNumber(value)
	case "Schema":
		at := start + cap(line) - cap(value) // value is a part of line
		e.schema = [2]int{at, at + len(value)}
	}
	if !ok && e.bad == "" {
		e.bad = "bad " + string(name) + " " + quoteShort(value)
	}
}

// userHost reads "# User@Host: user[user] @ host [address]  Id:    12", which
// starts at that offset of the head.
func (e *slowEvent) userHost(line []byte, start int) {
	p := len("# User@Host: ")
	bracket := bytes.IndexByte(line[p:], '[')
	at := bytes.Index(line[p:], []byte("@ "))
	if bracket < 0 || at < 0 {
		return
	}
	if bracket == 0 {
		bracket = bytes.IndexByte(line[p:], ']') + 1
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
	eachAttribute(line[p+open+end:], func(name, value []byte) bool {
		if string(name) == "Id" {
			e.ThreadID, _ = parseNumber(value)
		}
		return true
	})
}

// finish sets what depends on the whole entry. The last time is that of the
// entry before.
func (e *slowEvent) finish(last time.Time) {
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

// A slowReader yields the entries of a slow log, in the shape of bufio.Scanner. It
// is not safe for concurrent use.
type slowReader struct {
	feed    logs.Feed
	have    bool // the feed's line is the first of what comes next
	account logs.Account
	event   slowEvent
	last    time.Time // Start of the last entry that had one

	taken     uint64 // lines of the present entry
	texts     uint64 // of them, lines of the statement
	ended     bool   // the last of them ends with a semicolon
	seenUser  bool
	seenQuery bool
	afterHead bool // what follows is the statement
	quotes    sqlshape.Quotes
	lexed     int // bytes of the statement that quotes has seen

	mariadb, mysql bool
}

// NewReader returns a reader of the lines.
func newSlowReader(src *lines.Window) *slowReader {
	r := new(slowReader)
	r.feed = logs.NewFeed(src, &r.account)
	return r
}

// Event returns the present entry. It is valid until the next Scan.
func (r *slowReader) Event() *slowEvent { return &r.event }

// Err returns the error that ended the reading, nil at the end of the log.
func (r *slowReader) Err() error { return r.feed.Err() }

// Account returns what became of the lines. The log's own lines, which a server
// writes when it opens it, count as continued.
func (r *slowReader) Account() *logs.Account { return &r.account }

// Format returns mariadb or mysql, and nothing while neither showed.
func (r *slowReader) Format() string {
	switch {
	case r.mariadb:
		return "mariadb"
	case r.mysql:
		return "mysql"
	}
	return ""
}

// Scan goes on to the next entry. It returns false at the end of the lines and
// on an error of reading them.
func (r *slowReader) Scan() bool {
	for r.seek() {
		r.entry()
		e := &r.event
		r.finish()
		if e.bad == "" {
			r.account.Records++
			r.account.Continued += r.taken - 1
			return true
		}
		text, _, _ := bytes.Cut(e.head, []byte("\n"))
		r.account.Drop(r.taken, e.Line, text, e.bad)
	}
	return false
}

// seek finds the first line of the next entry.
func (r *slowReader) seek() bool {
	for {
		if !r.have && !r.feed.Next() {
			return false
		}
		r.have = false
		text := r.feed.Text
		switch {
		case len(bytes.TrimSpace(text)) == 0:
			r.account.Blank++
		case text[0] == '#':
			return true
		case isBanner(text):
			r.account.Continued++
			if isVersion(text) {
				r.mariadb = bytes.Contains(text, []byte("MariaDB")) || bytes.Contains(text, []byte("mariadbd"))
				r.mysql = !r.mariadb
			}
		default:
			r.dropLine(text)
		}
	}
}

// dropLine counts a line that is likely a part of a statement, and masks the
// literals of what is kept of it.
func (r *slowReader) dropLine(text []byte) {
	n := len(r.account.Bad)
	r.account.Drop(1, r.feed.Number, text, "outside of an entry, a head such as \"# User@Host: …\" was expected")
	for i := range r.account.Bad[n:] {
		bad := &r.account.Bad[n+i]
		bad.Text = string(sqlshape.AppendMasked(nil, []byte(bad.Text), 2*len(bad.Text)))
	}
}

// entry takes the lines of the entry that starts with the present one.
func (r *slowReader) entry() {
	e := &r.event
	e.reset()
	e.Line, e.Offset = r.feed.Number, r.feed.Offset
	r.taken, r.texts, r.ended, r.seenUser, r.seenQuery, r.afterHead = 0, 0, false, false, false, false
	r.quotes, r.lexed = sqlshape.Quotes{}, 0
	for {
		text := r.feed.Text
		if r.taken > 0 && r.startsNext(text) {
			r.have = true
			return
		}
		text = r.feed.Text // looking ahead may have moved it
		r.taken++
		if r.afterHead {
			r.text(text)
		} else {
			r.headLine(text)
		}
		if !r.feed.Next() {
			return
		}
	}
}

// startsNext reports whether the line is the first after the entry.
func (r *slowReader) startsNext(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if !r.afterHead {
		return isTimeLine(text) || r.seenUser && r.seenQuery && isUserLine(text) || isBanner(text)
	}
	if text[0] != '#' {
		return r.ended && isBanner(text) || isVersion(text) && r.openQuote() == 0
	}
	if !r.ended {
		return false
	}
	if !isTimeLine(text) && !isUserLine(text) {
		return r.texts > 0 && r.openQuote() == 0 && r.headFollows(text)
	}
	return r.event.Truncated || r.openQuote() == 0 || r.wholeHead(text)
}

// openQuote returns the quote that the statement has left open so far. It reads
// on from where it was last asked.
func (r *slowReader) openQuote() byte {
	r.quotes.Write(r.event.Statement[r.lexed:])
	r.lexed = len(r.event.Statement)
	return r.quotes.Open()
}

// wholeHead reports whether the line starts the head of an entry that is whole
// and was written at about the time of this one.
func (r *slowReader) wholeHead(text []byte) bool {
	user, query := isUserLine(text), false
	for n := 1; n <= maxAhead; n++ {
		t := r.feed.Peek(n)
		switch {
		case len(t) == 0 || t[0] == '#' && len(t) > maxHead/16:
			return false
		case hasPrefix(t, "# administrator command: "):
			return user && query
		case t[0] == '#':
			user = user || isUserLine(t)
			query = query || bytes.Contains(t, []byte("Query_time: "))
		case hasPrefix(t, "use "):
		default:
			timestamp, ok := setLine(t)
			return ok && user && query && r.isPlausible(timestamp)
		}
	}
	return false
}

func (r *slowReader) headFollows(text []byte) bool {
	for n := 0; n <= maxAhead; n++ {
		t := text
		if n > 0 {
			t = r.feed.Peek(n)
		}
		if len(t) == 0 || t[0] != '#' || len(t) > maxHead/16 {
			return false
		}
		if hasQueryTime(t) {
			return true
		}
	}
	return false
}

func (r *slowReader) isPlausible(timestamp int64) bool {
	if r.event.timestamp == 0 || timestamp == 0 {
		return true
	}
	d := time.Duration(timestamp-r.event.timestamp) * time.Second
	return -plausible <= d && d <= plausible
}

// headLine takes a line of the head, or the first of the statement.
func (r *slowReader) headLine(text []byte) {
	e := &r.event
	switch {
	case len(text) == 0:
	case hasPrefix(text, "# administrator command: "):
		r.afterHead = true
		r.text(text)
	case text[0] == '#':
		r.seenUser = r.seenUser || holdsUser(text)
		r.seenQuery = r.seenQuery || hasQueryTime(text)
		if len(e.head)+len(text) < maxHead {
			e.headLine(text)
		}
	default:
		if timestamp, ok := setLine(text); ok {
			e.timestamp, r.afterHead, r.ended = timestamp, true, true
			return
		}
		if db, ok := useLine(text); ok && len(e.use) == 0 {
			e.use = append(e.use, db...)
			return
		}
		r.afterHead = true
		r.text(text)
	}
}

// text takes a line of the statement.
func (r *slowReader) text(text []byte) {
	e := &r.event
	if r.texts == 0 && hasPrefix(text, "# administrator command: ") {
		e.Admin = true
		text = text[2:]
	}
	if r.texts++; r.texts > 1 && len(e.Statement) < maxStatement {
		e.Statement = append(e.Statement, '\n')
	}
	if t := bytes.TrimRight(text, " \t"); len(t) > 0 {
		r.ended = t[len(t)-1] == ';' || r.feed.Cut
	}
	if room := maxStatement - len(e.Statement); len(text) > room {
		text, e.Truncated = text[:max(room, 0)], true
	}
	e.Truncated = e.Truncated || r.feed.Cut
	e.Statement = append(e.Statement, text...)
}

// finish completes the entry once its lines are taken.
func (r *slowReader) finish() {
	e := &r.event
	if r.ended && !e.Truncated {
		if s := bytes.TrimRight(e.Statement, " \t\r\n"); len(s) > 0 && s[len(s)-1] == ';' {
			e.Statement = s[:len(s)-1]
		}
	}
	if e.Truncated {
		switch q := r.openQuote(); q {
		case 0:
		case '*':
			e.Statement = append(e.Statement, "*/"...)
		default:
			e.Statement = append(e.Statement, q)
		}
	}
	if r.texts == 0 && len(e.use) > 0 && e.timestamp == 0 { // the statement itself
		e.Statement = append(append(e.Statement, "use "...), e.use...)
	}
	e.finish(r.last)
	if e.bad != "" {
		return
	}
	r.last = e.Start
	if e.HasAffected || len(e.head[e.schema[0]:e.schema[1]]) > 0 {
		r.mariadb = r.mariadb || !r.mysql
	} else if !e.logged.IsZero() {
		r.mysql = r.mysql || !r.mariadb
	}
}
