package nethttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
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
	all   *shared
	plan  load.Plan
	start time.Time
	close func()
}

// Follower returns a follower for one load of the plan. start is that of
// [Engine.Run].
func (e *Engine) Follower(ctx context.Context, p load.Plan, start time.Time) (*Follower, error) {
	// A redirect is rare enough for its request to be made when it comes.
	all, stop, err := e.begin(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &Follower{all: all, plan: p, start: start, close: stop}, nil
}

// Follow takes an answer that redirects to location and goes on until the request
// is at its end or its timeout is over, which counts from the hit's Sent. It fills
// in Code, BytesIn, BytesOut and Err. An answer that http.Client would not follow
// stays what the hit says it is.
func (f *Follower) Follow(ctx context.Context, h *load.Hit, code int, location string) {
	if h.Code = code; !Redirects(code) || location == "" {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f.all.timeout > 0 {
		left := h.Sent + f.all.timeout - time.Since(f.start)
		defer time.AfterFunc(left, func() { cancel(ErrTimeout) }).Stop()
	}
	c := &client{shared: f.all}
	c.ctx = c.counting(ctx)
	if err := c.resume(f.plan.Target(h), h, location); err != nil {
		h.Code, h.Err = 0, err.Error()
	}
}

func (c *client) resume(target *load.Target, h *load.Hit, location string) error {
	req, out, err := c.ownRequest(target, h.N)
	if err != nil {
		return err
	}
	resp := &http.Response{StatusCode: h.Code, Header: http.Header{"Location": {location}}, Body: http.NoBody,
		Request: req}
	if resp, err = c.follow(req, resp); err != nil {
		return err
	}
	h.BytesOut = out
	return c.finish(resp, h)
}

// Count adds what the follower has done to the summary of the load.
func (f *Follower) Count(sum *kasoku.LoadSummary) {
	sum.Redirected = 0 // the engine counts answers, not steps
	f.all.count(sum)
}

// Close ends the connections.
func (f *Follower) Close() { f.close() }
