package slowlog

import (
	"bytes"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// A parser turns the entries of a batch into events. It is not safe for
// concurrent use; several parsers may work on batches of one log.
//
// The heads of a log repeat: the same lines in the same order, with the same
// names in the same places. So a parser learns what a line looks like from the
// first one and then compares instead of searching; see [layout].
type parser struct {
	zone   *time.Location
	wanted *names // attributes whose values are kept; nil: none

	layouts []*layout
	last    *layout // of the line before

	user struct { // of the last User@Host line that was read
		line       []byte // up to the closing bracket
		user, host [2]int
	}
	clock, start clock // of # Time and of Start

	b *batch // that is worked on
}

// parse makes the events of a batch, but for those that it has.
func (p *parser) parse(b *batch) {
	p.b = b
	for i := len(b.events); i < len(b.entries); i++ {
		b.events = append(b.events, Event{})
		p.event(&b.events[len(b.events)-1], &b.entries[i])
	}
	p.b = nil
}

// event reads one entry.
func (p *parser) event(e *Event, en *entry) {
	b := p.b
	e.Input, e.Line, e.Offset, e.lines = b.input, en.line, en.offset, en.lines
	text := b.buf[en.text:en.textEnd]
	if en.junk {
		e.junk, e.Statement = true, text
		return
	}
	e.timestamp = en.timestamp
	e.head = b.buf[en.head:en.headEnd]
	e.use = b.buf[en.use:en.useEnd]
	first := len(b.values)
	switch b.kind {
	case General:
		p.generalHead(e)
	case Raw:
	default:
		p.head(e)
	}
	p.statement(e, en, text)
	if p.wanted != nil {
		e.values = b.values[first:len(b.values):len(b.values)]
	}
	if len(e.Schema) == 0 && len(e.use) > 0 {
		e.Schema, e.hasSchema = e.use, true
	}
	if b.kind == Slow || b.kind == Auto {
		if !e.hasQueryTime && e.bad == "" {
			e.bad = "no Query_time"
		}
	}
	e.place()
}

// statement sets the statement.
func (p *parser) statement(e *Event, en *entry, text []byte) {
	if p.b.cr && bytes.Contains(text, []byte("\r\n")) {
		from := len(p.b.extra)
		p.b.extra = append(p.b.extra, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))...)
		text = p.b.extra[from:len(p.b.extra):len(p.b.extra)]
	}
	if len(text) > 2 && text[0] == '#' && hasPrefix(text, "# administrator command: ") {
		e.Admin = true
		text = text[2:]
	}
	if en.ended && !en.truncated {
		s := text
		for len(s) > 0 && (isBlank(s[len(s)-1]) || s[len(s)-1] == '\n' || s[len(s)-1] == '\r') {
			s = s[:len(s)-1]
		}
		if len(s) > 0 && s[len(s)-1] == ';' {
			text = s[:len(s)-1]
		}
	}
	e.Statement = text
	if e.Truncated = en.truncated; e.Truncated {
		e.Statement = trimClosed(text)
	}
	if !en.hasText && len(e.use) > 0 && e.timestamp == 0 { // the statement itself
		e.Statement = append([]byte("use "), e.use...)
	}
	if e.command != "" {
		p.generalStatement(e)
	}
}

// trimClosed returns a statement whose end was cut off, with the quote or comment closed
// that the cut left open.
func trimClosed(text []byte) []byte {
	switch q := sqlshape.Unclosed(text); q {
	case 0:
		return text
	case '*':
		return append(bytes.Clone(text), "*/"...)
	default:
		return append(bytes.Clone(text), q)
	}
}

// head reads the lines that start with #.
func (p *parser) head(e *Event) {
	b := e.head
	for i := 0; i < len(b); {
		if b[i] != '#' || i+3 >= len(b) {
			i = p.otherLine(e, i)
			continue
		}
		switch b[i+2] {
		case 'U':
			i = p.userLine(e, i)
			continue
		case 'T':
			if hasPrefix(b[i:], "# Time:") {
				i = p.timeLine(e, i)
				continue
			}
		case 'e', 'a':
			if line := b[i:]; hasPrefix(line, "# explain:") || hasPrefix(line, "# administrator command:") {
				i = p.otherLine(e, i)
				continue
			}
		}
		i = p.plainLine(e, i)
	}
}

// lineEnd returns where the line at i ends, without its CR, and where the next
// one begins.
func lineEnd(b []byte, i int) (end, next int) {
	n := bytes.IndexByte(b[i:], '\n')
	if n < 0 {
		return len(b), len(b)
	}
	end, next = i+n, i+n+1
	if end > i && b[end-1] == '\r' {
		end--
	}
	return end, next
}

// otherLine takes a line without attributes.
func (p *parser) otherLine(e *Event, i int) int {
	_, next := lineEnd(e.head, i)
	if hasPrefix(e.head[i:], "# explain:") {
		from := i
		if len(e.explain) > 0 { // they follow one another
			from = i - len(e.explain)
		}
		if from >= 0 && (len(e.explain) == 0 || &e.head[from] == &e.explain[0]) {
			e.explain = e.head[from:next]
		}
	}
	return next
}

