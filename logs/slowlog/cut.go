package slowlog

import (
	"bytes"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// maxStatement bounds the text of a statement over several lines, in bytes. It
// is what a line is bounded to.
const maxStatement = lines.DefaultMaxLine

// maxHead bounds what is kept of the head of an entry, in bytes, and the length
// of a line of a head that is read ahead.
const maxHead = 64 << 10

// An entry says where an entry of a log lies in its batch.
type entry struct {
	head, headEnd int32 // the lines that start with #
	use, useEnd   int32 // the database of the use line
	text, textEnd int32 // the statement; the newline of its last line is not in it
	timestamp     int64 // of SET timestamp, seconds; 0 without one

	line   int64 // number of the first line, from 1
	offset int64 // of that line in the log, bytes
	lines  uint64

	junk      bool // not an entry but a line outside of one, which is the text
	hasText   bool
	ended     bool // the last line of the text that is not blank ends with a semicolon
	truncated bool // the text was longer than the bound
}

// A batch is a stretch of a log with whole entries on its way from the cutter,
// which finds them, through a parser to a table.
type batch struct {
	input   int
	kind    Kind
	buf     []byte // whole lines, each with its newline
	cr      bool   // some lines may end with CR LF
	entries []entry

	events []Event // one per entry, made by a parser
	values []value // of the events' attributes
	extra  []byte  // statements that are not in buf as they are
	names  []byte  // of shapes, and tags

	parsed chan struct{} // gets a value once the events are there
}

func (b *batch) reset() {
	*b = batch{
		buf: b.buf[:0], entries: b.entries[:0], events: b.events[:0],
		values: b.values[:0], extra: b.extra[:0], names: b.names[:0], parsed: b.parsed,
	}
}

// A cutter finds the entries of a log. It is fed whole lines and says which of
// them make an entry; what follows the last provable end waits for more lines.
//
// Everything that is read ahead or kept is bounded, whatever the log holds.
type cutter struct {
	kind           Kind
	account        logs.Account // Lines, Blank, Cut, and under Continued the server's own lines
	mariadb, mysql bool         // what a banner says

	b       *batch
	offset  int64    // in the log of what is fed next
	anchors []anchor // where the bytes of the buffer lie in the log
	spare   []anchor // for those of the next batch
	ends    []int32  // where the lines from start on end
	start   int32    // where the first of them begins
	cuts    []int32  // where lines end that were longer than the bound
	number  int64    // of that line, from 1
	next    int      // the line that is looked at, an index of ends
	final   bool     // no more lines follow

	// The entry that the lines before next belong to.
	in        bool
	e         entry
	seenUser  bool
	seenQuery bool
	headFull  bool // the head is longer than what is kept of it
	afterHead bool // what follows is the statement
	quotes    sqlshape.Quotes
	lexed     int32 // where the bytes of the statement end that quotes has seen
	ahead     ahead
	user      []byte // the last line that named a user
	set       []byte // the last line that set the time
	setTime   int64  // what it set
	plain     bool   // of raw statements: one per line
	general   generalState
}

// An anchor is a place of the buffer whose offset in the log is known. Bytes up
// to the next anchor follow one another in the log as in the buffer.
type anchor struct {
	at     int32
	offset int64
}

// newCutter returns a cutter that fills the batch.
func newCutter(kind Kind, b *batch) *cutter {
	return &cutter{kind: kind, b: b, number: 1}
}

// feed adds whole lines and finds the entries that end in them. Cut says how many
// bytes of the log follow the lines that were left out, of one line that is too
// long.
func (c *cutter) feed(data []byte, offset, cut int64) {
	c.anchor(offset)
	b := c.b
	from := len(b.buf)
	b.buf = append(b.buf, data...)
	if n := len(b.buf); n > from && b.buf[n-1] != '\n' {
		b.buf = append(b.buf, '\n')
	}
	ends, buf := c.ends, b.buf
	for p := from; p < len(buf); p++ {
		p += bytes.IndexByte(buf[p:], '\n')
		ends = append(ends, int32(p))
	}
	c.account.Lines += uint64(len(ends) - len(c.ends))
	c.ends = ends
	c.offset = offset + int64(len(data)) + cut
	if cut > 0 {
		c.account.Cut++
		c.cuts = append(c.cuts, int32(len(b.buf)-1))
	}
	if c.kind == Auto {
		c.kind, c.plain = kindOf(b.buf)
	}
	c.run()
}

// anchor remembers where in the log the next byte of the buffer lies.
func (c *cutter) anchor(offset int64) {
	at := int32(len(c.b.buf))
	if n := len(c.anchors); n > 0 {
		if last := c.anchors[n-1]; last.offset+int64(at-last.at) == offset {
			return
		}
	}
	c.anchors = append(c.anchors, anchor{at, offset})
}

func (c *cutter) offsetOf(at int32) int64 {
	for i := len(c.anchors) - 1; i >= 0; i-- {
		if a := c.anchors[i]; a.at <= at {
			return a.offset + int64(at-a.at)
		}
	}
	return 0
}

// end closes the last entry.
func (c *cutter) end() {
	c.final = true
	if c.kind == Auto {
		c.kind = Slow
	}
	c.run()
	if c.in {
		c.close()
	}
	c.final = false
}

func (c *cutter) run() {
	c.b.kind = c.kind
	switch c.kind {
	case General:
		c.runGeneral()
	case Raw:
		c.runRaw()
	default:
		c.runSlow()
	}
}

// lineStart returns where the line i begins.
func (c *cutter) lineStart(i int) int32 {
	if i == 0 {
		return c.start
	}
	return c.ends[i-1] + 1
}

// text returns the line i without its newline, or CR and newline.
func (c *cutter) text(i int) []byte {
	line := c.b.buf[c.lineStart(i):c.ends[i]]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// isCut reports whether the line i was longer than the bound.
func (c *cutter) isCut(i int) bool {
	for _, at := range c.cuts {
		if at == c.ends[i] {
			return true
		}
	}
	return false
}

// begin starts an entry with the line that is looked at, without taking it.
func (c *cutter) begin() {
	at := c.lineStart(c.next)
	c.in, c.seenUser, c.seenQuery, c.headFull, c.afterHead = true, false, false, false, false
	c.e = entry{head: at, headEnd: at, line: c.number + int64(c.next), offset: c.offsetOf(at)}
}

// beginText starts the statement of the entry at that place.
func (c *cutter) beginText(at int32) {
	c.afterHead = true
	c.e.text, c.e.textEnd, c.lexed = at, at, at
	c.quotes = sqlshape.Quotes{}
}

// takeText takes the line that is looked at, from that place on, as a line of
// the statement.
func (c *cutter) takeText(from int32) {
	e := &c.e
	end := c.ends[c.next]
	cut := len(c.cuts) > 0 && c.isCut(c.next)
	if last, ok := lastNotBlank(c.b.buf[from:end]); ok {
		e.ended = last == ';' || cut
	}
	e.truncated = e.truncated || cut
	if !e.hasText && hasPrefix(c.b.buf[from:end], "# administrator command: ") {
		c.lexed = from + 2 // no comment
	}
	e.hasText = true
	if e.textEnd-e.text >= maxStatement && end > from {
		e.truncated = true
	} else {
		if end > e.text && c.b.buf[end-1] == '\r' {
			end = max(end-1, from)
			c.b.cr = true
		}
		e.textEnd = end
		if end-e.text > maxStatement {
			e.textEnd, e.truncated = e.text+maxStatement, true
		}
	}
	e.lines++
	c.next++
}

// lastNotBlank returns the last byte of a line that is no blank; ok is false when
// it has none.
func lastNotBlank(line []byte) (last byte, ok bool) {
	for i := len(line) - 1; i >= 0; i-- {
		if c := line[i]; c != ' ' && c != '\t' && c != '\r' {
			return c, true
		}
	}
	return 0, false
}

// openQuote returns the quote that the statement has left open so far. It reads
// on from where it was last asked.
func (c *cutter) openQuote() byte {
	if end := c.e.textEnd; c.lexed < end {
		c.quotes.Write(c.b.buf[c.lexed:end])
		c.lexed = end
	}
	return c.quotes.Open()
}

// close ends the entry before the line that is looked at.
func (c *cutter) close() {
	c.in = false
	c.b.entries = append(c.b.entries, c.e)
}

// junk takes the line that is looked at, which belongs to no entry.
func (c *cutter) junk() {
	at := c.lineStart(c.next)
	c.b.entries = append(c.b.entries, entry{
		junk: true, text: at, textEnd: at + int32(len(c.text(c.next))),
		line: c.number + int64(c.next), offset: c.offsetOf(at), lines: 1,
	})
	c.next++
}

// loose returns how many bytes of the batch carry would drop.
func (c *cutter) loose() int32 {
	rest := c.lineStart(c.next)
	if !c.in {
		return rest
	}
	return c.e.head + rest - c.kept()
}

// kept returns where what is kept of the present entry ends.
func (c *cutter) kept() int32 {
	switch {
	case c.e.textEnd-c.e.text >= maxStatement:
		return c.e.textEnd
	case c.headFull && !c.afterHead:
		return max(c.e.headEnd, c.e.useEnd)
	}
	return c.lineStart(c.next)
}

// full reports whether the batch holds entries, so that it can go on its way.
func (c *cutter) full() bool { return len(c.b.entries) > 0 }

// carry moves what belongs to no entry yet to the batch to, which is empty and
// is filled from now on. It may be the present one when that holds no entry; then
// only bytes beyond the bounds go.
func (c *cutter) carry(to *batch) {
	rest := c.lineStart(c.next)
	from, keep := rest, rest
	if c.in {
		from, keep = c.e.head, c.kept()
	}
	b := c.b
	anchors := append(c.spare[:0], anchor{0, c.offsetOf(from)})
	for _, a := range c.anchors {
		if a.at > from && a.at < keep {
			anchors = append(anchors, anchor{a.at - from, a.offset})
		}
	}
	shift := rest - (keep - from)
	if int(rest) < len(b.buf) {
		anchors = append(anchors, anchor{keep - from, c.offsetOf(rest)})
	}
	for _, a := range c.anchors {
		if a.at > rest {
			anchors = append(anchors, anchor{a.at - shift, a.offset})
		}
	}
	cr := b.cr
	to.buf = append(append(to.buf[:0], b.buf[from:keep]...), b.buf[rest:]...)
	to.cr, to.input = cr, b.input
	c.anchors, c.spare = anchors, c.anchors
	c.moveEntry(from)
	c.start = keep - from
	c.number += int64(c.next)
	left := copy(c.ends, c.ends[c.next:])
	c.ends, c.next = c.ends[:left], 0
	for i := range c.ends {
		c.ends[i] -= shift
	}
	cuts := c.cuts[:0]
	for _, at := range c.cuts {
		if at >= rest {
			cuts = append(cuts, at-shift)
		}
	}
	c.cuts = cuts
	c.ahead = ahead{}
	c.b = to
}

// moveEntry follows the bytes of the present entry when those before from go.
func (c *cutter) moveEntry(from int32) {
	if !c.in {
		return
	}
	e := &c.e
	for _, p := range [...]*int32{&e.head, &e.headEnd, &e.use, &e.useEnd, &e.text, &e.textEnd, &c.lexed} {
		*p = max(*p-from, 0) // 0 is what is not there
	}
}
