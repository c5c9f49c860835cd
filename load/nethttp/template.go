package nethttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/kasoku/kasoku/load"
)

// A template is what all requests to one target have in common. It is shared and
// never changed.
type template struct {
	req     *http.Request // without body
	body    []byte        // unless it has places
	fill    *load.Fill    // nil: there are no places
	chunked bool          // the body's length is not announced
	seq     string        // name of the header that carries the request's number; empty: none does
}

// prepare makes the templates of all targets.
func (e *Engine) prepare(targets []load.Target) ([]template, error) {
	out := make([]template, len(targets))
	for i := range targets {
		t, err := e.template(&targets[i])
		if err != nil {
			return nil, fmt.Errorf("target %d, %s %q: %w", i+1, targets[i].Method, targets[i].URL, err)
		}
		out[i] = *t
	}
	return out, nil
}

func (e *Engine) template(t *load.Target) (*template, error) {
	req, err := http.NewRequest(t.Method, firstURL(t), nil)
	if err != nil {
		return nil, err
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return nil, fmt.Errorf("bad URL scheme %q: want http or https", s)
	}
	if req.URL.Host == "" {
		return nil, fmt.Errorf("bad URL %q: no host", t.URL)
	}
	for _, h := range []http.Header{e.opts.Header, t.Header} {
		maps.Copy(req.Header, h)
	}
	settleRequest(req)
	if u := req.URL.User; u != nil && req.Header.Get("Authorization") == "" {
		pass, _ := u.Password()
		req.SetBasicAuth(u.Username(), pass)
	}
	out := &template{req: req, body: t.Body, fill: t.Fill, chunked: e.opts.Chunked, seq: e.opts.SeqHeader}
	out.announce(req, t.Body)
	return out, nil
}

// announce sets how long a request's body is, and how to send it once more.
func (t *template) announce(req *http.Request, data []byte) {
	if len(data) == 0 {
		req.ContentLength, req.GetBody = 0, nil
		return
	}
	req.ContentLength = int64(len(data))
	if t.chunked {
		req.ContentLength = -1
	}
	req.GetBody = func() (io.ReadCloser, error) { return newBody(data), nil }
}

// firstURL returns the URL of the target's first request.
func firstURL(t *load.Target) string {
	if t.Fill == nil || t.Fill.URL.IsZero() {
		return t.URL
	}
	return string(t.Fill.URL.Append(nil, 0))
}

// settleRequest gives the headers that net/http treats apart the meaning that their
// names have in any case, and asks for the encoding that net/http asks for.
func settleRequest(req *http.Request) {
	agent, encoding := false, false
	for k, vs := range req.Header {
		switch canon := http.CanonicalHeaderKey(k); {
		case len(vs) == 0:
		case canon == "Host":
			req.Host = vs[len(vs)-1]
			delete(req.Header, k)
		case canon == "User-Agent":
			agent = agent || k != canon
		case canon == "Accept-Encoding" || canon == "Range":
			encoding = true
		}
	}
	if agent {
		if _, both := req.Header["User-Agent"]; !both {
			req.Header["User-Agent"] = []string{""} // none but the one in the other case
		}
	}
	if !encoding && req.Method != http.MethodHead {
		req.Header["Accept-Encoding"] = []string{"gzip"}
	}
}

// request returns request n, and how many bytes its body has. It fails when what
// was filled in makes no URL.
func (t *template) request(ctx context.Context, n uint64) (*http.Request, uint64, error) {
	req := t.req.WithContext(ctx)
	if t.seq != "" || t.fill != nil && len(t.fill.Header) > 0 {
		req.Header = maps.Clone(t.req.Header)
	}
	data := t.body
	if t.fill != nil {
		var err error
		if data, err = t.fillIn(req, n); err != nil {
			return nil, 0, err
		}
	}
	if t.seq != "" {
		req.Header[t.seq] = []string{strconv.FormatUint(n, 10)}
	}
	if len(data) > 0 {
		// A new reader each time: the transport may still hold the one before.
		req.Body = newBody(data)
	}
	return req, uint64(len(data)), nil
}

// fillIn writes the parts that differ and returns the body.
func (t *template) fillIn(req *http.Request, n uint64) ([]byte, error) {
	if f := &t.fill.URL; !f.IsZero() {
		u, err := url.Parse(string(f.Append(nil, n)))
		if err != nil {
			return nil, err
		}
		req.URL = u
	}
	for i := range t.fill.Header {
		delete(req.Header, t.fill.Header[i].Name)
	}
	for i := range t.fill.Header {
		line := &t.fill.Header[i]
		value := string(line.Value.Append(nil, n))
		if http.CanonicalHeaderKey(line.Name) == "Host" {
			req.Host = value
			continue
		}
		req.Header[line.Name] = append(req.Header[line.Name], value)
	}
	f := &t.fill.Body
	if f.IsZero() {
		return t.body, nil
	}
	data := f.Append(nil, n)
	t.announce(req, data)
	return data, nil
}

// body is the body of one request.
type body struct{ bytes.Reader }

func newBody(data []byte) *body {
	b := new(body)
	b.Reset(data)
	return b
}

// Close does nothing.
func (*body) Close() error { return nil }
