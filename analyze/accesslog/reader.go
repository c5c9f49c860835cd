package accesslog

import (
	"bytes"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/analyze"
	"github.com/kasoku/kasoku/lines"
)

// sniffed is how many lines decide the unit of a request time that has no name.
const sniffed = 64

// Expected says what formats are known.
const Expected = `LTSV (time:… method:… uri:… status:… reqtime:…) or combined with a request time ` +
	`(host ident user [time] "request" status size "referer" "agent" 0.021)`

// A parser holds what parsing a line needs besides the line.
type parser struct {
	times timeParser
	unit  time.Duration // of the number behind a combined line
}

// A Reader yields the records of an access log, in the shape of bufio.Scanner.
// It is not safe for concurrent use.
type Reader struct {
	feed    analyze.Feed
	account analyze.Account
	path    string
	parser  parser
	parse   func(line []byte, r *Record) (why string) // nil until the format is known
	format  string
	record  Record
	err     error
}

// NewReader returns a reader of the lines. Times without an offset are of the
// location; nil means the local one.
func NewReader(src *lines.Window, location *time.Location) *Reader {
	r := &Reader{path: "access log"}
	if files := src.Files(); len(files) > 0 {
		r.path = files[len(files)-1].Path
	}
	r.feed = analyze.NewFeed(src, &r.account)
	r.parser.times.local, r.parser.unit = location, time.Second
	return r
}

// Record returns the present record. It is valid until the next Scan.
func (r *Reader) Record() *Record { return &r.record }

// Account returns what became of the lines.
func (r *Reader) Account() *analyze.Account { return &r.account }

// Format returns the format that was found: ltsv, combined, with how the
// request time is written; empty as long as no line was understood.
func (r *Reader) Format() string { return r.format }

// Err returns the error that ended the reading: the lines could not be read, or
// none of them was understood.
func (r *Reader) Err() error { return r.err }

// Scan goes on to the next record. It returns false at the end of the lines and
// on an error.
func (r *Reader) Scan() bool {
	for r.feed.Next() {
		line := r.feed.Text
		if len(bytes.TrimSpace(line)) == 0 {
			r.account.Blank++
			continue
		}
		rec := &r.record
		rec.reset()
		rec.Line, rec.Offset = r.feed.Number, r.feed.Offset
		why := r.read(line)
		if why == "" {
			r.account.Records++
			return true
		}
		r.account.Drop(1, r.feed.Number, r.feed.Text, why)
	}
	r.err = r.feed.Err()
	if r.err == nil && r.parse == nil && r.account.Dropped > 0 {
		first := r.account.Bad[0]
		r.err = &UnknownFormatError{Path: r.path, Line: first.Line, Text: first.Text}
	}
	return false
}

// read parses a line, in the format of the log once that is known.
func (r *Reader) read(line []byte) (why string) {
	if r.parse != nil {
		return r.parse(line, &r.record)
	}
	if r.parser.parseLTSV(line, &r.record) == "" {
		r.parse, r.format = r.parser.parseLTSV, "ltsv"
		return ""
	}
	at, offset := r.record.Line, r.record.Offset
	r.record = Record{Line: at, Offset: offset}
	if r.parser.parseCombined(line, &r.record) == "" {
		r.format = r.sniff()
		r.parse = r.parser.parseCombined
		return r.parse(r.feed.Text, &r.record)
	}
	return "neither LTSV nor combined"
}

// sniff finds the unit of the request time behind combined lines from this one
// and the next: nginx and H2O write seconds with a fraction, Apache's %D
// microseconds and its %T seconds, both without.
func (r *Reader) sniff() (format string) {
	var largest, numbers uint64

	for n := range sniffed {
		line := r.feed.Text
		if n > 0 {
			line = r.feed.Peek(n)
		}
		if line == nil {
			break
		}
		var c combined
		if splitCombined(line, &c) != "" || c.number == nil {
			continue
		}
		if bytes.IndexByte(c.number, '.') >= 0 {
			return "combined, request time in s"
		}
		v, _ := digits(c.number)
		largest = max(largest, v)
		numbers++
	}
	switch {
	case numbers == 0:
		return "combined without request time"
	case largest > uint64(maxWholeSeconds):
		r.parser.unit = time.Microsecond
		return "combined, request time in µs"
	}
	return "combined, request time in whole s"
}

// maxWholeSeconds tells seconds from microseconds: few servers let a request
// take longer than a minute, and no request takes less than 60 µs 64 times in a
// row.
const maxWholeSeconds = 60

// An UnknownFormatError says that no line of a log was understood.
type UnknownFormatError struct {
	Path string
	Line int64  // the first line that was refused
	Text string // of it, cut and without secrets
}

// Error names the file, the line and what was expected.
func (e *UnknownFormatError) Error() string {
	return fmt.Sprintf("access log %s:%d: unknown format %q, expected %s", e.Path, e.Line, e.Text, Expected)
}

// Hint returns how to make a log that is understood.
func (e *UnknownFormatError) Hint() string {
	return `nginx: log_format ltsv "time:$time_iso8601\tmethod:$request_method\turi:$request_uri\tstatus:$status\tsize:$body_bytes_sent\treqtime:$request_time";`
}
