package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// An other sends requests by net/http: those that need TLS, HTTP/2 or a proxy.
type other struct {
	a      *Agent
	client http.Client
}

func newOther(a *Agent) *other {
	o := &other{a: a}
	o.client.Timeout = a.opts.Timeout
	o.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return o
}

func (o *other) close() { o.client.CloseIdleConnections() }

func (o *other) do(ctx context.Context, r *Request, u *url.URL) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method(), u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method(), r.Path, err)
	}
	if r.ContentType != "" {
		req.Header.Set("Content-Type", r.ContentType)
	}
	for k, v := range r.Header {
		req.Header[k] = v
	}
	req.Header.Set("User-Agent", o.a.opts.UserAgent)
	sent := time.Now()
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method(), r.Path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, o.a.opts.MaxBody))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method(), r.Path, err)
	}
	var lines bytes.Buffer
	_ = resp.Header.Write(&lines)
	return &Response{Status: resp.StatusCode, Header: Header{lines.Bytes()}, Body: body, Sent: sent, Done: time.Now(), url: u}, nil
}
