package slowlog

import (
	"bytes"
	"time"

	"github.com/kasoku/kasoku/analyze"
	"github.com/kasoku/kasoku/analyze/sqlshape"
	"github.com/kasoku/kasoku/lines"
)

// maxStatement bounds the text of a statement over several lines, in bytes. It
// is what a line is bounded to.
const maxStatement = lines.DefaultMaxLine

// maxAhead is how many lines are read ahead to see whether a whole head follows
// inside of what looks like a literal. The longest head, that of MariaDB with
// all verbosity and an EXPLAIN of several rows, fits.
const maxAhead = 40

// plausible is how far the time of an entry may lie from that of the entry
// before, when a head follows an open quote. Entries are written when they end,
// so a long statement comes after shorter ones that started later.
const plausible = time.Hour

// maxHead bounds what is kept of the head of an entry, in bytes, and the length
// of a line of a head that is read ahead.
const maxHead = 64 << 10

// A Reader yields the entries of a slow log, in the shape of bufio.Scanner. It
// is not safe for concurrent use.
type Reader struct {
	feed    analyze.Feed
	have    bool // the feed's line is the first of what comes next
	account analyze.Account
	event   Event
	last    time.Time // Start of the last entry that told one

	taken     uint64 // lines of the present entry
	texts     uint64 // of them, lines of the statement
	ended     bool   // the last of them ends with a semicolon
	seenUser  bool
	afterHead bool // what follows is the statement
	quotes    sqlshape.Quotes
	lexed     int // bytes of the statement that quotes has seen

	mariadb, mysql bool
}

// NewReader returns a reader of the lines.
func NewReader(src *lines.Window) *Reader {
	r := new(Reader)
	r.feed = analyze.NewFeed(src, &r.account)
	return r
}

// Event returns the present entry. It is valid until the next Scan.
func (r *Reader) Event() *Event { return &r.event }

// Err returns the error that ended the reading, nil at the end of the log.
func (r *Reader) Err() error { return r.feed.Err() }

// Account returns what became of the lines. The log's own lines, which a server
// writes when it opens it, count as continued.
func (r *Reader) Account() *analyze.Account { return &r.account }

// Format returns mariadb or mysql, and nothing while neither showed.
func (r *Reader) Format() string {
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
func (r *Reader) Scan() bool {
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
func (r *Reader) seek() bool {
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
			r.dropStatement(text)
		}
	}
}

// dropStatement counts a line that is likely a part of a statement, and masks the
// literals of what is kept of it.
func (r *Reader) dropStatement(text []byte) {
	n := len(r.account.Bad)
	r.account.Drop(1, r.feed.Number, text, "outside of an entry, a head such as \"# User@Host: …\" was expected")
	for i := range r.account.Bad[n:] {
		bad := &r.account.Bad[n+i]
		bad.Text = string(sqlshape.AppendMasked(nil, []byte(bad.Text), 2*len(bad.Text)))
	}
}

// entry takes the lines of the entry that starts with the present one.
func (r *Reader) entry() {
	e := &r.event
	e.reset()
	e.Line, e.Offset = r.feed.Number, r.feed.Offset
	r.taken, r.texts, r.ended, r.seenUser, r.afterHead = 0, 0, false, false, false
	r.quotes, r.lexed = sqlshape.Quotes{}, 0
	for {
		text := r.feed.Text
		if r.taken > 0 && r.startsNext(text) {
			r.have = true
			return
		}
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

// startsNext reports whether the line is the first behind the entry.
func (r *Reader) startsNext(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if !r.afterHead {
		return isTimeLine(text) || r.seenUser && isUserLine(text) || isBanner(text)
	}
	if text[0] != '#' {
		return r.ended && isBanner(text) || isVersion(text) && r.openQuote() == 0
	}
	if !r.ended || !isTimeLine(text) && !isUserLine(text) {
		return false
	}
	return r.event.Truncated || r.openQuote() == 0 || r.wholeHead(text)
}

// openQuote returns the quote that the statement has left open so far. It reads
// on from where it was last asked.
func (r *Reader) openQuote() byte {
	r.quotes.Write(r.event.Statement[r.lexed:])
	r.lexed = len(r.event.Statement)
	return r.quotes.Open()
}

// wholeHead reports whether the line starts the head of an entry that is whole
// and was written at about the time of this one.
func (r *Reader) wholeHead(text []byte) bool {
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

func (r *Reader) isPlausible(timestamp int64) bool {
	if r.event.timestamp == 0 || timestamp == 0 {
		return true
	}
	d := time.Duration(timestamp-r.event.timestamp) * time.Second
	return -plausible <= d && d <= plausible
}

// headLine takes a line of the head, or the first of the statement.
func (r *Reader) headLine(text []byte) {
	e := &r.event
	switch {
	case len(text) == 0:
	case hasPrefix(text, "# administrator command: "):
		r.afterHead = true
		r.text(text)
	case text[0] == '#':
		r.seenUser = r.seenUser || bytes.Contains(text, []byte("# User@Host: "))
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
func (r *Reader) text(text []byte) {
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
func (r *Reader) finish() {
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
