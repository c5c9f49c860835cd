package http1

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/kasoku/kasoku/load"
)

// A header is what the header of an answer says of what matters here.
type header struct {
	at int // how far it was read: to where a line begins

	code      int
	length    int64 // Content-Length, when hasLength
	hasLength bool
	chunked   bool
	http10    bool // the connection is kept only when the server says so
	closes    bool // the server says that it closes the connection
	persists  bool // the server says that it keeps the connection

	status, location span
	located          bool // there was a Location
}

// A span is where a text stands in a header.
type span struct{ from, to int }

// keeps reports whether the server keeps the connection after the answer.
func (h *header) keeps() bool {
	return h.code >= 200 && !h.closes && (!h.http10 || h.persists)
}

// A verdict is how far a look at a header came.
type verdict uint8

const (
	partial verdict = iota // more bytes are needed
	whole
	unusual // for net/http to judge
)

// A Memo holds a header that came before. A server says the same again for as
// long as the second of its Date lasts, so comparing is most often enough.
type Memo struct {
	block []byte
	said  header
}

// maxMemo bounds the header that is remembered.
const maxMemo = 1 << 10

// header takes bytes of a header and consumes up to its end.
func (p *Parser) header(b []byte) (n int, err error) {
	if p.odd {
		return p.holdOdd(b)
	}
	if len(p.hold) > 0 {
		return p.headerInPieces(b)
	}
	if m := p.Memo; m != nil && len(m.block) > 0 && p.past == 0 && bytes.HasPrefix(b, m.block) {
		if p.Keep != nil {
			p.keepHeader(&m.said, b)
		}
		p.settle(&m.said)
		return len(m.block), nil
	}
	h := &p.said
	switch h.scan(b) {
	case partial:
		if err := p.keepPiece(b); err != nil {
			return 0, err
		}
		return len(b), nil
	case unusual:
		return p.holdOdd(b)
	}
	if m := p.Memo; m != nil && h.code/100 == 2 && h.at <= maxMemo {
		m.block = append(m.block[:0], b[:h.at]...)
		m.said = *h
	}
	n = h.at
	if p.Keep != nil {
		p.keepHeader(h, b)
	}
	return n, p.headed(b[h.status.from:h.status.to], b[h.location.from:h.location.to])
}

// headerInPieces is header when a piece of it is in hold.
func (p *Parser) headerInPieces(b []byte) (n int, err error) {
	before := len(p.hold)
	p.hold = append(p.hold, b...)
	h := &p.said
	switch h.scan(p.hold) {
	case partial:
		return len(b), p.limit()
	case unusual:
		return p.tryOdd(before)
	}
	n = h.at - before
	if p.Keep != nil {
		p.keepHeader(h, p.hold)
	}
	return n, p.headed(p.hold[h.status.from:h.status.to], p.hold[h.location.from:h.location.to])
}

// keepPiece keeps what came of a header that is not whole.
func (p *Parser) keepPiece(b []byte) error {
	p.hold = append(p.hold, b...)
	return p.limit()
}

// limit returns an error when more of a header came than may.
func (p *Parser) limit() error {
	if p.past+len(p.hold) >= load.MaxResponseHeader {
		return errLongHeader()
	}
	return nil
}

// headed goes on after a header.
func (p *Parser) headed(status, location []byte) error {
	h := &p.said
	if p.past+h.at > load.MaxResponseHeader {
		return errLongHeader()
	}
	if h.code/100 == 1 && h.code != 101 {
		p.past += h.at
		p.nextHeader()
		return nil
	}
	if h.code < 200 || h.code >= 400 {
		if string(status) != p.Status {
			p.Status = string(status)
		}
	} else if h.code >= 300 {
		p.Location = append(p.Location, location...)
	}
	p.settle(h)
	return nil
}

// scan reads lines of the header b from h.at on. It is whole when the empty line
// after it was read; h.at is then where the body begins. It takes what servers
// send that mind the rules, and what cannot be misread: lines end with CRLF and
// are not folded, there is one length, and it is a number.
func (h *header) scan(b []byte) verdict {
	i := h.at
	if i == 0 {
		var v verdict
		if i, v = h.scanStatus(b); v != whole {
			return v
		}
	}
	for {
		h.at = i
		if i == len(b) {
			return partial
		}
		if b[i] == '\r' {
			_, v := lineEnd(b, i)
			if v == whole {
				h.at = i + len("\r\n")
			}
			return v
		}
		colon := i
		for colon < len(b) && nameBytes[b[colon]] {
			colon++
		}
		if colon == len(b) {
			return partial
		}
		if b[colon] != ':' || colon == i {
			return unusual
		}
		end, v := endOfLine(b, colon+1)
		if v != whole {
			return v
		}
		if interesting>>(colon-i)&1 != 0 && !h.take(b, i, colon, end) {
			return unusual
		}
		i = end + 2
	}
}

