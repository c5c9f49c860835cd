package epollhttp

import (
	"fmt"
	"io"

	"github.com/kasoku/kasoku/load"
)

// A parser reads the answers of one connection, one after the other. It judges
// them as net/http does: the same code, the same bytes of body, the same words
// for what is wrong, the same opinion on whether the connection can be kept.
//
// It keeps no reference to the bytes that it is fed. The zero value is ready
// for [parser.start]. Not for concurrent use.
type parser struct {
	code      int    // status of the final answer; valid once its header is read
	status    string // "404 Not Found"; only of a code outside 200..399, of an earlier answer otherwise
	body      uint64 // bytes of the body so far, without transfer encoding; not decompressed
	keepAlive bool   // the server keeps the connection; valid once feed or eof said done
	location  []byte // Location of a 3xx answer; empty without one; valid until start

	// memo, when not nil, is what the answer will probably look like. Parsers of
	// one thread may share it; those of answers that look alike should, such as
	// those to one target.
	memo *memo

	state  state
	head   bool   // the answer is to a HEAD request
	left   uint64 // bytes missing of the body, or of the chunk
	excess int64  // bytes of chunks that were not data, beyond what is allowed for
	past   int    // bytes of the 1xx headers before this one
	said   header // what the header says
	odd    bool   // the header is for net/http to read
	hold   []byte // what came of a header, of a chunk's line or of a trailer that came in pieces
}

// A state is where in an answer the next byte stands.
type state uint8

const (
	inHeader  state = iota
	inLength        // body of a known length
	inClose         // body that ends with the connection
	chunkLine       // length of a chunk
	chunkData       // data of a chunk
	chunkEnd        // CRLF after the data of a chunk
	inTrailer       // after the last chunk
	complete        // after the answer
)

// maxKept is how much of hold is kept for the next answer.
const maxKept = 4 << 10

// start makes ready for the next answer. With head it answers a HEAD request.
func (p *parser) start(head bool) {
	p.head = head
	p.state = inHeader
	p.body = 0
	p.past = 0
	p.location = p.location[:0]
	p.nextHeader()
}

// nextHeader makes ready for the next header of the same answer.
func (p *parser) nextHeader() {
	p.said = header{}
	p.odd = false
	p.release()
}

// release empties hold.
func (p *parser) release() {
	if cap(p.hold) > maxKept {
		p.hold = nil
	}
	p.hold = p.hold[:0]
}

// feed takes what was read. It consumes n bytes: all of them, or those up to the
// end of the final answer when done; what is left then belongs to the next
// answer, or to nobody, and with nothing in flight the connection must not be
// used again. After an error the connection is of no use.
func (p *parser) feed(b []byte) (n int, done bool, err error) {
	for {
		rest := b[n:]
		if len(rest) == 0 || p.state == complete {
			return n, p.state == complete, nil
		}
		var k int
		switch p.state {
		case inHeader:
			k, err = p.header(rest)
		case inLength:
			k = p.take(rest)
			if p.left == 0 {
				p.state = complete
			}
		case inClose:
			k = len(rest)
			p.body += uint64(k)
		default:
			k, err = p.chunk(rest)
		}
		n += k
		if err != nil {
			return n, false, err
		}
	}
}

// take counts bytes of the body, up to left.
func (p *parser) take(b []byte) int {
	k := min(uint64(len(b)), p.left)
	p.left -= k
	p.body += k
	return int(k)
}

// eof takes that the server has closed its side: done when that ends the body,
// otherwise the error of net/http, which is io.EOF when nothing had come.
func (p *parser) eof() (done bool, err error) {
	switch p.state {
	case inClose:
		p.state = complete
		return true, nil
	case inHeader, inTrailer:
		return false, p.broke(io.EOF)
	default:
		return false, io.ErrUnexpectedEOF
	}
}

// broke returns the error of net/http for a connection on which reading failed
// with cause. It is cause itself when nothing had come, and in a body.
func (p *parser) broke(cause error) error {
	switch {
	case p.state == inHeader && p.began():
		return p.brokeInHeader(cause)
	case p.state == inTrailer:
		return p.brokeInTrailer()
	default:
		return cause
	}
}

// began reports whether a byte of this answer has come.
func (p *parser) began() bool {
	return p.state != inHeader || len(p.hold) > 0 || p.past > 0
}

// awaitsHeader reports whether the header of the final answer is not complete
// yet. The error of a failed request has the words of [template.wrap] around it
// then, and not later.
func (p *parser) awaitsHeader() bool { return p.state == inHeader }

// settle takes what the header says that has just ended.
func (p *parser) settle(h *header) {
	p.code = h.code
	p.keepAlive = h.keeps()
	switch {
	case h.code == 101 || h.code == 204 || h.code == 304 || p.head:
		p.state = complete
	case h.chunked:
		p.state, p.excess = chunkLine, 0
		p.release()
	case h.length > 0:
		p.state, p.left = inLength, uint64(h.length)
	case h.hasLength:
		p.state = complete
	default:
		p.state, p.keepAlive = inClose, false
	}
}

// connectionBroken words what net/http's transport found wrong in a header.
func connectionBroken(err error) error {
	return fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", err)
}

// errLongHeader is net/http's for a header beyond its limit.
func errLongHeader() error {
	return connectionBroken(fmt.Errorf("net/http: server response headers exceeded %d bytes; aborted", load.MaxResponseHeader))
}
