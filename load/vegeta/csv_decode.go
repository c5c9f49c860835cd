package vegeta

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/textproto"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// The CSV decoder reads records that lie on one line and whose numbers are
// plain. From the first other one on it leaves all to encoding/csv.
type csvDecoder struct {
	src   *source
	brief bool
	slow  *csv.Reader // reads the rest, once something unusual came
	line  int         // lines taken so far

	fields [csvColumns][]byte
	text   []byte // holds fields that were quoted
	body   []byte
	header []byte
	base64 base64Decoder
	texts  lastTexts
}

func newCSVDecoder(src *source) *csvDecoder { return &csvDecoder{src: src} }

func (d *csvDecoder) leaveOut() { d.brief = true }

// next implements codec.
func (d *csvDecoder) next(r *Result, h *headers) error {
	for d.slow == nil {
		line, size, err := d.src.line()
		if err != nil {
			return err
		}
		cut := size == len(line) // a last line without its newline may be all there is of it
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) > 0 && !(d.split(line) && d.decode(r, h, d.brief && !cut)) {
			d.giveUp()
			break
		}
		d.src.take(size)
		d.line++
		if len(line) > 0 {
			return nil
		}
	}
	*r = Result{}
	rec, err := d.slow.Read()
	if err == nil {
		err = decodeRecord(rec, r)
	}
	h.set(r.Headers)
	r.Headers = nil
	return err
}

// giveUp leaves the rest to encoding/csv. It is given as many empty lines as
// were read before, which it skips, so that it names lines by their number in
// the file.
func (d *csvDecoder) giveUp() {
	before := io.LimitReader(newlines{}, int64(d.line))
	d.slow = csv.NewReader(io.MultiReader(before, &boundedLines{r: d.src, max: d.src.most}))
	d.slow.FieldsPerRecord = csvColumns
	d.slow.TrimLeadingSpace = true
	d.slow.ReuseRecord = true
}

type newlines struct{}

