package vegeta

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"time"
)

// A Decoder reads results. It finds out by itself how they are encoded.
//
// Not for concurrent use.
type Decoder struct {
	name     string
	encoding Encoding
	n        uint64 // results so far
	next     func(*Result) error
	err      error // the end, io.EOF or worse
}

// NewDecoder returns a decoder for the file of that name, which only errors
// use. Input in none of the encodings is an error.
func NewDecoder(r io.Reader, name string) (*Decoder, error) {
	d := &Decoder{name: name}
	br := bufio.NewReaderSize(r, 64<<10)
	var err error
	if d.encoding, err = sniff(br); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch d.encoding {
	case Gob:
		d.next = decodeGob(br)
	case JSON:
		d.next = decodeJSON(br, maxLine)
	case CSV:
		d.next = decodeCSV(br, maxLine)
	}
	return d, nil
}

// Encoding returns how the results are encoded.
func (d *Decoder) Encoding() Encoding { return d.encoding }

// Decode reads the next result into r, or returns io.EOF at the end. Another
// error says which result could not be read, and ends the decoder. What r held
// before is gone, and what it holds after an error is empty.
func (d *Decoder) Decode(r *Result) error {
	*r = Result{}
	if d.err != nil {
		return d.err
	}
	err := d.next(r)
	if err == nil {
		d.n++
		return nil
	}
	*r = Result{}
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

// errNoResults tells apart a file that holds nothing.
var errNoResults = errors.New("no results: the file is empty")

// sniff looks at the first bytes. Gob begins with a length and a negative type
// id, one of which is never text.
func sniff(br *bufio.Reader) (Encoding, error) {
	head, err := br.Peek(4)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			err = errNoResults
		}
		return "", err
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
	return "", fmt.Errorf("bad results: they begin with %q, which is neither gob, JSON nor CSV", head)
}

func decodeGob(r io.Reader) func(*Result) error {
	dec := gob.NewDecoder(r)
	return func(r *Result) error { return dec.Decode(r) }
}

func decodeJSON(r io.Reader, maxLine int) func(*Result) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	return func(r *Result) error {
		for sc.Scan() {
			if line := bytes.TrimSpace(sc.Bytes()); len(line) > 0 {
				return decodeLine(line, r)
			}
		}
		if err := sc.Err(); err != nil {
			return err
		}
		return io.EOF
	}
}

func decodeLine(line []byte, r *Result) error {
	err := json.Unmarshal(line, r)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && line[len(line)-1] != '}' {
		return fmt.Errorf("%w in %q", io.ErrUnexpectedEOF, clip(string(line)))
	}
	if err != nil {
		return fmt.Errorf("%w in %q", err, clip(string(line)))
	}
	return nil
}

func decodeCSV(r io.Reader, maxLine int) func(*Result) error {
	dec := csv.NewReader(&boundedLines{r: r, max: maxLine})
	dec.FieldsPerRecord = csvColumns
	dec.TrimLeadingSpace = true
	dec.ReuseRecord = true
	return func(r *Result) error {
		rec, err := dec.Read()
		if err != nil {
			return err
		}
		return decodeRecord(rec, r)
	}
}

func decodeRecord(rec []string, r *Result) error {
	var bad error
	num := func(i int, what string, bits int) uint64 {
		n, err := strconv.ParseUint(rec[i], 10, bits)
		if err != nil && bad == nil {
			bad = fmt.Errorf("bad %s %q", what, clip(rec[i]))
		}
		return n
	}
	signed := func(i int, what string) int64 {
		n, err := strconv.ParseInt(rec[i], 10, 64)
		if err != nil && bad == nil {
			bad = fmt.Errorf("bad %s %q", what, clip(rec[i]))
		}
		return n
	}
	r.Timestamp = time.Unix(0, signed(0, "timestamp"))
	r.Code = uint16(num(1, "status code", 16))
	r.Latency = time.Duration(signed(2, "latency"))
	r.BytesOut = num(3, "number of bytes out", 64)
	r.BytesIn = num(4, "number of bytes in", 64)
	r.Error = rec[5]
	r.Attack = rec[7]
	r.Seq = num(8, "sequence number", 64)
	r.Method, r.URL = rec[9], rec[10]
	if bad != nil {
		return bad
	}
	var err error
	if rec[6] != "" {
		if r.Body, err = base64.StdEncoding.DecodeString(rec[6]); err != nil {
			return fmt.Errorf("bad body: %w", err)
		}
	}
	if rec[11] != "" {
		if r.Headers, err = decodeHeaders(rec[11]); err != nil {
			return fmt.Errorf("bad headers: %w", err)
		}
	}
	return nil
}

func decodeHeaders(s string) (http.Header, error) {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, err
	}
	h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(raw))).ReadMIMEHeader()
	return http.Header(h), err
}

// boundedLines fails on a line longer than max.
type boundedLines struct {
	r   io.Reader
	max int
	n   int // bytes since the last newline
}

func (b *boundedLines) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		b.n = n - i - 1
	} else {
		b.n += n
	}
	if b.n > b.max {
		return n, fmt.Errorf("line longer than %d MiB", b.max>>20)
	}
	return n, err
}

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
	for range m.decs {
		d := m.decs[m.turn%len(m.decs)]
		m.turn++
		err := d.Decode(r)
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
