package epollhttp

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
	"golang.org/x/net/http/httpguts"
)

// The bytes of a template are written by net/http, with marks in the places that
// are filled in later. So it is net/http that decides on the order of headers, on
// those that are left out and on those that are added.

// seqMark is the number of the request whose header is looked for.
const seqMark = math.MaxUint64 - 58

// bodyMark stands for a body that has places: two bytes, as net/http sends some
// first bytes apart.
const bodyMark = "xy"

// minBulk is how long a body is that is sent from where it is. A shorter one is
// sent with its header in one call, and copied when the server does not take it.
const minBulk = 16 << 10

// newTemplate makes the template of one target.
func newTemplate(t *load.Target, o *Options) (template, error) {
	var bodyFill *load.Text
	if t.Fill != nil && !t.Fill.Body.IsZero() {
		bodyFill = &t.Fill.Body
	}
	body := t.Body
	if bodyFill != nil {
		body = []byte(bodyMark)
	}
	out, err := writeTemplate(t, o, body, bodyFill != nil)
	if err != nil || bodyFill == nil {
		return out, err
	}
	empty, err := writeTemplate(t, o, nil, false)
	if err != nil {
		return template{}, err
	}
	out.body, out.empty = bodyFill, &empty
	return out, nil
}

// writeTemplate makes a template with a body. With fills the body has places and
// is only a sample.
func writeTemplate(t *load.Target, o *Options, body []byte, fills bool) (template, error) {
	marked := markTarget(t, body)
	h := nethttp.Options{Header: o.Header, Chunked: o.Chunked, SeqHeader: o.SeqHeader}
	req, err := h.Request(&marked, seqMark)
	if err != nil {
		return template{}, err
	}
	if err := checkRequest(req); err != nil {
		return template{}, err
	}
	out := template{
		host: dialHost(req), head: req.Method == http.MethodHead, idempotent: isIdempotent(req),
		method: req.Method, url: req.URL, fill: t.Fill, size: uint64(len(body)),
	}
	wire, err := writeRequest(req, o.NoKeepAlive)
	if err != nil {
		return template{}, err
	}
	var holes []hole
	if fills {
		wire, out.frame = cutBody(wire)
		if out.frame == byLength {
			const line = "\r\nContent-Length: "
			holes = findHoles(holes, wire, line+strconv.Itoa(len(bodyMark)), len(line), piece{place: lengthPlace})
		}
	}
	if o.SeqHeader != "" {
		holes = findHoles(holes, wire, strconv.FormatUint(seqMark, 10), 0, piece{place: seqPlace})
	}
	if f := t.Fill; f != nil {
		for i := range f.Header {
			holes = findHoles(holes, wire, valueMark(i), 0, piece{place: valuePlace, text: &f.Header[i].Value})
		}
		if !f.URL.IsZero() {
			uri, from := req.URL.RequestURI(), len(req.Method+" ")
			skip := len(f.URL.Append(nil, 0)) - len(uri)
			holes = append(holes, hole{from, from + len(uri), piece{place: uriPlace, text: &f.URL, skip: skip}})
		}
	}
	if end := bytes.Index(wire, endOfHeader) + len(endOfHeader); !fills && len(wire)-end >= minBulk {
		wire, out.bulk = wire[:end:end], wire[end:]
	}
	out.pieces = splitWire(wire, holes)
	return out, nil
}

// markTarget returns the target with a mark in place of each header that is filled in,
// and with this body.
func markTarget(t *load.Target, body []byte) load.Target {
	out := *t
	out.Body, out.Fill = body, nil
	f := t.Fill
	if f == nil {
		return out
	}
	if !f.URL.IsZero() {
		out.URL = string(f.URL.Append(nil, 0))
	}
	if len(f.Header) > 0 {
		out.Header = http.Header{}
		maps.Copy(out.Header, t.Header)
	}
	for i := range f.Header {
		delete(out.Header, f.Header[i].Name)
	}
	for i := range f.Header {
		name := f.Header[i].Name
		out.Header[name] = append(out.Header[name], valueMark(i))
	}
	return out
}

// valueMark stands for the value of a header. It can be a host's name too.
func valueMark(i int) string { return fmt.Sprintf("kasoku-place-%d-5e1f70ab93", i) }

// checkRequest returns what net/http's transport would refuse.
func checkRequest(req *http.Request) error {
	if req.URL.Scheme != "http" {
		return fmt.Errorf("bad URL scheme %q: want http", req.URL.Scheme)
	}
	return load.CheckHeader(req.Header)
}

// dialHost returns where to connect to, as "host:port".
func dialHost(req *http.Request) string {
	return net.JoinHostPort(load.ASCIIHost(req.URL.Hostname()), cmp.Or(req.URL.Port(), "80"))
}

// isIdempotent reports whether net/http takes it that the request can be sent
// twice.
func isIdempotent(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}

// writeRequest returns the bytes of a request as net/http's transport sends them.
func writeRequest(req *http.Request, noKeepAlive bool) ([]byte, error) {
	var buf bytes.Buffer
	if err := req.Write(&buf); err != nil {
		return nil, err
	}
	wire := buf.Bytes()
	connection := req.Header["Connection"]
	switches := req.Header.Get("Upgrade") != "" && httpguts.HeaderValuesContainsToken(connection, "Upgrade")
	if noKeepAlive && !switches && !httpguts.HeaderValuesContainsToken(connection, "close") {
		end := bytes.Index(wire, endOfHeader) + len("\r\n")
		wire = slices.Insert(wire, end, []byte("Connection: close\r\n")...)
	}
	return wire, nil
}

var endOfHeader = []byte("\r\n\r\n")

// cutBody cuts off the sample of a body and says how it was framed.
func cutBody(wire []byte) ([]byte, framing) {
	end := bytes.Index(wire, endOfHeader) + len(endOfHeader)
	switch body := string(wire[end:]); {
	case body == bodyMark:
		return wire[:end], byLength
	case strings.HasPrefix(body, "1\r\n"):
		return wire[:end], twoChunks
	default:
		return wire[:end], oneChunk
	}
}

// A hole is where a place is in the bytes of a request.
type hole struct {
	from, to int
	piece
}

// findHoles adds the hole that text makes, but for its first bytes. There is none when
// net/http leaves the header out.
func findHoles(holes []hole, wire []byte, text string, skip int, p piece) []hole {
	at := bytes.Index(wire, []byte(text))
	if at < 0 {
		return holes
	}
	return append(holes, hole{at + skip, at + len(text), p})
}

// splitWire makes the pieces of a request with holes.
func splitWire(wire []byte, holes []hole) []piece {
	slices.SortFunc(holes, func(a, b hole) int { return cmp.Compare(a.from, b.from) })
	out := make([]piece, 0, len(holes)+1)
	at := 0
	for _, h := range holes {
		h.piece.literal = wire[at:h.from:h.from]
		out = append(out, h.piece)
		at = h.to
	}
	return append(out, piece{literal: wire[at:]})
}
