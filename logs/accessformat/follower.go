package accessformat

import (
	"bytes"
	"context"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// A Follower turns the lines of a log into records as they come, and accounts for
// them. Where no format is given it is found from the first lines that the log has, see
// [Follower.Peek], or gains. It is not safe for concurrent use.
type Follower struct {
	path    string
	format  *Format
	opts    ParserOptions
	parser  *Parser
	record  Record
	account logs.Account
	batch   []byte   // whole lines of which the format is not known yet
	notes   []string // rotated, truncated …
}

// mostWaiting is how many bytes of lines wait for their format.
const mostWaiting = 16 << 10

// mostNotes is how many remarks on one log are kept.
const mostNotes = 5

// NewFollower returns a follower of a log. A nil format is found.
func NewFollower(path string, f *Format, o ParserOptions) *Follower {
	return &Follower{path: path, format: f, opts: o}
}

// Peek finds the format from what the log has already, when that is possible.
func (f *Follower) Peek(in *lines.Input) {
	if f.format != nil {
		return
	}
	if format, err := DetectInput(context.Background(), in); err == nil {
		f.format = format
	}
}

// Line takes a line, and calls each with its record. Lines wait for those that come
// next when it takes those to find the format.
func (f *Follower) Line(line []byte, each func(*Record)) {
	f.account.Lines++
	if f.format == nil {
		f.batch = append(append(f.batch, line...), '\n')
		if len(f.batch) >= mostWaiting {
			f.Settle(each)
		}
		return
	}
	f.parse(line, int64(f.account.Lines), each)
}

// Settle ends the waiting of lines: it finds their format, or drops them.
func (f *Follower) Settle(each func(*Record)) {
	if len(f.batch) == 0 {
		return
	}
	var err error
	f.format, err = Detect(f.batch)
	number := int64(f.account.Lines) - int64(bytes.Count(f.batch, []byte("\n")))
	for line := range bytes.Lines(f.batch) {
		number++
		line = bytes.TrimRight(line, "\n")
		if err != nil {
			f.account.Drop(1, number, line, "unknown format")
			continue
		}
		f.parse(line, number, each)
	}
	f.batch = f.batch[:0]
}

// parse takes a line of the known format, and its number since the following began.
func (f *Follower) parse(line []byte, number int64, each func(*Record)) {
	if f.parser == nil {
		f.parser = f.format.Parser(f.opts)
	}
	if f.parser.take(logs.Line{Text: line, Number: number}, &f.record, &f.account) {
		each(&f.record)
	}
}

// take parses a line and counts what becomes of it: blank, a record, dropped. A nil
// parser is one whose format is not known. The reader of blocks counts by the block
// instead, see readLines.
func (p *Parser) take(line logs.Line, r *Record, to *logs.Account) bool {
	if len(bytes.TrimSpace(line.Text)) == 0 {
		to.Blank++
		return false
	}
	why := NoFormat
	if p != nil {
		r.Line, r.Offset = line.Number, line.Offset
		why = p.Parse(line.Text, r)
	}
	if why != "" {
		to.Drop(1, line.Number, line.Text, why)
		return false
	}
	to.Records++
	return true
}

// Note keeps a remark on the log.
func (f *Follower) Note(text string) {
	if text != "" && len(f.notes) < mostNotes && !slices.Contains(f.notes, text) {
		f.notes = append(f.notes, text)
	}
}

// Account returns what became of the lines so far.
func (f *Follower) Account() *logs.Account { return &f.account }

// Window describes the lines so far.
func (f *Follower) Window() kasoku.LogWindow {
	name := ""
	if f.format != nil {
		name = f.format.Name()
	}
	return f.account.Describe("accesslog", name, []lines.Segment{{Path: f.path}}, f.notes...)
}
