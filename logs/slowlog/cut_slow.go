package slowlog

import (
	"bytes"
	"time"
)

// maxAhead is how many lines are read ahead to see whether a whole head follows
// inside of what looks like a literal. The longest head, that of MariaDB with
// all verbosity and an EXPLAIN of several rows, fits.
const maxAhead = 40

// maxSetLine bounds the SET line that is remembered, in bytes.
const maxSetLine = 64

// plausible is how far the time of an entry may lie from that of the entry
// before, when a head follows an open quote. Entries are written when they end,
// so a long statement comes after shorter ones that started later.
const plausible = time.Hour

// An ahead is what was found out about the head that begins with a line, before
// its entry begins.
type ahead struct {
	known     bool
	line      int // index of its first line
	whole     bool
	simple    bool // it has one line of each kind, so that the entry cannot begin later
	timestamp int64
	text      int   // index of the first line after it
	headEnd   int32 // where its lines with # end
	user      bool  // a line names the user
	users     int   // how many lines do
	query     bool  // a line begins with the Query_time
	use       int   // index of the use line, 0 for none: no head begins with it
}

// runSlow goes over the lines of a slow log.
func (c *cutter) runSlow() {
	for c.next < len(c.ends) {
		switch {
		case !c.in:
			c.between()
			continue
		case !c.afterHead && c.skipHead():
			continue
		}
		begins, known := c.startsNext(c.text(c.next))
		switch {
		case !known:
			return
		case begins:
			c.close()
		case c.afterHead:
			c.takeText(c.lineStart(c.next))
		default:
			c.takeHead()
		}
	}
}

// between takes a line outside of an entry, or begins the entry that starts with
// it.
func (c *cutter) between() {
	if at := c.lineStart(c.next); c.b.buf[at] == '#' {
		c.begin()
		if !c.useAhead() {
			c.takeHead()
		}
		return
	}
	text := c.text(c.next)
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		c.account.Blank++
		c.next++
	case isBanner(text):
		c.banner(text)
	default:
		c.junk()
	}
}

// banner takes a line that the server wrote when it opened the log.
func (c *cutter) banner(text []byte) {
	c.account.Continued++
	c.next++
	if isVersion(text) {
		c.mariadb = bytes.Contains(text, []byte("MariaDB")) || bytes.Contains(text, []byte("mariadbd"))
		c.mysql = !c.mariadb
	}
}

// useAhead takes the whole head that was found before the entry began.
func (c *cutter) useAhead() bool {
	a := &c.ahead
	if !a.known || !a.whole || !a.simple || a.line != c.next {
		return false
	}
	e := &c.e
	e.headEnd, e.timestamp = a.headEnd, a.timestamp
	if a.use > 0 {
		e.use, e.useEnd = c.useRange(a.use)
	}
	e.ended = true
	e.lines = uint64(a.text - c.next)
	c.next = a.text
	c.beginText(c.lineStart(c.next))
	return true
}

// skipHead takes a line of the head that can neither begin the next entry nor be
// the last of this head.
func (c *cutter) skipHead() bool {
	at, end := c.lineStart(c.next), c.ends[c.next]
	b := c.b.buf
	if end-at < 4 || b[at] != '#' || b[at+2] == 'U' || b[at+2] == 'a' || b[at+2] == 'T' && b[at+3] == 'i' {
		return false
	}
	c.seenQuery = c.seenQuery || tellsQuery(b[at:end])
	c.keepHead(end)
	return true
}

// keepHead takes the line that is looked at, which ends there, as one of the
// head.
func (c *cutter) keepHead(end int32) {
	if c.headFull = c.headFull || end+1-c.e.head > maxHead; !c.headFull {
		c.e.headEnd = end + 1
	}
	c.e.lines++
	c.next++
}

