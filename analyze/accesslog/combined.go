package accesslog

import (
	"bytes"
	"strconv"
	"time"
)

// combined are the parts of a line in the common or combined format.
type combined struct {
	time, request, status, size []byte
	number                      []byte // the last field behind the others, when it is a number
	numbers                     int    // how many such there are
}

// splitCombined splits
//
//	host ident user [time] "request" status size "referer" "agent" … 0.021
//
// The last two quoted fields, and what stands behind them, may be missing. It
// returns why the line is not in the format.
func splitCombined(line []byte, c *combined) (why string) {
	open := bytes.IndexByte(line, '[')
	if open < 0 {
		return "no [time]"
	}
	end := bytes.IndexByte(line[open:], ']')
	if end < 0 {
		return "no [time]"
	}
	c.time = line[open+1 : open+end]
	rest, ok := bytes.CutPrefix(line[open+end+1:], []byte(` "`))
	if !ok {
		return "no \"request\" behind the time"
	}
	if c.request, rest, ok = quoted(rest); !ok {
		return "the \"request\" does not end"
	}
	if c.status, rest = field(rest); len(c.status) == 0 {
		return "no status"
	}
	if c.size, rest = field(rest); len(c.size) == 0 {
		return "no size"
	}
	for len(rest) > 0 {
		if rest = bytes.TrimLeft(rest, " "); len(rest) > 0 && rest[0] == '"' {
			if _, rest, ok = quoted(rest[1:]); !ok {
				return "a quoted field does not end"
			}
			continue
		}
		var f []byte
		if f, rest = field(rest); isNumber(f) {
			c.number = bytes.Trim(f, "[]")
			c.numbers++
		}
	}
	return ""
}

// quoted returns what stands before the closing quote and what behind it. A
// backslash hides a quote.
func quoted(b []byte) (text, rest []byte, ok bool) {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return nil, nil, false
		}
		i += n
		slashes := 0
		for slashes < i && b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return b[:i], b[i+1:], true
		}
		i++
	}
}

// field returns the next field and what stands behind it.
func field(b []byte) (f, rest []byte) {
	b = bytes.TrimLeft(b, " ")
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// isNumber reports whether a field behind the quoted ones is a number; nginx
// examples put the request time into brackets.
func isNumber(f []byte) bool {
	f = bytes.Trim(f, "[]")
	_, ok := decimal(f, time.Nanosecond)
	return ok
}

// parseCombined reads a line.
func (p *Parser) parseCombined(line []byte, r *Record) (why string) {
	var c combined
	if why := splitCombined(line, &c); why != "" {
		return why
	}
	if !p.time(c.time, r) {
		return badValue([]byte("time"), c.time)
	}
	if !r.setStatus(c.status) {
		return badValue([]byte("status"), c.status)
	}
	if !r.setBytes(c.size) {
		return badValue([]byte("size"), c.size)
	}
	if c.number != nil {
		if d, ok := decimal(c.number, p.format.unit); ok {
			r.Latency = d
			r.Has |= HasLatency
		}
	}
	requestLine(c.request, r)
	return ""
}

// requestLine splits "GET /path HTTP/1.1". What is no HTTP request, such as the
// start of a TLS connection to a plain port, leaves method and path empty.
func requestLine(b []byte, r *Record) {
	r.Request = b
	method, rest, ok := bytes.Cut(b, []byte(" "))
	if !ok || !isMethod(method) {
		return
	}
	path := rest
	if i := bytes.LastIndex(rest, []byte(" HTTP/")); i >= 0 {
		path, r.Protocol = rest[:i], rest[i+1:]
	}
	if len(path) > 0 {
		r.Method, r.Path = method, path
	}
}

// isMethod reports whether b is a token such as methods are.
func isMethod(b []byte) bool {
	for _, c := range b {
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 20
}

// quote returns a value for an error message, cut.
func quote(b []byte) string { return strconv.QuoteToASCII(string(b[:min(len(b), 40)])) }
