package nethttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/load"
)

// follow goes on from an answer that redirects, as http.Client does.
func (c *client) follow(req *http.Request, first *http.Response) (*http.Response, error) {
	follow := http.Client{Transport: &resumed{first: first, rest: c}, CheckRedirect: c.checkRedirect}
	resp, err := follow.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	return resp, nil
}

func (c *client) checkRedirect(_ *http.Request, via []*http.Request) error {
	n := c.opts.Redirects
	switch n {
	case 0:
		n = DefaultRedirects
	case RefuseRedirects:
		n = 0
	}
	if n < len(via) {
		return errors.New("stopped after " + strconv.Itoa(n) + " redirects")
	}
	c.redirected.Add(1)
	return nil
}

// resumed lets an http.Client go on from an answer that is already there.
type resumed struct {
	first *http.Response
	rest  http.RoundTripper
}

func (r *resumed) RoundTrip(req *http.Request) (*http.Response, error) {
	if first := r.first; first != nil {
		r.first = nil
		if req.Body != nil {
			req.Body.Close()
		}
		return first, nil
	}
	return r.rest.RoundTrip(req)
}

// A Follower follows redirects of answers that another engine got, through
// net/http: with the same limit, methods, bodies and words as this engine. It is
// safe for concurrent use and ends with Close.
type Follower struct {
	*shared
	start time.Time
	close func()
}

// Follower returns a follower for one load of the plan. start is that of
// [Engine.Run].
func (e *Engine) Follower(ctx context.Context, p load.Plan, start time.Time) (*Follower, error) {
	all, stop, err := e.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Follower{shared: all, start: start, close: stop}, nil
}

// Follow takes an answer that redirects to location and goes on until the request
// is at its end or its timeout is over, which counts from the hit's Sent. It fills
// in Code, BytesIn, BytesOut and Err. A code that is not followed is the answer.
func (f *Follower) Follow(ctx context.Context, h *load.Hit, code int, location string) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f.timeout > 0 {
		left := h.Sent + f.timeout - time.Since(f.start)
		defer time.AfterFunc(left, func() { cancel(errTimeout) }).Stop()
	}
	c := &client{shared: f.shared}
	c.ctx = c.counting(ctx)
	if err := c.resume(h, code, location); err != nil {
		h.Code, h.Err = 0, err.Error()
	}
}

func (c *client) resume(h *load.Hit, code int, location string) error {
	req, out, err := c.request(h)
	if err != nil {
		return err
	}
	resp := &http.Response{
		StatusCode: code, Status: fmt.Sprintf("%d %s", code, http.StatusText(code)),
		Header: http.Header{"Location": {location}}, Body: http.NoBody, Request: req,
	}
	if redirects(code) && location != "" {
		if resp, err = c.follow(req, resp); err != nil {
			return err
		}
	}
	h.BytesOut = out
	return c.finish(resp, h)
}

// Counts returns how many redirects were followed, and how many requests were
// sent again on the way.
func (f *Follower) Counts() (redirected, resent uint64) {
	return f.redirected.Load(), f.resent.Load()
}

// Close ends the connections.
func (f *Follower) Close() { f.close() }
