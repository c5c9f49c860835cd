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
		return &Encoder{w: w, coder: &jsonEncoder{texts: newEscapedTexts(appendJSON[string])}}, nil
	case CSV:
		return &Encoder{w: w, coder: &csvEncoder{texts: newEscapedTexts(appendCSV)}}, nil
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

// An escaped holds a text and how an encoding writes it. Most results say the
// same as the last one.
type escaped struct {
	text   string
	bytes  []byte
	escape func(dst []byte, s string) []byte
}

func (e *escaped) append(dst []byte, s string) []byte {
	if s != e.text || len(e.bytes) == 0 {
		e.text, e.bytes = s, e.escape(e.bytes[:0], s)
	}
	return append(dst, e.bytes...)
}

// escapedTexts are those of a Result.
type escapedTexts struct{ attack, error, method, url escaped }

func newEscapedTexts(escape func([]byte, string) []byte) escapedTexts {
	e := escaped{escape: escape}
	return escapedTexts{e, e, e, e}
}