func (newlines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// split finds the fields of a line. It returns false when they are not twelve,
// or not plain.
func (d *csvDecoder) split(line []byte) bool {
	d.text = d.text[:0]
	quotes := bytes.IndexByte(line, '"') >= 0
	for i := range d.fields {
		last := i == csvColumns-1
		if len(line) > 0 && startsWithSpace(line) {
			return false
		}
		if quotes && len(line) > 0 && line[0] == '"' {
			var ok bool
			if d.fields[i], line, ok = d.unquote(line[1:]); !ok || (len(line) == 0) != last {
				return false
			}
			if !last {
				line = line[1:]
			}
			continue
		}
		n := bytes.IndexByte(line, ',')
		if last != (n < 0) {
			return false
		}
		if last {
			n = len(line)
		}
		if d.fields[i] = line[:n:n]; quotes && bytes.IndexByte(d.fields[i], '"') >= 0 {
			return false
		}
		if !last {
			line = line[n+1:]
		}
	}
	return true
}

func startsWithSpace(b []byte) bool {
	if b[0] < utf8.RuneSelf {
		return b[0] == ' ' || b[0] >= '\t' && b[0] <= '\r'
	}
	r, _ := utf8.DecodeRune(b)
	return unicode.IsSpace(r)
}

// unquote reads a field whose opening quote was read. What follows is empty or
// begins with a comma.
func (d *csvDecoder) unquote(line []byte) (field, rest []byte, ok bool) {
	from := len(d.text)
	for {
		n := bytes.IndexByte(line, '"')
		if n < 0 {
			return nil, nil, false
		}
		d.text = append(d.text, line[:n]...)
		if line = line[n+1:]; len(line) == 0 || line[0] == ',' {
			return d.text[from:len(d.text):len(d.text)], line, true
		}
		if line[0] != '"' {
			return nil, nil, false
		}
		d.text = append(d.text, '"')
		line = line[1:]
	}
}

// decode makes a result of the fields, without body and headers when it is to be
// brief. It returns false when a field is not plain.
func (d *csvDecoder) decode(r *Result, h *headers, brief bool) bool {
	f := &d.fields
	ok := true
	num := func(b []byte) uint64 {
		n, size := parseUint(b)
		if size == 0 || size != len(b) {
			ok = false
		}
		return n
	}
	signed := func(b []byte) int64 {
		digits := bytes.TrimPrefix(b, []byte("-"))
		n := num(digits)
		if n > math.MaxInt64 {
			ok = false
		}
		if len(digits) < len(b) {
			return -int64(n)
		}
		return int64(n)
	}
	r.Timestamp = time.Unix(0, signed(f[0]))
	code := num(f[1])
	r.Code = uint16(code)
	r.Latency = time.Duration(signed(f[2]))
	r.BytesOut, r.BytesIn = num(f[3]), num(f[4])
	r.Seq = num(f[8])
	if !ok || code > math.MaxUint16 {
		return false
	}
	r.Error, r.Attack = d.texts.error.text(f[5]), d.texts.attack.text(f[7])
	r.Method, r.URL = d.texts.method.text(f[9]), d.texts.url.text(f[10])
	if brief {
		return true
	}
	if len(f[6]) > 0 {
		var err error
		if d.body, err = d.base64.append(d.body[:0], f[6]); err != nil {
			return false
		}
		r.Body = d.body
	}
	return len(f[11]) == 0 || d.readHeaders(f[11], h)
}

// readHeaders reads headers as they stand on the wire, in base64.
func (d *csvDecoder) readHeaders(b []byte, h *headers) bool {
	var err error
	if d.header, err = d.base64.append(d.header[:0], b); err != nil {
		return false
	}
	if plainHeaders(d.header, h) {
		return true
	}
	m, err := readMIME(d.header)
	h.set(m)
	return err == nil
}

// plainHeaders reads lines of a name, a colon, a space and a value, names
// sorted and canonical, to the empty line. It returns false for any other form.
func plainHeaders(b []byte, h *headers) bool {
	h.reset()
	h.present = true
	var last []byte
	for {
		n := bytes.IndexByte(b, '\n')
		if n < 1 || b[n-1] != '\r' {
			return false
		}
		line := b[:n-1]
		b = b[n+1:]
		if len(line) == 0 {
			return len(b) == 0
		}
		name, value, ok := bytes.Cut(line, []byte(": "))
		if !ok || !isCanonical(name) || !plainValue(value) {
			return false
		}
		switch c := bytes.Compare(last, name); {
		case c > 0:
			return false
		case c < 0:
			h.begin(name)
		}
		h.value(value)
		last = name
	}
}

// isCanonical reports whether the name is of letters, digits and dashes, with
// capitals where http.CanonicalHeaderKey has them.
func isCanonical(name []byte) bool {
	start := true
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			if !start {
				return false
			}
		case c >= 'a' && c <= 'z':
			if start {
				return false
			}
		case c != '-' && (c < '0' || c > '9'):
			return false
		}
		start = c == '-'
	}
	return len(name) > 0
}

// plainValue reports whether the value is of ASCII without controls, and
// without space at its ends.
func plainValue(v []byte) bool {
	if len(v) > 0 && (v[0] == ' ' || v[len(v)-1] == ' ') {
		return false
	}
	for _, c := range v {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func decodeRecord(rec []string, r *Result) error {
	var bad error
	num := func(i int, what string, bits int) uint64 {
		n, err := strconv.ParseUint(rec[i], 10, bits)
		if err != nil && bad == nil {
			bad = fmt.Errorf("bad %s %q", what, clipText(rec[i]))
		}
		return n
	}
	signed := func(i int, what string) int64 {
		n, err := strconv.ParseInt(rec[i], 10, 64)
		if err != nil && bad == nil {
			bad = fmt.Errorf("bad %s %q", what, clipText(rec[i]))
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
	if rec[11] == "" {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(rec[11])
	if err == nil {
		r.Headers, err = readMIME(raw)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // of the headers, not of the file
	}
	if err != nil {
		return fmt.Errorf("bad headers: %w", err)
	}
	return nil
}

func readMIME(raw []byte) (http.Header, error) {
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
