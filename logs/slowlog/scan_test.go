package slowlog

import (
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// A Reader yields the entries of a log one by one, in the shape of bufio.Scanner, so that
// tests see what a table adds up: it cuts and parses as Collect does. It is not
// safe for concurrent use.
type Reader struct {
	src     *lines.Window
	cutter  *cutter
	parser  parser
	batch   *batch
	block   []byte // lines on their way to the cutter
	ahead   int    // bytes of lines that are taken at a time
	ended   bool   // the source has no more lines
	next    int    // index of the batch's entry after the present one
	event   *Event
	before  inherited
	account logs.Account
	hints   hints
}

// readAhead is how many bytes of lines a Reader takes at a time. Tests take fewer.
const readAhead = 64 << 10

// NewReader returns a reader of the lines.
func NewReader(src *lines.Window) *Reader { return newReaderOf(src, Options{}, nil) }

// newReaderOf returns a reader whose events hold the attributes that are wanted.
func newReaderOf(src *lines.Window, o Options, wanted *names) *Reader {
	r := &Reader{src: src, batch: new(batch), ahead: readAhead, parser: parser{zone: o.Location, wanted: wanted},
		event: new(Event)}
	r.cutter = newCutter(o.Kind, r.batch)
	return r
}

// Event returns the present entry. It is valid until the next Scan.
func (r *Reader) Event() *Event { return r.event }

// Err returns the error that ended the reading, nil at the end of the log.
func (r *Reader) Err() error { return r.src.Err() }

// Account returns what became of the lines. The log's own lines, which a server
// writes when it opens it, count as continued.
func (r *Reader) Account() *logs.Account {
	a := r.account
	a.Add(&r.cutter.account)
	return &a
}

// Format returns mariadb, percona or mysql, general or raw, and nothing while none
// showed.
func (r *Reader) Format() string { return r.hints.format(r.cutter) }

// Scan goes on to the next entry. It returns false at the end of the lines and
// on an error of reading them.
func (r *Reader) Scan() bool {
	for {
		if r.next >= len(r.batch.entries) {
			if !r.fill() {
				return false
			}
		}
		e := &r.batch.events[r.next]
		r.next++
		if accountFor(&r.account, e) {
			r.hints.see(e)
			r.before.pass(e)
			r.event = e
			return true
		}
	}
}

// fill reads lines until there are entries.
func (r *Reader) fill() bool {
	r.batch.entries, r.batch.events = r.batch.entries[:0], r.batch.events[:0]
	r.batch.values, r.batch.extra = r.batch.values[:0], r.batch.extra[:0]
	r.cutter.carry(r.batch)
	r.next = 0
	for !r.cutter.full() {
		if r.ended {
			return false
		}
		r.feed()
	}
	r.parser.parse(r.batch)
	return true
}

// feed gives the cutter the next lines. A long line comes alone.
func (r *Reader) feed() {
	if int(r.cutter.loose()) > r.ahead {
		r.cutter.carry(r.batch)
	}
	block := r.block[:0]
	var offset, end int64
	for len(block) < r.ahead {
		if !r.src.Scan() {
			r.ended = true
			break
		}
		if len(block) > 0 && (r.src.Offset() != end || r.src.Truncated()) {
			r.cutter.feed(block, offset, 0)
			block = block[:0]
		}
		if len(block) == 0 {
			offset = r.src.Offset()
		}
		block = append(append(block, r.src.Bytes()...), '\n')
		end = offset + int64(len(block))
		if r.src.Truncated() {
			r.cutter.feed(block, offset, max(r.src.Width()-int64(len(block)), 1))
			block = block[:0]
		}
	}
	if len(block) > 0 {
		r.cutter.feed(block, offset, 0)
	}
	r.block = block
	if r.ended {
		r.cutter.end()
	}
}
