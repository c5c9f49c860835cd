package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"time"
)

// A Response is an answer, read to its end. It stays as it is for ever, or until
// [Response.Release]. Its body may be remembered by the agent: it must not be
// changed.
type Response struct {
	Status int // of a 304 answer that of the answer it confirms
	Header Header
	Body   []byte // without transfer encoding, decoded

	NotModified bool // the server answered 304: header and body are those it gave before
	Cached      bool // nothing was sent: what the server gave before is still fresh

	Sent, Done time.Time // of the request's first byte, of the answer's last one

	url *url.URL // nil: base and path say it
}

// Release gives the memory back to the agent, for the next answer. Nothing of the
// response may be used afterwards. It need not be called.
func (r *Response) Release() {}

// JSON decodes the body into v. Anything after the value is an error.
func (r *Response) JSON(v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	return nil
}

// A Header holds the fields of an answer, as they came. The zero value has none.
type Header struct {
	lines []byte // "Name: value" and CRLF, each
}

// Get returns the first value of a field, in any case; empty when there is none.
func (h Header) Get(name string) string {
	for field, value := range h.all() {
		if len(field) == len(name) && equalFold(field, name) {
			return string(value)
		}
	}
	return ""
}

// Values returns all values of a field, in any case, as they came.
func (h Header) Values(name string) []string {
	var out []string
	for field, value := range h.all() {
		if len(field) == len(name) && equalFold(field, name) {
			out = append(out, string(value))
		}
	}
	return out
}

// All returns the fields in their order, names as the server wrote them.
func (h Header) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for name, value := range h.all() {
			if !yield(string(name), string(value)) {
				return
			}
		}
	}
}

func (h Header) all() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for rest := h.lines; len(rest) > 0; {
			var line []byte
			line, rest, _ = bytes.Cut(rest, crlf)
			name, value, _ := bytes.Cut(line, colon)
			if !yield(name, bytes.Trim(value, " \t")) {
				return
			}
		}
	}
}

var crlf, colon = []byte("\r\n"), []byte(":")

// equalFold compares two names of the same length, in any case of ASCII letters.
func equalFold(b []byte, name string) bool {
	for i, c := range b {
		if c != name[i] && lower(c) != lower(name[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
