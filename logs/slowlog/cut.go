package slowlog

import (
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// maxStatement bounds the text of a statement over several lines, in bytes. It
// is what a line is bounded to.
const maxStatement = lines.DefaultMaxLine

// maxHead bounds what is kept of the head of an entry, in bytes, and the length
// of a line of a head that is read ahead.
const maxHead = 64 << 10

// An entry defines where an entry of a log lies in its batch.
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
	kind    Kind
	plain   bool         // of raw statements: one per line
	account logs.Account // Lines, Blank, Cut, and under Continued the server's own lines
	banners banners

	openLines
	draft   draft
	ahead   ahead
	repeats repeats
	general generalState
}

// newCutter returns a cutter that fills the batch.
func newCutter(kind Kind, b *batch) *cutter {
	return &cutter{kind: kind, openLines: openLines{b: b, number: 1}}
}

// feed adds whole lines and finds the entries that end in them. When cut is not 0, the
// last line was too long, and cut is how many bytes of it were left out.
func (c *cutter) feed(data []byte, offset, cut int64) {
	c.account.Lines += uint64(c.add(data, offset, cut))
	if cut > 0 {
		c.account.Cut++
	}
	if c.kind == Auto {
		c.kind, c.plain = kindOf(c.b.buf)
	}
	c.run()
}

// end closes the last entry.
func (c *cutter) end() {
	c.final = true
	if c.kind == Auto {
		c.kind = Slow
	}
	c.run()
	if c.draft.in {
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

// begin starts an entry with the line that is looked at, without taking it.
func (c *cutter) begin() {
	at := c.lineStart(c.next)
	d := &c.draft
	d.in, d.seenUser, d.seenQuery, d.headFull, d.afterHead = true, false, false, false, false
	d.entry = entry{head: at, headEnd: at, line: c.number + int64(c.next), offset: c.offsetOf(at)}
}

// takeText takes the line that is looked at, from that place on, as a line of
// the statement.
func (c *cutter) takeText(from int32) {
	e := &c.draft
	end := c.ends[c.next]
	cut := len(c.cuts) > 0 && c.isCut(c.next)
	if last, ok := lastNotBlank(c.b.buf[from:end]); ok {
		e.ended = last == ';' || cut
	}
	e.truncated = e.truncated || cut
	if !e.hasText && hasPrefix(c.b.buf[from:end], "# administrator command: ") {
		c.draft.lexed = from + 2 // no comment
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

// close ends the entry before the line that is looked at.
func (c *cutter) close() {
	c.draft.in = false
	c.b.entries = append(c.b.entries, c.draft.entry)
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
	if !c.draft.in {
		return rest
	}
	return c.draft.head + rest - c.draft.kept(rest)
}

// full reports whether the batch holds entries, so that it can go on its way.
func (c *cutter) full() bool { return len(c.b.entries) > 0 }

// carry moves what belongs to no entry yet to the batch to, which is empty and
// is filled from now on. It may be the present one when that holds no entry; then
// only bytes beyond the bounds go.
func (c *cutter) carry(to *batch) {
	from := c.lineStart(c.next)
	keep := from
	if c.draft.in {
		from, keep = c.draft.head, c.draft.kept(keep)
		c.draft.move(from)
	}
	c.move(to, from, keep)
	c.ahead = ahead{}
}
