package vegeta

import (
	"fmt"
	"io"
)

// An Encoding is how results are written.
type Encoding string

// The encodings.
const (
	Gob  Encoding = "gob"
	JSON Encoding = "json"
	CSV  Encoding = "csv"
)

// An Encoder turns results into bytes, one after the other: those that
// encoding/gob, encoding/json and encoding/csv would write.
//
// Not for concurrent use.
type Encoder struct {
	w       io.Writer
	coder   coder
	headers headers
	buf     []byte
}

// A coder appends one result. After an error dst is as it was. It takes no
// notice of r.Headers.
type coder interface {
	append(dst []byte, r *Result, h *headers) ([]byte, error)
}

// NewEncoder returns an encoder; an empty encoding means [Gob], which is what
// Vegeta's attack writes.
func NewEncoder(w io.Writer, e Encoding) (*Encoder, error) {
	switch e {
	case Gob, "":
		return &Encoder{w: w, coder: &gobEncoder{}}, nil
	case JSON:
		return &Encoder{w: w, coder: &jsonEncoder{}}, nil
	case CSV:
		return &Encoder{w: w, coder: &csvEncoder{}}, nil
	}
	return nil, fmt.Errorf("bad encoding %q: want %s, %s or %s", string(e), Gob, JSON, CSV)
}

// Encode writes one result, in one write.
func (e *Encoder) Encode(r *Result) (err error) {
	if e.buf, err = e.AppendResult(e.buf[:0], r); err != nil {
		return err
	}
	_, err = e.w.Write(e.buf)
	return err
}

// AppendResult appends one result to dst instead of writing it. It fails for
// times that the encoding cannot hold; dst is then as it was.
func (e *Encoder) AppendResult(dst []byte, r *Result) ([]byte, error) {
	e.headers.set(r.Headers)
	return e.coder.append(dst, r, &e.headers)
}
