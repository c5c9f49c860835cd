package vegeta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"
)

// The JSON decoder reads lines as Vegeta and kasoku write them: all members, in
// order, without spaces. A line of any other form is left to encoding/json.
type jsonDecoder struct {
	src    *source
	brief  bool
	cur    jsonCursor
	body   []byte
	base64 base64Decoder
	texts  lastTexts
}

func newJSONDecoder(src *source) *jsonDecoder { return &jsonDecoder{src: src} }

func (d *jsonDecoder) leaveOut() { d.brief = true }

// next implements codec.
func (d *jsonDecoder) next(r *Result, h *headers) error {
	for {
		line, size, err := d.src.line()
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if !d.decode(line, r, h) {
				err = d.decodeSlow(line, r, h)
			}
		}
		d.src.take(size)
		if len(line) > 0 {
			return err
		}
	}
}

func (d *jsonDecoder) decodeSlow(line []byte, r *Result, h *headers) error {
	*r = Result{}
	err := json.Unmarshal(line, r)
	h.set(r.Headers)
	r.Headers = nil
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && line[len(line)-1] != '}' {
		return fmt.Errorf("%w in %q", io.ErrUnexpectedEOF, clipText(string(line)))
	}
	if err != nil {
		return fmt.Errorf("%w in %q", err, clipText(string(line)))
	}
	return nil
}

// decode reads a line of the usual form. It returns false when it has another.
func (d *jsonDecoder) decode(line []byte, r *Result, h *headers) bool {
	c := &d.cur
	c.b, c.bad, c.text = line, false, c.text[:0]
	c.want(`{"attack":`)
	r.Attack = d.texts.attack.text(c.str())
	c.want(`,"seq":`)
	r.Seq = c.uint()
	c.want(`,"code":`)
	code := c.uint()
	r.Code = uint16(code)
	c.want(`,"timestamp":`)
	c.time(&r.Timestamp)
	c.want(`,"latency":`)
	r.Latency = time.Duration(c.int())
	c.want(`,"bytes_out":`)
	r.BytesOut = c.uint()
	c.want(`,"bytes_in":`)
	r.BytesIn = c.uint()
	c.want(`,"error":`)
	r.Error = d.texts.error.text(c.str())
	c.want(`,"body":`)
	d.readBody(r)
	c.want(`,"method":`)
	r.Method = d.texts.method.text(c.str())
	c.want(`,"url":`)
	r.URL = d.texts.url.text(c.str())
	c.want(`,"headers":`)
	if d.brief && c.endsWithHeaders() {
		return !c.bad && code <= math.MaxUint16
	}
	c.headers(h)
	c.want(`}`)
	return !c.bad && len(c.b) == 0 && code <= math.MaxUint16 && h.sort()
}

func (d *jsonDecoder) readBody(r *Result) {
	if d.cur.null() {
		return
	}
	raw := d.cur.quoted()
	if d.brief {
		return
	}
	// A backslash is no base64. A line break is, but not in JSON.
	if bytes.IndexByte(raw, '\r') >= 0 {
		d.cur.fail()
		return
	}
	var err error
	if d.body, err = d.base64.append(d.body[:0], raw); err != nil {
		d.cur.fail()
		return
	}
	r.Body = d.body
	if r.Body == nil {
		r.Body = []byte{}
	}
}

// A jsonCursor reads the parts of a line. After a part that is not as expected
// it is bad and empty.
type jsonCursor struct {
	b    []byte
	bad  bool
	text []byte // holds strings that were not verbatim in the line
}

func (c *jsonCursor) fail() { c.b, c.bad = nil, true }

func (c *jsonCursor) want(s string) {
	if len(c.b) < len(s) || string(c.b[:len(s)]) != s {
		c.fail()
		return
	}
	c.b = c.b[len(s):]
}

// take reports whether b follows, and if so drops it.
func (c *jsonCursor) take(b byte) bool {
	if len(c.b) == 0 || c.b[0] != b {
		return false
	}
	c.b = c.b[1:]
	return true
}

// null reports whether null follows, and if so drops it.
func (c *jsonCursor) null() bool {
	if len(c.b) == 0 || c.b[0] != 'n' {
		return false
	}
	c.want("null")
	return true
}