// takeHead takes a line of the head, or the first of the statement.
func (c *cutter) takeHead() {
	e := &c.e
	text := c.text(c.next)
	switch {
	case len(text) == 0:
		e.lines++
		c.next++
		return
	case hasPrefix(text, "# administrator command: "):
	case text[0] == '#':
		c.seenUser = c.seenUser || holdsUser(text)
		c.seenQuery = c.seenQuery || tellsQuery(text)
		c.keepHead(c.ends[c.next])
		return
	default:
		if timestamp, ok := setLine(text); ok {
			e.timestamp, e.ended = timestamp, true
			e.lines++
			c.next++
			c.beginText(c.ends[c.next-1] + 1)
			return
		}
		if _, ok := useLine(text); ok && e.use == e.useEnd && !c.headFull {
			e.use, e.useEnd = c.useRange(c.next)
			e.lines++
			c.next++
			return
		}
	}
	c.beginText(c.lineStart(c.next))
	c.takeText(e.text)
}

// holdsUser reports whether a line of a head names the user: one of its own, or
// a "# Time:" line.
func holdsUser(line []byte) bool {
	return hasPrefix(line, "# User@Host: ") || hasPrefix(line, "# Time: ") &&
		bytes.Contains(line, []byte("# User@Host: "))
}

// tellsQuery reports whether a line of a head has a Query_time.
func tellsQuery(line []byte) bool {
	if hasPrefix(line, "# Query_time: ") {
		return true
	}
	i := bytes.Index(line, []byte("Query_time: "))
	if i < 0 {
		return false
	}
	value := bytes.TrimLeft(line[i+len("Query_time: "):], " ")
	return len(value) > 0 && value[0]-'0' <= 9
}

// useRange returns where the database lies in the use line i.
func (c *cutter) useRange(i int) (from, to int32) {
	db, _ := useLine(c.text(i))
	from = c.lineStart(i) + int32(len("use "))
	if c.b.buf[from] == '`' && int(from)+len(db)+2 <= int(c.ends[i]) && c.b.buf[int(from)+len(db)+1] == '`' &&
		db[0] != '`' {
		from++
	}
	return from, from + int32(len(db))
}

// startsNext reports whether the line is the first after the entry. It is not
// known when that takes lines that are not there yet.
func (c *cutter) startsNext(text []byte) (begins, known bool) {
	switch {
	case len(text) == 0:
		return false, true
	case !c.afterHead:
		return isTimeLine(text) || c.seenUser && c.seenQuery && isUserLine(text) || isBanner(text), true
	case text[0] != '#':
		return c.e.ended && isBanner(text) || isVersion(text) && c.openQuote() == 0, true
	case !c.e.ended:
		return false, true
	case !isTimeLine(text) && !c.isUser(text):
		if !c.e.hasText || c.openQuote() != 0 {
			return false, true
		}
		return c.headFollows()
	case c.e.truncated:
		return true, true
	}
	// A whole head is what follows nearly always, and it is read in any case.
	whole, known := c.wholeHead()
	switch {
	case !known:
		return false, false
	case whole && c.isPlausible(c.ahead.timestamp):
		return true, true
	}
	return c.openQuote() == 0, true
}

// headFollows reports whether the lines with # from the one on that is looked at
// hold a Query_time: the head of a server that writes neither time nor user first.
func (c *cutter) headFollows() (follows, known bool) {
	for i := c.next; i <= c.next+maxAhead; i++ {
		if i >= len(c.ends) {
			return false, c.final
		}
		line := c.text(i)
		if len(line) == 0 || line[0] != '#' || len(line) > maxHead/16 {
			return false, true
		}
		if tellsQuery(line) {
			return true, true
		}
	}
	return false, true
}

func (c *cutter) isPlausible(timestamp int64) bool {
	if c.e.timestamp == 0 || timestamp == 0 {
		return true
	}
	d := time.Duration(timestamp-c.e.timestamp) * time.Second
	return -plausible <= d && d <= plausible
}

