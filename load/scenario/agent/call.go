package agent

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/load"
	"golang.org/x/net/http/httpguts"
)

// A call is one request under way.
type call struct {
	a      *Agent
	ctx    context.Context
	r      *Request
	method string
	uri    string   // path and query as they go out
	url    *url.URL // nil: that of uri at the base URL
	cookie string   // value of Cookie; empty: none
	known  *entry   // what is remembered of the URL; nil: nothing

	due      time.Time // of the call
	owed     time.Time // when it should have been, for the record
	sent     time.Time
	done     time.Time // when the answer was complete or had failed; zero: nothing was sent
	deadline time.Time // zero: none
	resent   bool      // on a second connection

	res      *Response
	code     int    // of the answer
	reason   string // "404 Not Found", of a code outside 200..399
	bytesIn  uint64
	bytesOut uint64
	inBody   bool // the header of the answer was read
}

// over returns an error when the time is up or the context has ended.
func (x *call) over(now time.Time) error {
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	if !x.deadline.IsZero() && !now.Before(x.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// idempotent reports whether net/http takes it that the request can be sent twice.
func (x *call) idempotent() bool {
	switch x.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return x.r.Header["Idempotency-Key"] != nil || x.r.Header["X-Idempotency-Key"] != nil
}

// locate finds out where the request goes.
func (x *call) locate() error {
	path := x.r.Path
	if isPlain(path) {
		x.uri = path
		return nil
	}
	ref, err := url.Parse(path)
	if err != nil {
		return &badRequestError{"path", path}
	}
	base := x.a.base
	u := base.ResolveReference(ref)
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return &badRequestError{"path", path}
	}
	x.uri = u.RequestURI()
	if strings.ContainsFunc(x.uri, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return &badRequestError{"path", path}
	}
	if !sameOrigin(u, base) {
		x.url = u
	}
	return nil
}

// isPlain reports whether a path goes out as it is: it begins with one slash and
// has nothing that must be escaped or left out.
func isPlain(path string) bool {
	if path == "" || path[0] != '/' || len(path) > 1 && path[1] == '/' {
		return false
	}
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return true
}

// sameOrigin compares scheme, host and port (RFC 6454).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && hostPort(a) == hostPort(b)
}

// hostPort returns where to connect to for a URL.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(load.ASCIIHost(u.Hostname())), port)
}

// where returns the URL of the request.
func (x *call) where() *url.URL {
	if x.url != nil {
		return x.url
	}
	return resolveUnder(x.a.base, x.uri)
}

// resolveUnder returns the URL of path and query at a base URL.
func resolveUnder(base *url.URL, uri string) *url.URL {
	u, err := base.Parse(uri)
	if err != nil {
		return base
	}
	return u
}

// check returns an error when method or header could not be sent.
func (x *call) check() error {
	switch x.method {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		if !httpguts.ValidHeaderFieldName(x.method) { // both are tokens
			return &badRequestError{"method", x.method}
		}
	}
	if !httpguts.ValidHeaderFieldValue(x.r.ContentType) {
		return &badRequestError{"content type", x.r.ContentType}
	}
	if x.r.Header == nil {
		return nil
	}
	return load.CheckHeader(x.r.Header)
}

// A field is one line of the header that goes out with each request.
type field struct{ name, value, line string }

// appendRequest appends the request. A long body is returned as bulk instead.
func (x *call) appendRequest(dst []byte) (request, bulk []byte) {
	r := x.r
	dst = append(dst, x.method...)
	dst = append(dst, ' ')
	dst = append(dst, x.uri...)
	dst = append(dst, " HTTP/1.1\r\n"...)
	dst = append(dst, x.a.site.hostLine...)
	if r.Header == nil {
		dst = append(dst, x.a.lines...)
	} else {
		dst = x.appendOwn(dst)
	}
	if x.cookie != "" {
		dst = appendLine(dst, "Cookie", x.cookie)
	}
	if x.known != nil {
		dst = x.known.appendConditions(dst)
	}
	if r.ContentType != "" {
		dst = appendLine(dst, "Content-Type", r.ContentType)
	}
	if len(r.Body) > 0 || x.method == http.MethodPost || x.method == http.MethodPut || x.method == http.MethodPatch {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(r.Body)), 10)
		dst = append(dst, crlf...)
	}
	dst = append(dst, crlf...)
	if len(r.Body) >= minBulk {
		return dst, r.Body
	}
	return append(dst, r.Body...), nil
}

// appendOwn appends the header of the request, and of the agent what the request
// does not replace.
func (x *call) appendOwn(dst []byte) []byte {
	own := x.r.Header
	for _, f := range x.a.fields {
		if _, replaced := own[f.name]; !replaced {
			dst = append(dst, f.line...)
		}
	}
	for name, values := range own {
		if !leftOut(name) && (name != "Content-Type" || x.r.ContentType == "") {
			for _, v := range values {
				dst = appendLine(dst, name, v)
			}
		}
	}
	return dst
}

// leftOut reports whether a field of a request's header is not for the caller to
// say.
func leftOut(name string) bool {
	switch name {
	case "Content-Length", "Transfer-Encoding", "Trailer", "Host", "Connection", "Cookie":
		return true
	}
	return false
}

func appendLine(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, crlf...)
}
