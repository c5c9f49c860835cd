package http1

import (
	"fmt"
	"io"

	"github.com/kasoku/kasoku/load"
)

// A Parser reads the answers of one connection, one after the other. It judges
// them as net/http does: the same code, the same bytes of body, the same words
// for what is wrong, the same opinion on whether the connection can be kept.
//
// It keeps no reference to the bytes that it is fed. The zero value is ready
// for [Parser.Start]. Not for concurrent use.
type Parser struct {
	Code      int    // status of the final answer; valid once its header is read
	Status    string // "404 Not Found"; only of a code outside 200..399, of an earlier answer otherwise
	Body      uint64 // bytes of the body so far, without transfer encoding; not decompressed
	KeepAlive bool   // the server keeps the connection; valid once Feed or EOF said done
	Location  []byte // Location of a 3xx answer; empty without one; valid until Start

	// Memo, when not nil, is what the answer will probably look like. Parsers of
	// one thread may share it; those of answers that look alike should, such as
	// those to one target.
	Memo *Memo

	// Keep, when not nil, is given the header and the body of the final answer.
	// Without it they are judged and counted only.
	Keep *Kept

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

// Start makes ready for the next answer. With head it answers a HEAD request.
func (p *Parser) Start(head bool) {
	p.head = head
	p.state = inHeader
	p.Body = 0
	p.past = 0
	p.Location = p.Location[:0]
	p.nextHeader()
}

// nextHeader makes ready for the next header of the same answer.
func (p *Parser) nextHeader() {
	p.said = header{}
	p.odd = false
	p.release()
}

// release empties hold.
func (p *Parser) release() {
	if cap(p.hold) > maxKept {
		p.hold = nil
	}
	p.hold = p.hold[:0]
}

// Feed takes what was read. It consumes n bytes: all of them, or those up to the
// end of the final answer when done; what is left then belongs to the next
// answer, or to none, and with nothing in flight the connection must not be
// used again. After an error the connection is of no use.
func (p *Parser) Feed(b []byte) (n int, done bool, err error) {
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
			if p.Keep != nil {
				err = p.Keep.data(rest[:k], p.left)
			}
			if p.left == 0 {
				p.state = complete
			}
		case inClose:
			k = len(rest)
			p.Body += uint64(k)
			if p.Keep != nil {
				err = p.Keep.data(rest, 0)
			}
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
func (p *Parser) take(b []byte) int {
	k := min(uint64(len(b)), p.left)
	p.left -= k
	p.Body += k
	return int(k)
}

// EOF takes that the server has closed its side: done when that ends the body,
// otherwise the error of net/http, which is io.EOF when nothing had come.
func (p *Parser) EOF() (done bool, err error) {
	switch p.state {
	case inClose:
		p.state = complete
		return true, nil
	case inHeader, inTrailer:
		return false, p.Broke(io.EOF)
	default:
		return false, io.ErrUnexpectedEOF
	}
}

// Broke returns the error of net/http for a connection on which reading failed
// with cause. It is cause itself when nothing had come, and in a body.
func (p *Parser) Broke(cause error) error {
	switch {
	case p.state == inHeader && p.Began():
		return p.brokeInHeader(cause)
	case p.state == inTrailer:
		return p.brokeInTrailer()
	default:
		return cause
	}
}

// Began reports whether a byte of this answer has come.
func (p *Parser) Began() bool {
	return p.state != inHeader || len(p.hold) > 0 || p.past > 0
}

// AwaitsHeader reports whether the header of the final answer is not complete
// yet. As in net/http, the error of a request that fails then is given its method
// and URL; a later one is not.
func (p *Parser) AwaitsHeader() bool { return p.state == inHeader }

// settle takes what the header says that has just ended.
func (p *Parser) settle(h *header) {
	p.Code = h.code
	p.KeepAlive = h.keeps()
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
		p.state, p.KeepAlive = inClose, false
	}
}

// Broken words what net/http's transport found wrong in a header.
func Broken(err error) error {
	return fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", err)
}

// errLongHeader is net/http's for a header beyond its limit.
func errLongHeader() error {
	return Broken(fmt.Errorf("net/http: server response headers exceeded %d bytes; aborted", load.MaxResponseHeader))
}
