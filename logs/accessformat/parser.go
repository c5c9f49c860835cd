package accessformat

import (
	"bytes"
	"slices"
	"time"
)

// ParserOptions configure what a parser is asked for. The zero value asks for
// everything that a [Record] has a field for.
type ParserOptions struct {
	Location *time.Location // of times without an offset; nil means the local one
	// Extra are further values of a line: keys of LTSV and JSON (with points for
	// those of nested objects), variables of nginx without the dollar sign,
	// headers and other names of Apache's directives, groups of a regexp.
	Extra []string
}

// A Parser reads lines of a format. It remembers what neighbouring lines have in
// common, so every goroutine needs its own.
type Parser struct {
	format *Format
	opts   ParserOptions
	others []*Parser
	strays uint64

	prefix string // of the program
	steps  []step
	hot    int // steps that combined stands for; 0 when it cannot
	keys   keyTable
	layout layout
	groups []slot

	times   timeParser
	sniffer *sniffer // sees durations; nil but for finding a unit
	extra   [][]byte
	buf     []byte // texts that are not as they stand in the line
	path    []byte // of a JSON key
	query   []byte // of the line
	scan    jsonScan

	line keyedLine
}

// A keyedLine is what was taken of a line of keys.
type keyedLine struct {
	ranks   [numFields]uint8 // of the values that were taken
	request []byte
	asked   bool // it says what was requested
	known   int  // keys of an access log
	bad     *slot
	badText []byte
}

// Parser returns a new parser of the format.
func (f *Format) Parser(o ParserOptions) *Parser {
	p := &Parser{format: f, opts: o, extra: make([][]byte, len(o.Extra))}
	p.times.local = o.Location
	switch f.kind {
	case byProgram:
		p.prefix, p.steps = f.program.prefix, f.program.steps
		p.hot = hotSteps(f.program)
		if len(o.Extra) > 0 {
			p.hot = 0
			p.steps = slices.Clone(p.steps)
			for i := range p.steps {
				p.steps[i].extra = slices.Index(o.Extra, p.steps[i].key)
			}
		}
	case byRegexp:
		p.groups = slices.Clone(f.groups)
		for i := range p.groups {
			p.groups[i].extra = slices.Index(o.Extra, p.groups[i].name)
		}
	default:
		p.keys = f.keys.with(o.Extra)
	}
	for _, other := range f.others {
		p.others = append(p.others, other.Parser(o))
	}
	return p
}

// Strays returns how many lines were read that have not the format of the
// parser but another one that is known, as when a server got a new log_format.
func (p *Parser) Strays() uint64 { return p.strays }

// NoFormat is why all lines of an input are dropped whose format is unknown.
const NoFormat = "no format of an access log that is known"

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\xef\xbb\xbf"

// Parse reads a line, with or without its newline, into the record, whose Line
// and Offset it leaves alone. It returns why the line is no record, empty when
// it is one; what the record holds otherwise means nothing.
func (p *Parser) Parse(line []byte, r *Record) (why string) {
	n := len(line)
	for n > 0 && line[n-1] <= ' ' && line[n-1] != '\t' {
		n--
	}
	line = line[:n]
	if n >= 3 && line[0] == byteOrderMark[0] {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	if why = p.parse(line, r); why == "" || len(p.others) == 0 {
		return why
	}
	for _, other := range p.others {
		if other.parse(line, r) == "" {
			p.strays++
			return ""
		}
	}
	return why
}

func (p *Parser) parse(line []byte, r *Record) (why string) {
	resetRecord(r)
	p.buf, p.query = p.buf[:0], nil
	if len(p.extra) > 0 {
		clear(p.extra)
	}
	switch p.format.kind {
	case byProgram:
		return p.run(line, r)
	case byLTSV:
		return p.ltsv(line, r)
	case byJSON:
		return p.json(line, r)
	}
	return p.match(line, r)
}