// userLine reads "# User@Host: user[user] @ host [address]  Id:    12".
func (p *parser) userLine(e *Event, i int) int {
	b := e.head
	u := &p.user
	if n := len(u.line); n > 0 && len(b)-i > n && string(b[i:i+n]) == string(u.line) {
		e.User, e.Host = b[i+u.user[0]:i+u.user[1]], b[i+u.host[0]:i+u.host[1]]
		return p.userID(e, i+n)
	}
	end, next := lineEnd(b, i)
	line := b[i:end]
	u.line = u.line[:0]
	at := len("# User@Host: ")
	if !hasPrefix(line, "# User@Host: ") {
		return p.plainOrNext(e, i, next)
	}
	bracket := bytes.IndexByte(line[at:], '[')
	host := bytes.Index(line[at:], []byte("@ "))
	if bracket < 0 || host < 0 {
		return next
	}
	if bracket == 0 { // [SQL_SLAVE]
		bracket = bytes.IndexByte(line[at:], ']') + 1
	}
	e.User = line[at : at+bracket]
	user := [2]int{at, at + bracket}
	at += host + 2
	open := bytes.IndexByte(line[at:], '[')
	if open < 0 {
		return next
	}
	name := bytes.TrimRight(line[at:at+open], " ")
	from := at
	shut := bytes.IndexByte(line[at+open:], ']')
	if shut < 0 {
		return next
	}
	if len(name) == 0 { // with skip_name_resolve there is only the address
		from, name = at+open+1, line[at+open+1:at+open+shut]
	}
	e.Host = name
	u.user, u.host = user, [2]int{from, from + len(name)}
	u.line = append(u.line, line[:at+open+shut+1]...)
	return p.userID(e, i+at+open+shut+1)
}

// plainOrNext reads a line that starts with # U… but is not of the user.
func (p *parser) plainOrNext(e *Event, i, next int) int {
	if isPlain(e.head[i:next]) {
		return p.plainLine(e, i)
	}
	return next
}

// userID reads what follows the user and host: "  Id:    12" or nothing.
func (p *parser) userID(e *Event, i int) int {
	b := e.head
	if i < len(b) && b[i] == '\n' {
		return i + 1
	}
	end, next := lineEnd(b, i)
	rest := b[i:end]
	if hasPrefix(rest, "  Id:") {
		id := bytes.TrimLeft(rest[len("  Id:"):], " ")
		if n, ok := parseNumber(id); ok {
			e.ThreadID = n
			return next
		}
	}
	eachAttribute(b[i-1:end], func(name, value []byte) bool {
		if string(name) == "Id" {
			e.ThreadID, _ = parseNumber(value)
		}
		return true
	})
	return next
}

// timeLine reads "# Time: …", after which old servers may name the user.
func (p *parser) timeLine(e *Event, i int) int {
	end, next := lineEnd(e.head, i)
	line := e.head[i:end]
	const at = len("# Time: ")
	if !hasPrefix(line, "# Time: ") {
		return next
	}
	p.clock.read(e, line[at:], p.zone)
	if at := bytes.Index(line, []byte("# User@Host: ")); at > 0 {
		p.userLine(e, i+at)
	}
	return next
}

// A clock reads times, most of which are in the second of the one before.
type clock struct {
	day    string // that was read last, up to the second: 2026-11-20T11:13:58
	second int64  // what it is in UTC
}

const isoSecond = len("2026-11-20T11:13:58")

// read sets the time that a "# Time:" line gives.
func (c *clock) read(e *Event, b []byte, zone *time.Location) {
	if t, ok := c.utc(b); ok {
		e.logged, e.Logged = t, t
		return
	}
	if t, ok := isoTime(b); ok {
		e.logged, e.Logged = t, digitsOf(t)
		return
	}
	e.logged = time.Time{}
	if t, ok := shortTime(b, nil); ok {
		e.Logged = t
		if e.timestamp == 0 { // nothing else says when
			e.Start, _ = shortTime(b, zone)
			e.hasTime = true
		}
	}
}

// utc parses 2026-11-20T11:13:58.494363Z.
func (c *clock) utc(b []byte) (time.Time, bool) {
	if len(b) != isoSecond+8 || b[isoSecond] != '.' || b[len(b)-1] != 'Z' {
		return time.Time{}, false
	}
	micro, ok := parseNumber(b[isoSecond+1 : len(b)-1])
	if !ok {
		return time.Time{}, false
	}
	if string(b[:isoSecond]) != c.day {
		t, err := time.Parse("2006-01-02T15:04:05", string(b[:isoSecond]))
		if err != nil {
			return time.Time{}, false
		}
		c.day, c.second = string(b[:isoSecond]), t.Unix()
	}
	return time.Unix(c.second, int64(micro)*1000).UTC(), true
}

// generalHead reads the head of a line of the general log.
func (p *parser) generalHead(e *Event) {
	h, ok := parseGeneral(e.head)
	if !ok {
		e.bad = "bad head of a line of the general log"
		return
	}
	e.ThreadID, e.command = h.id, h.command
	if len(h.time) == 0 {
		return
	}
	if t, ok := generalTime(h.time, p.zone); ok {
		e.Start, e.hasTime = t, true
		e.Logged = digitsOf(t)
	}
}
