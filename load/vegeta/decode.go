package vegeta

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Decoder reads results. It finds out by itself how they are encoded.
//
// Not for concurrent use.
type Decoder struct {
	name     string
	encoding Encoding
	n        uint64 // results so far
	codec    codec
	brief    bool
	headers  headers
	err      error // the end, io.EOF or worse
}

// A codec reads results of one encoding.
type codec interface {
	// next reads a result into r, which is empty, and its headers into h, which
	// hold something left over when there are none. The body and the headers
	// are valid until the next call. The end is io.EOF.
	next(r *Result, h *headers) error

	// leaveOut makes the codec read over bodies and headers from then on.
	leaveOut()
}

// NewDecoder returns a decoder for the file of that name, which only errors
// use. Input in none of the encodings is an error.
func NewDecoder(r io.Reader, name string) (*Decoder, error) {
	d := &Decoder{name: name}
	src := newSource(r, maxLine+16)
	var err error
	if d.encoding, err = sniffEncoding(src); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch d.encoding {
	case Gob:
		d.codec = newGobDecoder(src)
	case JSON:
		d.codec = newJSONDecoder(src)
	case CSV:
		d.codec = newCSVDecoder(src)
	}
	return d, nil
}

// Encoding returns how the results are encoded.
func (d *Decoder) Encoding() Encoding { return d.encoding }

// LeaveOut makes Decode leave out bodies and headers, which are most of a file
// of Vegeta's and most of the work. What is left out is not checked either.
func (d *Decoder) LeaveOut() {
	d.brief = true
	d.codec.leaveOut()
}

// Decode reads the next result into r, or returns io.EOF at the end. Another
// error says which result could not be read, and ends the decoder. What r held
// before is gone, and what it holds after an error is empty.
func (d *Decoder) Decode(r *Result) error {
	err := d.read(r, &d.headers)
	if d.brief {
		r.Body = nil
		return err
	}
	r.Body = slices.Clone(r.Body)
	r.Headers = d.headers.header()
	return err
}

// read is Decode, but the headers come in h, and they and the body are valid
// until the next call.
func (d *Decoder) read(r *Result, h *headers) error {
	*r = Result{}
	h.reset()
	if d.err != nil {
		return d.err
	}
	err := d.codec.next(r, h)
	if err == nil {
		d.n++
		return nil
	}
	*r = Result{}
	h.reset()
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%s: cut short after %d results: %w", d.name, d.n, err)
	default:
		err = fmt.Errorf("%s: bad result %d: %w", d.name, d.n+1, err)
	}
	d.err = err
	return err
}

// errNoResults marks a file that holds nothing.
var errNoResults error = noResultsError{}

type noResultsError struct{}

func (noResultsError) Error() string { return "no results: the file is empty" }

// Hint says where results come from.
func (noResultsError) Hint() string {
	return "results are what `kasoku attack -output FILE` writes; a run is shown by `kasoku show`, and `show --html FILE` is its report"
}

// sniffEncoding looks at the first bytes. Gob begins with a length and a negative type
// id, one of which is never text.
func sniffEncoding(src *source) (Encoding, error) {
	head := slices.Clone(src.peek(4))
	if len(head) == 0 {
		if errors.Is(src.err, io.EOF) {
			return "", errNoResults
		}
		return "", src.err
	}
	for _, b := range head {
		if b >= 0x7f || b < ' ' && b != '\t' && b != '\r' && b != '\n' {
			return Gob, nil
		}
	}
	switch b := bytes.TrimLeft(head, " \t\r\n"); {
	case len(b) == 0 || b[0] == '{':
		return JSON, nil
	case b[0] >= '0' && b[0] <= '9' || b[0] == '-' || b[0] == '"':
		return CSV, nil
	}
	return "", &encodingError{head}
}

// An encodingError is one of a file that holds no results.
type encodingError struct{ head []byte }

func (e *encodingError) Error() string {
	return fmt.Sprintf("bad results: they begin with %q, which is neither gob, JSON nor CSV", e.head)
}

// Hint says what such a file may be.
func (e *encodingError) Hint() string {
	if string(e.head) == "SQLi" {
		return "that is a run file: `kasoku show FILE`"
	}
	return "results are what `kasoku attack -output FILE` writes"
}

// parseUint reads the digits that b begins with. It returns size 0 when there
// are none, and when they are more than surely fit.
func parseUint(b []byte) (n uint64, size int) {
	for size < len(b) && b[size]-'0' <= 9 {
		n = n*10 + uint64(b[size]-'0')
		size++
	}
	if size > 19 {
		return 0, 0
	}
	return n, size
}

// A lastText makes strings of bytes that mostly say the same as the last time.
type lastText struct{ s string }

func (l *lastText) text(b []byte) string {
	if string(b) != l.s {
		l.s = string(b)
	}
	return l.s
}

// lastTexts are those of a Result.
type lastTexts struct{ attack, error, method, url lastText }

// A RoundRobin reads results of several files in turn, as Vegeta does, so that
// files of one attack come out roughly in the order of time.
type RoundRobin struct {
	decs []*Decoder
	turn int
	bad  error // the first error that is not an end
}

// NewRoundRobin returns a decoder over all of them.
func NewRoundRobin(decs ...*Decoder) *RoundRobin { return &RoundRobin{decs: decs} }

// Decode reads the next result. A file that cannot be read on is left out from
// then; its error comes after all other files were read, in place of io.EOF.
func (m *RoundRobin) Decode(r *Result) error {
	return m.each(func(d *Decoder) error { return d.Decode(r) })
}

// LeaveOut is that of [Decoder], for all files.
func (m *RoundRobin) LeaveOut() {
	for _, d := range m.decs {
		d.LeaveOut()
	}
}

func (m *RoundRobin) read(r *Result, h *headers) error {
	return m.each(func(d *Decoder) error { return d.read(r, h) })
}

// each lets the files in turn, from the next on, read a result until one does.
func (m *RoundRobin) each(read func(*Decoder) error) error {
	for range m.decs {
		d := m.decs[m.turn%len(m.decs)]
		m.turn++
		err := read(d)
		if err == nil {
			return nil
		}
		if !errors.Is(err, io.EOF) && m.bad == nil {
			m.bad = err
		}
	}
	if m.bad != nil {
		return m.bad
	}
	return io.EOF
}
