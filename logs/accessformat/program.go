package accessformat

import "bytes"

// A cut is how the end of a value is found.
type cut uint8

const (
	untilText     cut = iota // where the text after the value stands first
	untilQuote               // at the quote that no backslash hides
	untilEnd                 // of the line
	byTime                   // where the time ends, which follows from its form
	untilNoList              // after the last value of a list of upstreams
	untilProtocol            // after the HTTP/1.1 of a request line without quotes
	untilSlash               // of the path after the value
	afterBlanks              // as untilText, when blanks may stand before the value
)

// A step reads one value and the text after it.
type step struct {
	slot
	cut   cut
	end   byte   // first byte of the text after the value
	text  string // that text; empty at the end of the line
	maybe bool   // lines may end after the value
}

// A program reads lines in which values are divided by fixed text.
type program struct {
	prefix string // text before the first value
	steps  []step
}

// run reads a line.
func (p *Parser) run(line []byte, r *Record) (why string) {
	if n := len(p.prefix); n > 0 {
		if len(line) < n || string(line[:n]) != p.prefix {
			return "does not begin with " + quoteShort([]byte(p.prefix))
		}
		line = line[n:]
	}
	steps := p.steps
	if p.hot > 0 {
		text := steps[p.hot-1].text
		if n := p.combined(line, r); n > 0 && len(line)-n >= len(text) && string(line[n:n+len(text)]) == text {
			line, steps = line[n+len(text):], steps[p.hot:]
		} else {
			resetRecord(r)
		}
	}
	for i := range steps {
		s := &steps[i]
		n := 0
		switch s.cut {
		case untilText:
			n = indexText(line, s)
		case untilQuote:
			n = indexQuote(line, s.text)
		case byTime:
			n = p.indexTime(line, s, r)
		case untilNoList:
			n = indexList(line, s.text)
		case untilProtocol:
			n = indexRequest(line, s)
		case untilSlash:
			n = bytes.IndexByte(line, '/')
		case afterBlanks:
			line = bytes.TrimLeft(line, " ")
			n = indexText(line, s)
		default:
			n = len(line)
		}
		if n < 0 {
			if n = shortLine(line, s); n < 0 {
				return notFound(line, s)
			}
			if !p.value(&s.slot, line[:n], r) {
				return badValue(s.name, line[:n])
			}
			p.finish(r)
			return ""
		}
		if !p.value(&s.slot, line[:n], r) {
			return badValue(s.name, line[:n])
		}
		line = line[n+len(s.text):]
	}
	if len(line) > 0 {
		return "unexpected " + quoteShort(line) + " after the last value"
	}
	p.finish(r)
	return ""
}

// indexText returns where the text after a value stands, -1 when it does not.
func indexText(line []byte, s *step) int {
	n := bytes.IndexByte(line, s.end)
	if n < 0 || len(s.text) == 1 {
		return n
	}
	for {
		if len(line)-n >= len(s.text) && string(line[n:n+len(s.text)]) == s.text {
			return n
		}
		next := bytes.IndexByte(line[n+1:], s.end)
		if next < 0 {
			return -1
		}
		n += 1 + next
	}
}

// indexRequest returns where the text after a request line stands. Without a
// protocol the line has two words, or is a dash.
func indexRequest(line []byte, s *step) int {
	from := bytes.Index(line, httpSlash)
	switch {
	case from >= 0:
		from += len(httpSlash)
	case len(line) > 0 && line[0] == '-':
		from = 0
	default:
		from = bytes.IndexByte(line, ' ') + 1
	}
	n := indexText(line[from:], s)
	if n < 0 {
		return -1
	}
	return from + n
}

// indexQuote returns where the text begins that starts with a quote which ends
// the value. A backslash hides a quote.
func indexQuote(line []byte, text string) int {
	n := findClosing(line)
	if n < 0 || len(text) > 1 && (len(line)-n < len(text) || string(line[n:n+len(text)]) != text) {
		return -1
	}
	return n
}

// findClosing returns where the closing quote stands, -1 when there is none.
func findClosing(b []byte) int {
	n := bytes.IndexByte(b, '"')
	if n > 0 && b[n-1] == '\\' {
		return closingHidden(b, n)
	}
	return n
}

// closingHidden continues after a quote that may be escaped.
func closingHidden(b []byte, n int) int {
	for {
		slashes := 0
		for slashes < n && b[n-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return n
		}
		next := bytes.IndexByte(b[n+1:], '"')
		if next < 0 {
			return -1
		}
		n += 1 + next
	}
}

// indexList returns where the text after a list of upstreams stands.
func indexList(line []byte, text string) int {
	end := listEnd(line)
	if text == "" {
		if end < len(line) {
			return -1
		}
		return end
	}
	if len(line)-end < len(text) || string(line[end:end+len(text)]) != text {
		return -1
	}
	return end
}

// listEnd returns where a value ends that may be a list of upstreams, such as
// "0.001, 0.020 : 0.300": at the first blank that does not belong to it.
func listEnd(b []byte) int {
	for n := 0; ; {
		i := bytes.IndexByte(b[n:], ' ')
		if i < 0 {
			return len(b)
		}
		n += i
		switch {
		case n > 0 && b[n-1] == ',' && n+1 < len(b):
			n++
		case n+3 < len(b) && b[n+1] == ':' && b[n+2] == ' ':
			n += 3
		default:
			return n
		}
	}
}

// indexTime returns where the time that the line begins with ends, and puts it
// into the record. A dash is no time, and none that is bad.
func (p *Parser) indexTime(line []byte, s *step, r *Record) int {
	n := p.times.take(line)
	if n == 0 {
		if len(line) == 0 || line[0] != '-' {
			return -1
		}
		n = 1
	} else {
		p.times.set(r)
	}
	if len(line)-n < len(s.text) || string(line[n:n+len(s.text)]) != s.text {
		return -1
	}
	return n
}

// shortLine returns where the value ends in a line that ends early, -1 when it
// may not.
func shortLine(line []byte, s *step) int {
	if !s.maybe {
		return -1
	}
	// What is left of the text after the value may be its first bytes.
	for n := min(len(s.text)-1, len(line)); n >= 0; n-- {
		if bytes.HasSuffix(line, []byte(s.text[:n])) {
			return len(line) - n
		}
	}
	return -1
}

// notFound describes why a value does not end as it should.
func notFound(line []byte, s *step) string {
	switch {
	case s.cut == byTime:
		return badValue(s.name, line)
	case s.text == "":
		return "unexpected text after " + s.name
	}
	return "no " + quoteShort([]byte(s.text)) + " after " + s.name
}
