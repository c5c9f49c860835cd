package nethttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/load"
)

// bodyBuffer is how much of a body is read at once; a net/http connection
// buffers half of it.
const bodyBuffer = 8 << 10

// shared is what the workers of one load have in common.
type shared struct {
	*Engine
	dialer     *dialer
	tr         *http.Transport
	targets    []template // by Hit.Target; of a stream, each hit brings its own
	timeout    time.Duration
	buffers    sync.Pool // of *[bodyBuffer]byte; a worker that waits for an answer holds none
	resent     atomic.Uint64
	redirected atomic.Uint64
}

// A client sends the requests of one worker.
type client struct {
	*shared

	// One context and one timer serve all requests until one times out, which
	// cancels the context and makes the next request take new ones.
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer

	tries int // connections that the request under way was given
}

// Do implements [load.Client].
func (c *client) Do(ctx context.Context, h *load.Hit) {
	c.arm(ctx)
	if err := c.send(h); err != nil {
		h.Code, h.Err = 0, err.Error()
	}
	c.disarm()
}

func (c *client) send(h *load.Hit) error {
	req, out, err := c.request(h)
	if err != nil {
		return err
	}
	resp, err := c.exchange(req)
	if err != nil {
		return err
	}
	h.BytesOut = out
	return c.finish(resp, h)
}

// arm starts the timeout of the next request.
func (c *client) arm(parent context.Context) {
	if c.ctx == nil {
		ctx, cancel := context.WithCancelCause(parent)
		c.ctx, c.cancel = c.counting(ctx), cancel
		if c.timeout > 0 {
			c.timer = time.AfterFunc(c.timeout, func() { cancel(ErrTimeout) })
		}
		return
	}
	if c.timer != nil {
		c.timer.Reset(c.timeout)
	}
}

// counting returns a context whose requests count the connections they get, so
// that a request that is sent again is noticed.
func (c *client) counting(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { c.tries++ }})
}

func (c *client) disarm() {
	if c.timer != nil && !c.timer.Stop() {
		c.cancel(nil)
		c.ctx, c.cancel, c.timer = nil, nil, nil
	}
}

// request makes the request of a hit and says how long its body is. A target that
// came with the hit and is no request over HTTP fails this hit alone; one that its
// stream cannot read ends the load (see [load.Stream]).
func (c *client) request(h *load.Hit) (*http.Request, uint64, error) {
	if h.Own == nil {
		return c.targets[h.Target].request(c.ctx, h.N)
	}
	return c.ownRequest(h.Own, h.N)
}

// ownRequest makes request n for a target that is not prepared.
func (c *client) ownRequest(target *load.Target, n uint64) (*http.Request, uint64, error) {
	t, err := c.template(target)
	if err != nil {
		return nil, 0, fmt.Errorf("target %s %q: %w", target.Method, target.URL, err)
	}
	return t.request(c.ctx, n)
}

// RoundTrip sends one request and counts when it is sent again.
//
// net/http sends a request again when a connection that was idle turns out to be
// closed: any request of which nothing had been written, and after that only GET,
// HEAD, OPTIONS, TRACE and those with an Idempotency-Key. HTTP/2 does so for
// requests that the server says it has not looked at.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	c.tries = 0
	resp, err := c.tr.RoundTrip(req)
	if c.tries > 1 {
		c.resent.Add(uint64(c.tries - 1))
	}
	return resp, err
}

// exchange sends the request and returns the header of the final answer.
func (c *client) exchange(req *http.Request) (*http.Response, error) {
	resp, err := c.RoundTrip(req)
	if err != nil {
		return nil, c.wrap(req, err)
	}
	if c.opts.Redirects == NoFollow || !Redirects(resp.StatusCode) || resp.Header.Get("Location") == "" {
		return resp, nil
	}
	return c.follow(req, resp)
}

// finish reads the answer to its end and fills in the hit.
func (c *client) finish(resp *http.Response, h *load.Hit) error {
	n, err := c.drain(resp, h)
	h.BytesIn = Counted(n, c.opts.MaxBody)
	if err != nil {
		return c.bodyError(err)
	}
	h.Code = resp.StatusCode
	if h.Code < 200 || h.Code >= 400 {
		h.Err = resp.Status
	}
	return nil
}

// drain reads the body and keeps the answer if asked.
func (c *client) drain(resp *http.Response, h *load.Hit) (n uint64, err error) {
	r := resp.Body
	defer r.Close()
	if c.opts.KeepAnswers {
		h.Answer = &load.Answer{Header: resp.Header}
	}
	// What follows a 101 is another protocol, and no timeout would end the reading.
	if r == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		return 0, nil
	}
	buf, _ := c.buffers.Get().(*[bodyBuffer]byte)
	if buf == nil {
		buf = new([bodyBuffer]byte)
	}
	defer c.buffers.Put(buf)
	for {
		k, err := r.Read(buf[:])
		if h.Answer != nil {
			// Of what was read before, so much counted already.
			room := Counted(n+uint64(k), c.opts.MaxBody) - Counted(n, c.opts.MaxBody)
			h.Answer.Body = append(h.Answer.Body, buf[:room]...)
		}
		n += uint64(k)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func (c *client) bodyError(err error) error {
	switch cause := context.Cause(c.ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, ErrTimeout):
		return ErrBodyTimeout
	default:
		return cause
	}
}

// explain replaces a cancellation by its cause.
func (c *client) explain(err error) error {
	if cause := context.Cause(c.ctx); cause != nil {
		var u *url.Error
		if errors.As(err, &u) {
			u.Err = cause
		}
	}
	return err
}

// wrap words a failed round trip as http.Client does.
func (c *client) wrap(req *http.Request, err error) error {
	var record tls.RecordHeaderError
	if cause := context.Cause(c.ctx); cause != nil {
		err = cause
	} else if errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch
	}
	return Failed(req.Method, req.URL, err)
}
