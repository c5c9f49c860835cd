package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/textproto"
)

// The limits and the words of net/http's reader of chunks, and of the trailer
// after them.
const (
	maxChunkLine = 4096      // with its CRLF; as the buffer of a net/http connection
	maxTrailer   = 4096      // with its empty line; the same buffer
	maxExcess    = 16 * 1024 // see Parser.chunkLine
)

var (
	errLineTooLong   = errors.New("header line too long")
	errBareLF        = errors.New("chunked line ends with bare LF")
	errInvalidCR     = errors.New("invalid CR in chunked line")
	errNoLength      = errors.New("empty hex number for chunk length")
	errBadLength     = errors.New("invalid byte in chunk length")
	errHugeLength    = errors.New("http chunk length too large")
	errNonData       = errors.New("chunked encoding contains too much non-data")
	errChunkEnd      = errors.New("malformed chunked encoding")
	errTrailerEOF    = errors.New("http: unexpected EOF reading trailer")
	errTrailerTooBig = errors.New("http: suspiciously long trailer after chunked body")
)

// chunk takes bytes of a body in chunks and consumes up to the end of a part.
func (p *Parser) chunk(b []byte) (n int, err error) {
	switch p.state {
	case chunkLine:
		return p.chunkLine(b)
	case chunkData:
		n = p.take(b)
		if p.Keep != nil {
			err = p.Keep.data(b[:n], p.left)
		}
		if p.left == 0 {
			p.state = chunkEnd
		}
		return n, err
	case chunkEnd:
		return p.chunkEnd(b)
	default:
		return p.trailer(b)
	}
}

// chunkLine takes the line before a chunk.
func (p *Parser) chunkLine(b []byte) (n int, err error) {
	n = bytes.IndexByte(b, '\n') + 1
	missing := n == 0
	if missing {
		n = len(b)
	}
	if len(p.hold)+n > maxChunkLine || missing && len(p.hold)+n == maxChunkLine {
		return n, errLineTooLong
	}
	if missing {
		p.hold = append(p.hold, b...)
		return n, nil
	}
	line := b[:n]
	if len(p.hold) > 0 {
		p.hold = append(p.hold, line...)
		line = p.hold
	}
	err = p.beginChunk(line)
	p.release()
	return n, err
}

// beginChunk reads the line before a chunk.
func (p *Parser) beginChunk(line []byte) error {
	end := len(line) - 2
	switch bytes.IndexByte(line, '\r') {
	case -1:
		return errBareLF
	case end:
	default:
		return errInvalidCR
	}
	// Each chunk may cost 16 bytes and twice its data; what is beyond adds up, so
	// that a server cannot send extensions without end.
	p.excess += int64(len(line))
	digits, _, _ := bytes.Cut(bytes.TrimRight(line[:end], " \t"), semicolon)
	n, err := parseHex(digits)
	if err != nil {
		return err
	}
	p.excess = max(p.excess-16-2*int64(n), 0)
	switch {
	case n == 0:
		p.state = inTrailer
	case p.excess > maxExcess:
		return errNonData
	default:
		p.state, p.left = chunkData, n
	}
	return nil
}

var semicolon = []byte{';'}

func parseHex(b []byte) (n uint64, err error) {
	if len(b) == 0 {
		return 0, errNoLength
	}
	for i, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, errBadLength
		}
		if i == 16 {
			return 0, errHugeLength
		}
		n = n<<4 | uint64(c)
	}
	return n, nil
}

// chunkEnd takes the CRLF after the data of a chunk.
func (p *Parser) chunkEnd(b []byte) (n int, err error) {
	n = min(2-len(p.hold), len(b))
	end := b[:n]
	if n < 2 {
		p.hold = append(p.hold, end...)
		end = p.hold
	}
	if len(end) < 2 {
		return n, nil
	}
	if string(end) != "\r\n" {
		return n, errChunkEnd
	}
	p.release()
	p.state = chunkLine
	return n, nil
}

// trailer takes what stands after the last chunk: most often an empty line.
func (p *Parser) trailer(b []byte) (n int, err error) {
	before := len(p.hold)
	if before == 0 && len(b) >= 2 && b[0] == '\r' && b[1] == '\n' {
		p.state = complete
		return 2, nil
	}
	p.hold = append(p.hold, b...)
	if len(p.hold) < 2 {
		return len(b), nil
	}
	if p.hold[0] == '\r' && p.hold[1] == '\n' {
		p.state = complete
		return 2 - before, nil
	}
	window := p.hold[:min(len(p.hold), maxTrailer)]
	if !bytes.Contains(window, []byte("\r\n\r\n")) {
		if len(window) == maxTrailer {
			return len(b), errTrailerTooBig
		}
		return len(b), nil
	}
	r := bytes.NewReader(p.hold)
	br := bufio.NewReader(r)
	if _, err := textproto.NewReader(br).ReadMIMEHeader(); err != nil {
		if errors.Is(err, io.EOF) {
			err = errTrailerEOF
		}
		return len(b), err
	}
	used := len(p.hold) - r.Len() - br.Buffered()
	p.state = complete
	if used < before { // an empty line that ends with LF alone came before this piece
		p.KeepAlive = false
		used = before
	}
	return used - before, nil
}

// brokeInTrailer is Broke after the last chunk.
func (p *Parser) brokeInTrailer() error {
	if len(p.hold) < 2 {
		return errTrailerEOF
	}
	return errTrailerTooBig
}
