package epollhttp

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// A template makes the bytes of the requests to one target, which are those that
// net/http would send. It is immutable and safe for concurrent use.
type template struct {
	host       string // to connect to, "host:port"
	head       bool   // the method is HEAD
	idempotent bool   // net/http sends it again when an idle connection turns out to be closed

	method string
	url    *url.URL   // of the first request
	fill   *load.Fill // nil: there are no places

	pieces []piece // the request, up to a body that has places or is bulk
	bulk   []byte  // a long body without places, framed; each request ends with it
	size   uint64  // of the body, when it has no places

	body  *load.Text // a body that has places; nil: it is in pieces
	frame framing    // of that body
	empty *template  // for when that body comes out empty
}

// A piece is text that stays the same, and the place after it.
type piece struct {
	literal []byte
	place   place
	text    *load.Text // of uriPlace and valuePlace
	skip    int        // bytes of text before the path, of uriPlace
}

// A place is what differs from request to request.
type place uint8

const (
	nothing     place = iota
	uriPlace          // path and query
	valuePlace        // value of a header
	seqPlace          // number of the request
	lengthPlace       // Content-Length
)

// A framing defines how the server knows where a body ends.
type framing uint8

const (
	byLength  framing = iota
	oneChunk          // one chunk, and the empty one
	twoChunks         // the first byte in a chunk of its own, as net/http does where a body is unusual
)

// append appends the whole request n but for its bulk. bodyBytes is the length of
// its body before transfer encoding. It does not allocate beyond dst.
func (t *template) append(dst []byte, n uint64) (out []byte, bodyBytes uint64) {
	start, lengthAt := len(dst), 0
	for i := range t.pieces {
		p := &t.pieces[i]
		dst = append(dst, p.literal...)
		at := len(dst)
		switch p.place {
		case uriPlace:
			dst = p.text.Append(dst, n)
			dst = append(dst[:at], dst[at+p.skip:]...)
		case valuePlace:
			dst = p.text.Append(dst, n)
			dst = append(dst[:at], bytes.Trim(dst[at:], " \t")...)
		case seqPlace:
			dst = strconv.AppendUint(dst, n, 10)
		case lengthPlace:
			lengthAt = at
		}
	}
	if t.body == nil {
		return dst, t.size
	}
	at := len(dst)
	dst = t.body.Append(dst, n)
	size := len(dst) - at
	if size == 0 {
		return t.empty.append(dst[:start], n)
	}
	if t.frame == byLength {
		dst = insertNumber(dst, lengthAt, size, 10, "")
	} else {
		dst = t.chunk(dst, at, size)
	}
	return dst, uint64(size)
}

// chunk frames the body at the end of dst.
func (t *template) chunk(dst []byte, at, size int) []byte {
	first := size
	if t.frame == twoChunks && size > 1 {
		first = 1
		dst = insertNumber(dst, at+1, size-1, 16, "\r\n")
		dst = insertText(dst, at+1, "\r\n")
	}
	dst = insertNumber(dst, at, first, 16, "\r\n")
	return append(dst, "\r\n0\r\n\r\n"...)
}

// insertNumber puts a number into dst, at a place, with some text after it.
func insertNumber(dst []byte, at, n, base int, after string) []byte {
	var digits [20]byte
	dst = insertText(dst, at, after)
	return insertText(dst, at, strconv.AppendInt(digits[:0], int64(n), base))
}

// insertText puts text into dst, at a place.
func insertText[T []byte | string](dst []byte, at int, text T) []byte {
	end := len(dst)
	dst = append(dst, text...)
	copy(dst[at+len(text):], dst[at:end])
	copy(dst[at:], text)
	return dst
}

// static returns what append appends when it is the same for every n. The bytes
// must not be changed.
func (t *template) static() (request []byte, bodyBytes uint64, ok bool) {
	if len(t.pieces) != 1 || t.pieces[0].place != nothing || t.body != nil {
		return nil, 0, false
	}
	return t.pieces[0].literal, t.size, true
}

// wrap words the failure of request n, before the header of its answer was
// complete, as http.Client does: `Get "http://…": EOF`.
func (t *template) wrap(n uint64, err error) error {
	u := t.url
	if t.fill != nil && !t.fill.URL.IsZero() {
		if own, bad := url.Parse(string(t.fill.URL.Append(nil, n))); bad == nil {
			u = own
		}
	}
	return nethttp.Failed(t.method, u, err)
}

// newTemplates makes the templates of the targets, by Hit.Target.
func newTemplates(targets []load.Target, o *Options) ([]template, error) {
	out := make([]template, len(targets))
	for i := range targets {
		t, err := newTemplate(&targets[i], o)
		if err != nil {
			return nil, fmt.Errorf("target %d, %s %q: %w", i+1, targets[i].Method, targets[i].URL, err)
		}
		out[i] = t
	}
	return out, nil
}
