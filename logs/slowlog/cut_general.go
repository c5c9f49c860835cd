package slowlog

import (
	"bytes"
	"time"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// generalState is what a cutter knows of the general log so far.
type generalState struct {
	last time.Time           // that a line gave
	ids  map[uint64]struct{} // connections seen, up to a bound
}

// maxKnown bounds the connections that a cutter remembers of a general log.
const maxKnown = 1 << 16

// A generalHead is what comes before the argument of a line of the general log.
// Servers separate its parts with tabs or with blanks:
//
//	2026-11-20T11:13:58.494363Z	    8 Query	SELECT 1
//	261120  9:35:53	     8 Query	SELECT 1
//			     8 Query	SELECT 1
//	261120  9:35:53       8 Query       SELECT 1
type generalHead struct {
	time    []byte // empty: that of the line before
	id      uint64
	command string
	text    int // where the argument begins
}

// parseGeneral reads the head of a line; ok is false when it has none.
func parseGeneral(line []byte) (h generalHead, ok bool) {
	i := generalTimeEnd(line)
	h.time = line[:i]
	from := i
	for i < len(line) && isBlank(line[i]) {
		i++
	}
	if i == from || i-from < 2 && len(h.time) == 0 { // one blank is how statements are indented
		return h, false
	}
	from = i
	for i < len(line) && line[i]-'0' <= 9 {
		i++
	}
	if h.id, ok = parseNumber(line[from:i]); !ok || i >= len(line) || line[i] != ' ' {
		return h, false
	}
	i++
	if h.command = commandOf(line[i:]); h.command == "" {
		return h, false
	}
	i += len(h.command)
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if i < len(line) && line[i] == '\t' {
		i++
	}
	h.text = i
	return h, true
}

// generalTimeEnd returns where the time at the start of a line ends: ISO, or
// 261120  9:35:53. It is 0 when there is none.
func generalTimeEnd(b []byte) int {
	if len(b) >= 20 && b[4] == '-' && b[10] == 'T' && b[13] == ':' && b[16] == ':' {
		end := bytes.IndexAny(b, "\t ")
		return max(end, 0)
	}
	if len(b) < 15 || b[0]-'0' > 9 || b[5]-'0' > 9 || !isBlank(b[6]) {
		return 0
	}
	i := 6
	for i < len(b) && b[i] == ' ' {
		i++
	}
	colon := bytes.IndexByte(b[i:min(i+3, len(b))], ':')
	if end := i + colon + 6; colon > 0 && end <= len(b) && b[end-3] == ':' {
		return end
	}
	return 0
}

// commandOf returns the command of a server's general log that the text starts
// with.
func commandOf(b []byte) string {
	for _, c := range [...]string{
		"Query", "Execute", "Prepare", "Close stmt", "Connect Out", "Connect", "Quit", "Init DB", "Reset stmt", "Fetch",
		"Field List", "Create DB", "Drop DB", "Refresh", "Shutdown", "Statistics", "Processlist", "Kill", "Debug",
		"Ping",
		"Time", "Delayed insert", "Change user", "Binlog Dump GTID", "Binlog Dump", "Table Dump", "Sleep",
		"Register Slave",
		"Register Replica", "Long Data", "Set option", "Daemon", "Reset Connection", "Reset connection",
		"Bulk_execute", "Error",
	} {
		if hasPrefix(b, c) && (len(b) == len(c) || isBlank(b[len(c)]) || b[len(c)] == '\r') {
			return c
		}
	}
	return ""
}

// runGeneral goes over the lines of a general log.
func (c *cutter) runGeneral() {
	for c.next < len(c.ends) {
		text := c.text(c.next)
		h, ok := parseGeneral(text)
		switch {
		case ok && (!c.draft.in || c.generalStarts(h)):
			c.beginGeneral(h)
		case c.draft.in && !(isBanner(text) && c.draft.openQuote(c.b.buf) == 0):
			c.takeText(c.lineStart(c.next))
		case isBanner(text):
			if c.draft.in {
				c.close()
			}
			c.banner(text)
		case len(bytes.TrimSpace(text)) == 0:
			c.account.Blank++
			c.next++
		default:
			c.junk()
		}
	}
}

// generalStarts reports whether a line that looks like a head is one, and no part
// of a statement. Inside of an open quote it is when its time fits, or, where it
// has none, when the connection is known.
func (c *cutter) generalStarts(h generalHead) bool {
	if c.draft.truncated || c.draft.openQuote(c.b.buf) == 0 {
		return true
	}
	if len(h.time) == 0 {
		_, known := c.general.ids[h.id]
		return known
	}
	at, ok := generalTime(h.time, nil)
	if !ok {
		return false
	}
	d := at.Sub(c.general.last)
	return c.general.last.IsZero() || -plausible <= d && d <= plausible
}

func (c *cutter) beginGeneral(h generalHead) {
	if c.draft.in {
		c.close()
	}
	c.begin()
	c.draft.seenUser = true
	if at, ok := generalTime(h.time, nil); ok {
		c.general.last = at
	}
	if c.general.ids == nil {
		c.general.ids = map[uint64]struct{}{}
	}
	if len(c.general.ids) < maxKnown {
		c.general.ids[h.id] = struct{}{}
	}
	from := c.lineStart(c.next) + int32(h.text)
	c.draft.headEnd = from
	c.draft.beginText(from)
	c.takeText(from)
}

// generalTime parses the time of a line of the general log. The old form has no
// zone.
func generalTime(b []byte, zone *time.Location) (time.Time, bool) {
	if len(b) >= 20 {
		return isoTime(b)
	}
	if len(b) < 15 {
		return time.Time{}, false
	}
	var short [15]byte // with the hour in two places, however many blanks there are
	copy(short[:], b[:6])
	short[6], short[7] = ' ', ' '
	rest := bytes.TrimLeft(b[6:], " ")
	copy(short[15-min(len(rest), 8):], rest)
	return shortTime(short[:], zone)
}

// runRaw goes over lines that are statements.
func (c *cutter) runRaw() {
	for c.next < len(c.ends) {
		text := c.text(c.next)
		if !c.draft.in {
			if len(bytes.TrimSpace(text)) == 0 {
				c.account.Blank++
				c.next++
				continue
			}
			c.begin()
			c.draft.beginText(c.lineStart(c.next))
		}
		c.takeText(c.lineStart(c.next))
		if c.plain || c.draft.ended && (c.draft.truncated || c.draft.openQuote(c.b.buf) == 0) {
			c.close()
		}
	}
}

// sampleLines is how many lines decide what a log is.
const sampleLines = 200

// kindOf finds out what a log is by its first bytes; it is [Auto] when they do
// not show it. Plain means that raw statements have a line each.
func kindOf(b []byte) (k Kind, plain bool) {
	statements, others, ended := 0, 0, false
	binary := bytes.IndexByte(b, 0) >= 0 // a program may have a line with a verb too
	for n := 0; n < sampleLines && len(b) > 0; n++ {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		line = bytes.TrimRight(line, "\r")
		if isTimeLine(line) || isUserLine(line) || hasPrefix(line, "# Query_time: ") {
			return Slow, false
		}
		if _, ok := parseGeneral(line); ok {
			return General, false
		}
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case isVerb(sqlshape.Verb(line)):
			statements++
			ended = ended || endsStatement(line)
		case isBanner(line):
			others = -sampleLines
		default:
			others++
			ended = ended || endsStatement(line)
		}
	}
	switch {
	case others < 0 || statements == 0 && others == 0:
		return Auto, false
	case statements > 0 && (ended || statements >= others) && !binary:
		return Raw, !ended
	}
	return Slow, false
}

// endsStatement reports whether a line ends with a semicolon.
func endsStatement(line []byte) bool {
	last, _ := lastNotBlank(line)
	return last == ';'
}

// isVerb reports whether statements start with that word.
func isVerb(word string) bool {
	switch word {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "CALL", "BEGIN", "COMMIT", "ROLLBACK", "START", "SET",
		"SHOW", "USE", "CREATE", "DROP", "ALTER", "TRUNCATE", "LOCK", "UNLOCK", "LOAD", "DO", "DESCRIBE", "DESC",
		"EXPLAIN", "ANALYZE", "OPTIMIZE", "GRANT", "PREPARE", "EXECUTE", "SAVEPOINT", "RELEASE", "XA", "KILL", "ADMIN":
		return true
	}
	return false
}
