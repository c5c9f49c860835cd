package accessformat

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// Expected says what formats are known.
const Expected = `LTSV (time:… method:… uri:… status:… reqtime:…), JSON with such keys, or combined with a request time ` +
	`(host ident user [time] "request" status size "referer" "agent" 0.021)`

// A Reader yields the records of an access log, in the shape of bufio.Scanner.
// It is not safe for concurrent use.
type Reader struct {
	feed    logs.Feed
	account logs.Account
	path    string
	opts    ParserOptions
	asked   *Format // nil: it was to be found
	parser  *Parser // nil until the format is known
	refused int     // lines from the present one on of which none is understood
	record  Record
	err     error
}

// NewReader returns a reader of the lines, whose format it finds. Times without
// an offset are of the location; nil means the local one.
func NewReader(src *lines.Window, location *time.Location) *Reader {
	return NewReaderOf(src, nil, ParserOptions{Location: location})
}

// NewReaderOf returns a reader of lines of the format; nil means that it finds
// the format.
func NewReaderOf(src *lines.Window, f *Format, o ParserOptions) *Reader {
	r := &Reader{path: "access log", opts: o}
	if files := src.Files(); len(files) > 0 {
		r.path = files[len(files)-1].Path
	}
	r.feed = logs.NewFeed(src, &r.account)
	if f != nil {
		r.parser, r.asked = f.Parser(o), f
	}
	return r
}

// Record returns the present record. It is valid until the next Scan.
func (r *Reader) Record() *Record { return &r.record }

// Account returns what became of the lines.
func (r *Reader) Account() *logs.Account { return &r.account }

// Format returns the name of the format that was found or given; empty as long
// as no line was understood.
func (r *Reader) Format() string {
	if r.parser == nil {
		return ""
	}
	return r.parser.format.Name()
}

// Err returns the error that ended the reading: the lines could not be read, or
// none of them was understood.
func (r *Reader) Err() error { return r.err }

// Scan goes on to the next record. It returns false at the end of the lines and
// on an error.
func (r *Reader) Scan() bool {
	for r.feed.Next() {
		r.refused = max(r.refused-1, 0)
		if r.parser == nil && len(bytes.TrimSpace(r.feed.Text)) > 0 {
			r.detect()
		}
		if r.parser.take(r.feed.Line, &r.record, &r.account) {
			return true
		}
	}
	r.err = r.feed.Err()
	if r.err == nil && r.account.Records == 0 && r.account.Dropped > 0 {
		r.err = NotUnderstood(r.path, r.account.Bad[0], r.asked)
	}
	return false
}

// detect finds the format from the present line and those after it.
func (r *Reader) detect() {
	if r.refused > 0 {
		return
	}
	sample := append(bytes.Clone(r.feed.Text), '\n')
	n := 1
	for ; n < groupLines; n++ {
		line := r.feed.Peek(n)
		if line == nil {
			break
		}
		sample = append(append(sample, line...), '\n')
	}
	f, err := Detect(sample)
	if err != nil {
		r.refused = n
		return
	}
	r.parser = f.Parser(r.opts)
}

// An UnknownFormatError reports that no line of a log was understood.
type UnknownFormatError struct {
	Path   string
	Line   int64   // the first line that was refused
	Text   string  // of it, cut and without secrets
	Why    string  // it was refused
	Format *Format // that was asked for; nil when it was to be found
}

// NotUnderstood returns the error for a log whose first line that was refused is given,
// in the format that was asked for; nil, or one that was detected, when none was.
func NotUnderstood(path string, first kasoku.BadLine, f *Format) *UnknownFormatError {
	if f != nil && f.detected {
		f = nil
	}
	return &UnknownFormatError{Path: path, Line: first.Line, Text: first.Text, Why: first.Why, Format: f}
}

// Error names the file, the line and what was expected.
func (e *UnknownFormatError) Error() string {
	if e.Format != nil {
		return fmt.Sprintf("access log %s:%d: not in the format %s: %q: %s", e.Path, e.Line, e.Format.Name(), e.Text,
			e.Why)
	}
	return fmt.Sprintf("access log %s:%d: unknown format %q, expected %s", e.Path, e.Line, e.Text, Expected)
}

// First lines of logs that are given in place of an access log.
//
// Source: ngx_log.c, ngx_log_error_core; the heads of slow logs of MySQL and MariaDB.
var (
	errorLogLine = lazyregexp.New(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[[a-z]+\] \d+#\d+: `)
	slowLogLine  = lazyregexp.New(`^(# (Time|User@Host|Query_time): |\S*(mysqld|mariadbd), Version: )`)
)

// Hint returns how to make a log that is understood.
func (e *UnknownFormatError) Hint() string {
	switch {
	case e.Format != nil:
		return "without a format that is asked for, the format is found from the lines"
	case strings.HasPrefix(e.Text, "SQLite format 3"):
		return "that is a run, not a log: show and accesslog diff read runs"
	case errorLogLine().MatchString(e.Text):
		return "that is nginx's error log; the access log is what access_log names: nginx -T | grep access_log"
	case slowLogLine().MatchString(e.Text):
		return "that is a slow log: `kasoku slowlog " + e.Path + "`"
	case strings.HasPrefix(e.Text, `{"log":`):
		return "Docker put each line into JSON: docker logs CONTAINER gives them as they were, and so does jq -rj .log FILE"
	}
	return "nginx: " + nginxconf.LogFormat + " " +
		"any other format can be given, or the nginx configuration that has it"
}