// wholeHead reports whether the line that is looked at starts the head of an
// entry that is whole: with a user, a Query_time and a SET timestamp or an
// administrator command. What it found out is in ahead.
func (c *cutter) wholeHead() (whole, known bool) {
	c.ahead = ahead{line: c.next, simple: true}
	a, buf, ends, start := &c.ahead, c.b.buf, c.ends, c.lineStart(c.next)
	for i := c.next; i <= c.next+maxAhead; i++ {
		if i >= len(ends) {
			a.known = c.final
			return false, c.final
		}
		line := buf[start:ends[i]]
		start = ends[i] + 1
		switch {
		case len(line) > 0 && line[0] == '#':
			if len(line) > maxHead/16 && i > c.next {
				a.known = true
				return false, true
			}
			if len(line) > len("# Query_time:") && headMarks[line[2]] && a.headLine(c, i, line) {
				return a.whole, true
			}
			a.headEnd = start
		case len(line) == 0 || line[0] == '\r' && len(line) == 1:
			a.known = true
			return false, true
		case hasPrefix(line, "use "):
			a.useLine(c, i)
		default:
			timestamp, ok := c.setLine(c.text(i))
			a.timestamp, a.text = timestamp, i+1
			a.simple = a.simple && a.users == 1
			a.end(c, ok, i)
			return a.whole, true
		}
	}
	a.known = true
	return false, true
}

// headMarks are the third bytes of the lines that headLine looks at.
var headMarks = [256]bool{'Q': true, 'T': true, 'U': true, 'a': true}

// setLine is [setLine], which is quick for the line that it saw last: that of the
// same second.
func (c *cutter) setLine(line []byte) (timestamp int64, ok bool) {
	if len(c.set) > 0 && string(line) == string(c.set) {
		return c.setTime, true
	}
	if timestamp, ok = setLine(line); ok && len(line) <= maxSetLine {
		c.set, c.setTime = append(c.set[:0], line...), timestamp
	}
	return timestamp, ok
}

// headLine looks at the line i of a head. It reports whether it is the last.
func (a *ahead) headLine(c *cutter, i int, line []byte) (last bool) {
	switch line[2] {
	case 'Q':
		a.query = a.query || hasPrefix(line, "# Query_time: ")
	case 'T':
		if hasPrefix(line, "# Time: ") {
			a.simple = a.simple && i == a.line && !holdsUser(line)
		}
	case 'U':
		if hasPrefix(line, "# User@Host: ") {
			a.users++
			a.user = a.user || i == a.line || c.isUser(c.text(i)) // the first line was looked at
		}
	case 'a':
		if hasPrefix(line, "# administrator command: ") {
			a.simple = false
			a.end(c, true, i)
			return true
		}
	}
	return false
}

// end notes that the head ends before the line i, with what belongs there or not.
func (a *ahead) end(c *cutter, ok bool, i int) {
	a.known = true
	a.whole = ok && a.user && c.knowsQuery(a.query, a.line+1, i)
}

// isUser is [isUserLine], which is quick for a user and host that it saw last.
func (c *cutter) isUser(line []byte) bool {
	if n := len(c.user); n > 0 && len(line) >= n && string(line[:n]) == string(c.user) {
		return true
	}
	if !isUserLine(line) {
		return false
	}
	at := bytes.Index(line, []byte("] @ "))
	at += bytes.IndexByte(line[at:], '[')
	c.user = append(c.user[:0], line[:at+bytes.IndexByte(line[at:], ']')+1]...)
	return true
}

// useLine notes the use line i. Only one is a part of the head.
func (a *ahead) useLine(c *cutter, i int) {
	_, ok := useLine(c.text(i))
	if !ok || a.use > 0 {
		a.simple = false
		return
	}
	a.use = i
}

// knowsQuery reports whether one of the head's lines from one index to another
// holds a Query_time.
func (c *cutter) knowsQuery(known bool, from, to int) bool {
	for i := from; i < to && !known; i++ {
		line := c.text(i)
		known = len(line) > 0 && line[0] == '#' && bytes.Contains(line, []byte("Query_time: "))
	}
	return known
}
