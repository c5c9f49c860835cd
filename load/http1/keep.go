package http1

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
)

// Kept is what a [Parser] keeps of an answer. Its memory is the caller's, who may
// preset it: Header is overwritten, Body is appended to.
type Kept struct {
	// Header has the fields of the final header, a line each that ends with CRLF:
	// as the server wrote them, or sorted and in net/http's spelling when it wrote
	// them in an unusual way. The status line is not part of it, nor are trailers.
	Header []byte
	Body   []byte // without transfer encoding; not decompressed

	MaxBody int64 // bytes that Body may have; 0: no limit
}

// A BodyTooLongError reports that a body was longer than [Kept.MaxBody].
type BodyTooLongError struct{ Max int64 }

// Error returns the limit.
func (e *BodyTooLongError) Error() string { return fmt.Sprintf("body is longer than %d bytes", e.Max) }

// maxAhead is how much memory is taken on a server's word that so much will come.
const maxAhead = 1 << 20

// data appends bytes of the body, and left more are to come.
func (k *Kept) data(b []byte, left uint64) error {
	if k.MaxBody > 0 && int64(len(k.Body)+len(b)) > k.MaxBody {
		return &BodyTooLongError{k.MaxBody}
	}
	if cap(k.Body)-len(k.Body) < len(b) {
		k.Body = slices.Grow(k.Body, len(b)+int(min(left, maxAhead)))
	}
	k.Body = append(k.Body, b...)
	return nil
}

// oddHeader keeps a header that net/http has read.
func (k *Kept) oddHeader(h http.Header) {
	buf := bytes.NewBuffer(k.Header[:0])
	_ = h.Write(buf) // a buffer takes everything
	k.Header = buf.Bytes()
}

// keepHeader keeps the fields of the header that b begins with.
func (p *Parser) keepHeader(h *header, b []byte) {
	const end = len("\r\n")
	p.Keep.Header = append(p.Keep.Header[:0], b[h.status.to+end:h.at-end]...)
}
