package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"time"

	"github.com/kasoku/kasoku/load/http1"
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

	agent   *Agent // nil: released, or not from a server
	uri     string
	base    *url.URL
	url     *url.URL // nil: that of uri at base
	kept    http1.Kept
	decoded []byte // memory of a decoded body
	shared  bool   // the agent remembers it
}

// Release gives the memory back to the agent, for the next answer. Nothing of the
// response may be used afterwards, strings excepted. It need not be called; a user
// who calls it makes less work for the garbage collector.
func (r *Response) Release() {
	a := r.agent
	if a == nil || r.shared {
		return
	}
	*r = Response{kept: http1.Kept{Header: r.kept.Header[:0], Body: r.kept.Body[:0]}, decoded: r.decoded[:0]}
	if cap(r.kept.Body)+cap(r.decoded)+cap(r.kept.Header) > maxFreeBody {
		return
	}
	a.mu.Lock()
	if len(a.free) < maxFree {
		a.free = append(a.free, r)
	}
	a.mu.Unlock()
}

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
		if equalsFold(field, name) {
			return string(value)
		}
	}
	return ""
}

// Values returns all values of a field, in any case, as they came.
func (h Header) Values(name string) []string {
	var out []string
	for field, value := range h.all() {
		if equalsFold(field, name) {
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
			name, value, found := bytes.Cut(line, colon)
			if found && !yield(name, bytes.Trim(value, " \t")) {
				return
			}
		}
	}
}

var crlf, colon = []byte("\r\n"), []byte(":")
