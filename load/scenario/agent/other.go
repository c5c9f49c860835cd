package agent

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
)

// An other sends requests by net/http: those that need TLS, HTTP/2 or a proxy, and
// those to other hosts.
type other struct {
	tr *http.Transport
}

func newOther(a *Agent) *other {
	return &other{&http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			proxy, err := http.ProxyFromEnvironment(req)
			if proxy == nil || err != nil {
				return proxy, err
			}
			return proxy, a.resolver.CheckViaProxy(req.Context(), req.URL.Hostname())
		},
		DialContext:            a.dial,
		TLSClientConfig:        a.opts.TLS.Clone(),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // the agent decodes
		DisableKeepAlives:      a.opts.NoKeepAlive,
		MaxConnsPerHost:        a.opts.MaxConns,
		MaxIdleConnsPerHost:    a.opts.MaxConns,
		MaxResponseHeaderBytes: load.MaxResponseHeader,
	}}
}

func (o *other) close() { o.tr.CloseIdleConnections() }

// send does a call.
func (o *other) send(x *call) error {
	ctx, stop := x.limited()
	defer stop()
	req, err := http.NewRequestWithContext(ctx, x.method, x.where().String(), bytes.NewReader(x.r.Body))
	if err != nil {
		return err
	}
	x.addHeader(req.Header)
	resp, err := o.tr.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	defer resp.Body.Close()
	x.inBody, x.bytesOut = true, uint64(len(x.r.Body))
	x.code, x.reason = resp.StatusCode, ""
	if x.code < 200 || x.code >= 400 {
		x.reason = resp.Status
	}
	lines := bytes.NewBuffer(x.res.kept.Header[:0])
	_ = resp.Header.Write(lines) // a buffer takes everything
	x.res.kept.Header = lines.Bytes()
	if x.code == http.StatusSwitchingProtocols {
		return nil // what follows is another protocol
	}
	about := int(max(min(resp.ContentLength, readSize), 512))
	body, err := readAll(resp.Body, x.res.kept.Body[:0], about, x.a.opts.MaxBody)
	x.res.kept.Body, x.bytesIn = body, uint64(len(body))
	var tooLong *http1.BodyTooLongError
	if err != nil && !errors.As(err, &tooLong) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// addHeader is appendRequest for net/http.
func (x *call) addHeader(h http.Header) {
	for _, f := range x.a.fields {
		secret := f.name == "Authorization" && x.url != nil // the base URL's
		if _, replaced := x.r.Header[f.name]; !replaced && !secret && !leftOut(f.name) {
			h[f.name] = append(h[f.name], f.value)
		}
	}
	for name, values := range x.r.Header {
		if !leftOut(name) {
			h[name] = values
		}
	}
	if x.r.ContentType != "" {
		h.Set("Content-Type", x.r.ContentType)
	}
	if x.cookie != "" {
		h.Set("Cookie", x.cookie)
	}
	if e := x.known; e != nil {
		if e.etag != "" {
			h.Set("If-None-Match", e.etag)
		}
		if e.modified != "" {
			h.Set("If-Modified-Since", e.modified)
		}
	}
}
