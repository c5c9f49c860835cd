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
		case !c.draft.in:
			c.between()
			continue
		case !c.draft.afterHead && c.skipHead():
			continue
		}
		begins, known := c.startsNext(c.text(c.next))
		switch {
		case !known:
			return
		case begins:
			c.close()
		case c.draft.afterHead:
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
	c.banners.see(text)
}

// useAhead takes the whole head that was found before the entry began.
func (c *cutter) useAhead() bool {
	a := &c.ahead
	if !a.known || !a.whole || !a.simple || a.line != c.next {
		return false
	}
	e := &c.draft
	e.headEnd, e.timestamp = a.headEnd, a.timestamp
	if a.use > 0 {
		e.use, e.useEnd = c.useRange(a.use)
	}
	e.ended = true
	e.lines = uint64(a.text - c.next)
	c.next = a.text
	c.draft.beginText(c.lineStart(c.next))
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
	c.draft.seenQuery = c.draft.seenQuery || hasQueryTime(b[at:end])
	c.keepHead(end)
	return true
}

// keepHead takes the line that is looked at, which ends there, as one of the
// head.
func (c *cutter) keepHead(end int32) {
	if c.draft.headFull = c.draft.headFull || end+1-c.draft.head > maxHead; !c.draft.headFull {
		c.draft.headEnd = end + 1
	}
	c.draft.lines++
	c.next++
}

// takeHead takes a line of the head, or the first of the statement.
func (c *cutter) takeHead() {
	e := &c.draft
	text := c.text(c.next)
	switch {
	case len(text) == 0:
		e.lines++
		c.next++
		return
	case hasPrefix(text, "# administrator command: "):
	case text[0] == '#':
		c.draft.seenUser = c.draft.seenUser || holdsUser(text)
		c.draft.seenQuery = c.draft.seenQuery || hasQueryTime(text)
		c.keepHead(c.ends[c.next])
		return
	default:
		if timestamp, ok := setLine(text); ok {
			e.timestamp, e.ended = timestamp, true
			e.lines++
			c.next++
			c.draft.beginText(c.ends[c.next-1] + 1)
			return
		}
		if _, ok := useLine(text); ok && e.use == e.useEnd && !c.draft.headFull {
			e.use, e.useEnd = c.useRange(c.next)
			e.lines++
			c.next++
			return
		}
	}
	c.draft.beginText(c.lineStart(c.next))
	c.takeText(e.text)
}

// holdsUser reports whether a line of a head names the user: one of its own, or
// a "# Time:" line.
func holdsUser(line []byte) bool {
	return hasPrefix(line, "# User@Host: ") || hasPrefix(line, "# Time: ") &&
		bytes.Contains(line, []byte("# User@Host: "))
}

// hasQueryTime reports whether a line of a head has a Query_time.
func hasQueryTime(line []byte) bool {
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

// startsNext reports whether the line is the first after the entry. It is not
// known when that takes lines that are not there yet.
func (c *cutter) startsNext(text []byte) (begins, known bool) {
	switch {
	case len(text) == 0:
		return false, true
	case !c.draft.afterHead:
		return isTimeLine(text) || c.draft.seenUser && c.draft.seenQuery && isUserLine(text) || isBanner(text), true
	case text[0] != '#':
		return c.draft.ended && isBanner(text) || isVersion(text) && c.draft.openQuote(c.b.buf) == 0, true
	case !c.draft.ended:
		return false, true
	case !isTimeLine(text) && !c.repeats.isUser(text):
		if !c.draft.hasText || c.draft.openQuote(c.b.buf) != 0 {
			return false, true
		}
		return c.headFollows()
	case c.draft.truncated:
		return true, true
	}
	// A whole head is what follows nearly always, and it is read in any case.
	whole, known := c.wholeHead()
	switch {
	case !known:
		return false, false
	case whole && c.draft.isPlausible(c.ahead.timestamp):
		return true, true
	}
	return c.draft.openQuote(c.b.buf) == 0, true
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
			timestamp, ok := c.repeats.setLine(c.text(i))
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
			a.user = a.user || i == a.line || c.repeats.isUser(c.text(i)) // the first line was looked at
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

// useLine notes the use line i. Only one is a part of the head.
func (a *ahead) useLine(c *cutter, i int) {
	_, ok := useLine(c.text(i))
	if !ok || a.use > 0 {
		a.simple = false
		return
	}
	a.use = i
}