func (c *jsonCursor) uint() uint64 {
	n, size := parseUint(c.b)
	if size == 0 || size > 1 && c.b[0] == '0' {
		c.fail()
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *jsonCursor) int() int64 {
	negative := c.take('-')
	n := c.uint()
	if n > math.MaxInt64 {
		c.fail()
	}
	if negative {
		return -int64(n)
	}
	return int64(n)
}

// quoted reads a string in which no quote is escaped, as it stands in the line.
func (c *jsonCursor) quoted() []byte {
	c.want(`"`)
	n := bytes.IndexByte(c.b, '"')
	if n < 0 || n > 0 && c.b[n-1] == '\\' {
		c.fail()
		return nil
	}
	s := c.b[:n:n]
	c.b = c.b[n+1:]
	return s
}

func (c *jsonCursor) time(t *time.Time) {
	b := c.b
	if s := c.quoted(); s == nil || t.UnmarshalJSON(b[:len(s)+2]) != nil {
		c.fail()
	}
}

// str reads a string.
func (c *jsonCursor) str() []byte {
	c.want(`"`)
	b := c.b
	ascii := true
	for i, x := range b {
		switch {
		case x == '"':
			if !ascii && !utf8.Valid(b[:i]) {
				c.fail()
				return nil
			}
			c.b = b[i+1:]
			return b[:i:i]
		case x == '\\':
			return c.unescape(i)
		case x < ' ':
			c.fail()
			return nil
		case x >= utf8.RuneSelf:
			ascii = false
		}
	}
	c.fail()
	return nil
}

// unescape reads on in a string that has its first escape at i.
func (c *jsonCursor) unescape(i int) []byte {
	from := len(c.text)
	b := c.b
	c.text = append(c.text, b[:i]...)
	for i < len(b) {
		switch x := b[i]; {
		case x == '"':
			s := c.text[from:len(c.text):len(c.text)]
			if c.b = b[i+1:]; !utf8.Valid(s) {
				c.fail()
			}
			return s
		case x < ' ':
			c.fail()
			return nil
		case x != '\\':
			c.text = append(c.text, x)
			i++
		default:
			size := c.escape(b[i:])
			if size == 0 {
				c.fail()
				return nil
			}
			i += size
		}
	}
	c.fail()
	return nil
}

// escape appends what the escape at the head of b stands for and returns its
// size; 0 for one that is none, and for halves of UTF-16 pairs.
func (c *jsonCursor) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	const escapes, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(escapes) {
		if b[1] == escapes[i] {
			c.text = append(c.text, meanings[i])
			return 2
		}
	}
	if b[1] != 'u' || len(b) < 6 {
		return 0
	}
	var r rune
	for _, x := range b[2:6] {
		n := bytes.IndexByte([]byte("0123456789abcdefABCDEF"), x)
		if n < 0 {
			return 0
		}
		if n > 15 {
			n -= 6
		}
		r = r<<4 | rune(n)
	}
	if r >= 0xd800 && r <= 0xdfff {
		return 0
	}
	c.text = utf8.AppendRune(c.text, r)
	return 6
}

// endsWithHeaders reports whether the rest of the line begins and ends as
// headers and the end of the result do.
func (c *jsonCursor) endsWithHeaders() bool {
	if string(c.b) == "null}" {
		return true
	}
	if !bytes.HasPrefix(c.b, []byte("{")) {
		return false
	}
	for _, end := range []string{"]}}", "{}}", "null}}"} {
		if bytes.HasSuffix(c.b, []byte(end)) {
			return true
		}
	}
	return false
}

// headers reads an object of lists of strings, or null.
func (c *jsonCursor) headers(h *headers) {
	h.reset()
	if c.null() {
		return
	}
	h.present = true
	c.want(`{`)
	for more := !c.take('}'); more && !c.bad; more = c.next('}') {
		h.begin(c.str())
		c.want(`:`)
		c.list(h)
	}
}

func (c *jsonCursor) list(h *headers) {
	if c.null() {
		h.fields[len(h.fields)-1].null = true
		return
	}
	c.want(`[`)
	for more := !c.take(']'); more && !c.bad; more = c.next(']') {
		h.value(c.str())
	}
}

// next reports whether another member follows, after a comma, or the end.
func (c *jsonCursor) next(end byte) bool {
	if c.take(end) {
		return false
	}
	c.want(",")
	return true
}
