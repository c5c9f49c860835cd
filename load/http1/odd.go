package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Headers that scan does not take are read by net/http, so that it is net/http
// that judges them. That is slow, and rare.

// errMore stands for bytes that have not come yet.
var errMore = errors.New("more bytes are needed")

// maxTried is the length in bytes up to which an unusual header is tried after each of
// its lines. A longer one is tried when its empty line has come.
const maxTried = 8 << 10

// holdOdd is header for one that is unusual, or was so far.
func (p *Parser) holdOdd(b []byte) (n int, err error) {
	before := len(p.hold)
	p.hold = append(p.hold, b...)
	return p.tryOdd(before)
}

// tryOdd has net/http read the unusual header in hold, of which the bytes from
// before on are new.
func (p *Parser) tryOdd(before int) (n int, err error) {
	p.odd = true
	fresh := len(p.hold) - before
	line := bytes.LastIndexByte(p.hold[before:], '\n') + 1
	next := before > 0 && p.hold[before-1] == '\n' // what is new says whether the last line goes on
	if line == 0 && !next || before > maxTried && !hasEmptyLine(p.hold[before-3:]) {
		return fresh, p.limit()
	}
	// Only whole lines: net/http takes for a line what stands at the end.
	lines, rest := p.hold[:before+line], p.hold[before+line:]
	status, location, all, err := p.ask(lines, errMore, errMore)
	switch {
	case errors.Is(err, errMore):
		return fresh, p.limit()
	case err != nil && all && (len(rest) == 0 || isBlank(rest[0])):
		return fresh, p.limit() // a bad line is reported with those that it is folded into
	case err != nil:
		return fresh, err
	}
	used := p.said.at - before // headed may begin another header
	return used, p.headed([]byte(status), []byte(location))
}

func hasEmptyLine(b []byte) bool {
	return bytes.Contains(b, []byte("\n\r\n")) || bytes.Contains(b, []byte("\n\n"))
}

// ask has net/http read the header that h begins with, into p.said. Reading beyond
// h fails with first, and then with later; all reports whether it was tried.
func (p *Parser) ask(h []byte, first, later error) (status, location string, all bool, err error) {
	r := &thenFails{rest: h, first: first, later: later}
	br := bufio.NewReader(r)
	method := http.MethodGet
	if p.head {
		method = http.MethodHead
	}
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		return "", "", r.failed, Broken(err)
	}
	p.said = header{
		at:        len(h) - len(r.rest) - br.Buffered(),
		code:      resp.StatusCode,
		length:    resp.ContentLength,
		hasLength: resp.ContentLength >= 0,
		chunked:   len(resp.TransferEncoding) > 0,
		closes:    resp.Close,
	}
	// Nothing is read through the body, and what it reads from is garbage.
	_ = resp.Body.Close()
	if p.Keep != nil {
		p.Keep.oddHeader(resp.Header)
	}
	return resp.Status, resp.Header.Get("Location"), r.failed, nil
}

// brokeInHeader is Broke when a part of a header has come.
func (p *Parser) brokeInHeader(cause error) error {
	// A socket reports only once that it was reset.
	if _, _, _, err := p.ask(p.hold, cause, io.EOF); err != nil {
		return err
	}
	return Broken(io.ErrUnexpectedEOF)
}

// thenFails gives bytes and then fails.
type thenFails struct {
	rest         []byte
	first, later error
	failed       bool
}

// Read implements [io.Reader].
func (r *thenFails) Read(b []byte) (int, error) {
	if len(r.rest) > 0 {
		n := copy(b, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	err := r.first
	r.first, r.failed = r.later, true
	return 0, err
}
