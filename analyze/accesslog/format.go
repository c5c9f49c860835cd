package accesslog

import (
	"bytes"
	"time"
)

// A Format says how the lines of a log are read. It does not change once it is
// made, and is safe for concurrent use.
type Format struct {
	name       string
	ltsv       bool
	unit       time.Duration // of a request time whose name does not tell
	resolution time.Duration
	assumed    []string
}

// Name returns what people call the format: ltsv; combined, with how the request
// time is written; json …
func (f *Format) Name() string { return f.name }

// Resolution returns in which steps the request times are written: a
// millisecond for nginx, a microsecond for Apache's %D; 0 when there are none.
func (f *Format) Resolution() time.Duration { return f.resolution }

// Assumed returns what was taken for granted where the lines alone do not tell,
// one sentence each.
func (f *Format) Assumed() []string { return f.assumed }

// ParserOptions say what a parser is asked for. The zero value asks for
// everything that a [Record] has a field for.
type ParserOptions struct {
	Location *time.Location // of times without an offset; nil means the local one
	Extra    []string       // further values of a line, by their names in the log
}

// A Parser reads lines of a format. It remembers what neighbouring lines have in
// common, so every goroutine needs its own.
type Parser struct {
	format *Format
	opts   ParserOptions
	times  timeParser
}

// Parser returns a new parser of the format.
func (f *Format) Parser(o ParserOptions) *Parser {
	return &Parser{format: f, opts: o, times: timeParser{local: o.Location}}
}

// Parse reads a line, with or without its newline, into the record, whose Line
// and Offset it leaves alone. It returns why the line is no record, empty when
// it is one; what the record holds otherwise means nothing.
func (p *Parser) Parse(line []byte, r *Record) (why string) {
	r.reset()
	line = bytes.TrimRight(line, "\r\n")
	if p.format.ltsv {
		return p.parseLTSV(line, r)
	}
	return p.parseCombined(line, r)
}

// Detect finds the format of a log from its first lines: the one of which the
// most lines make sense. The sample ends with a whole line. The error is an
// [*UnknownFormatError] without a path.
func Detect(sample []byte) (*Format, error) {
	var r Record
	number := int64(0)
	unknown := &UnknownFormatError{}
	for rest := sample; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		ltsv := &Format{name: "ltsv", ltsv: true, unit: time.Second, resolution: time.Millisecond}
		if ltsv.Parser(ParserOptions{}).Parse(line, &r) == "" {
			return ltsv, nil
		}
		if (&Format{unit: time.Second}).Parser(ParserOptions{}).Parse(line, &r) == "" {
			return sniff(append(append(bytes.Clone(line), '\n'), rest...)), nil
		}
		if unknown.Line == 0 {
			unknown.Line, unknown.Text = number, string(line)
		}
	}
	return nil, unknown
}