// scanStatus reads the status line and returns where the next line begins.
func (h *header) scanStatus(b []byte) (next int, v verdict) {
	const shortest = len("HTTP/1.1 200\r\n")
	if len(b) < shortest {
		if bytes.IndexByte(b, '\n') >= 0 {
			return 0, unusual
		}
		return 0, partial
	}
	if string(b[:7]) != "HTTP/1." || b[7]-'0' > 1 || b[8] != ' ' || b[12] != ' ' && b[12] != '\r' {
		return 0, unusual
	}
	d1, d2, d3 := b[9]-'1', b[10]-'0', b[11]-'0'
	if d1 > 8 || d2 > 9 || d3 > 9 {
		return 0, unusual
	}
	end, v := endOfLine(b, 12)
	if v != whole {
		return 0, v
	}
	h.http10 = b[7] == '0'
	h.code = int(d1+1)*100 + int(d2)*10 + int(d3)
	h.status = span{9, end}
	return end + 2, whole
}

// take reads the line of b whose name ends at colon. It returns false when
// net/http has to judge it.
func (h *header) take(b []byte, from, colon, end int) bool {
	name, at := b[from:colon], trimSpan(b, colon+1, end)
	value := b[at.from:at.to]
	switch {
	case isName(name, "Content-Length", "content-length"):
		n, ok := parseNumber(value)
		if !ok || h.hasLength {
			return false
		}
		h.length, h.hasLength = n, true
	case isName(name, "Connection", "connection"):
		if string(value) == "keep-alive" {
			h.persists = true
			break
		}
		h.closes = h.closes || hasToken(value, "close")
		h.persists = h.persists || hasToken(value, "keep-alive")
	case isName(name, "Transfer-Encoding", "transfer-encoding"):
		if h.chunked || h.http10 || !equalFold(value, "chunked") {
			return false
		}
		h.chunked = true
	case isName(name, "Location", "location"):
		if !h.located {
			h.location, h.located = at, true
		}
	case isName(name, "Trailer", "trailer"):
		return false
	}
	return true
}

// interesting has the bit n set when take knows a name of n bytes.
const interesting = 1<<len("Content-Length") | 1<<len("Connection") | 1<<len("Transfer-Encoding") | 1<<len("Location") | 1<<len("Trailer")

// nameBytes are the bytes of a header's name (RFC 9110, 5.6.2).
var nameBytes = func() (t [256]bool) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			t[c] = true
		}
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// endOfLine returns where the line ends whose value begins at i: at its CR. Any
// other control character in it but a tab is unusual.
func endOfLine(b []byte, i int) (int, verdict) {
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		del := x ^ 0x7f*ones
		ctl := ((x-0x20*ones)&^x | (del-ones)&^del) & highs // the lowest byte marked is exact
		if ctl == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(ctl) / 8
		if b[i] != '\t' {
			return lineEnd(b, i)
		}
		i++
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' && c != '\t' || c == 0x7f {
			return lineEnd(b, i)
		}
	}
	return 0, partial
}

func lineEnd(b []byte, i int) (int, verdict) {
	switch {
	case b[i] != '\r':
		return 0, unusual
	case i+1 == len(b):
		return 0, partial
	case b[i+1] != '\n':
		return 0, unusual
	}
	return i, whole
}

// trimSpan returns what stands between two places without blanks around it.
func trimSpan(b []byte, from, to int) span {
	for from < to && isBlank(b[from]) {
		from++
	}
	for from < to && isBlank(b[to-1]) {
		to--
	}
	return span{from, to}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// parseNumber reads a length that fits without a second thought.
func parseNumber(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, true
}

// isName reports whether a header has the name, which is given as most servers
// write it and in lower case.
func isName(b []byte, usual, lower string) bool {
	return string(b) == usual || equalFold(b, lower)
}

// equalFold reports whether b is the lower-case text in any case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// hasToken reports whether a list such as "keep-alive, Upgrade" has the token.
func hasToken(list []byte, lower string) bool {
	for len(list) > 0 {
		one, rest, _ := bytes.Cut(list, comma)
		at := trimSpan(one, 0, len(one))
		if equalFold(one[at.from:at.to], lower) {
			return true
		}
		list = rest
	}
	return false
}

var comma = []byte{','}
