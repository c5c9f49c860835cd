package nethttp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load"
)

// The texts of Vegeta's http.Client for a request that took too long.
var (
	errTimeout     = errors.New("context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
	errBodyTimeout = errors.New("context deadline exceeded (Client.Timeout or context cancellation while reading body)")
)

// bodyBuffer is how much of a body is read at once; a net/http connection
// buffers half of it.
const bodyBuffer = 8 << 10

// shared is what the workers of one load have in common.
type shared struct {
	opts    *Options
	tr      *http.Transport
	targets []template // by Hit.Target
	timeout time.Duration
	buffers sync.Pool // of *[bodyBuffer]byte; a worker that waits for an answer holds none
}

// A client sends the requests of one worker.
type client struct {
	*shared

	// One context and one timer serve all requests until one times out, which
	// cancels the context and makes the next request take new ones.
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// Do implements [load.Client].
func (c *client) Do(ctx context.Context, h *load.Hit) {
	c.arm(ctx)
	req := c.request(h)
	resp, err := c.exchange(req)
	if err == nil {
		err = c.finish(resp, h)
	}
	if err != nil {
		h.Code, h.Err = 0, err.Error()
	}
	c.disarm()
}

// arm starts the timeout of the next request.
func (c *client) arm(parent context.Context) {
	if c.ctx == nil {
		ctx, cancel := context.WithCancelCause(parent)
		c.ctx, c.cancel = ctx, cancel
		if c.timeout > 0 {
			c.timer = time.AfterFunc(c.timeout, func() { cancel(errTimeout) })
		}
		return
	}
	if c.timer != nil {
		c.timer.Reset(c.timeout)
	}
}

func (c *client) disarm() {
	if c.timer != nil && !c.timer.Stop() {
		c.cancel(nil)
		c.ctx, c.cancel, c.timer = nil, nil, nil
	}
}

// request copies the target's request for one hit.
func (c *client) request(h *load.Hit) *http.Request {
	t := &c.targets[h.Target]
	base := t.req
	req := base.WithContext(c.ctx)
	if name := c.opts.SeqHeader; name != "" {
		req.Header = maps.Clone(base.Header)
		req.Header[name] = []string{strconv.FormatUint(h.N, 10)}
	}
	if len(t.body) > 0 {
		// A new one each time: the transport may still hold the one before.
		req.Body = newBody(t.body)
	}
	return req
}

// exchange sends the request and returns the header of the final answer.
func (c *client) exchange(req *http.Request) (*http.Response, error) {
	resp, err := c.tr.RoundTrip(req)
	if err != nil {
		return nil, c.wrap(req, err)
	}
	if c.opts.Redirects == NoFollow || !redirects(resp) {
		return resp, nil
	}
	follow := http.Client{Transport: &resumed{first: resp, rest: c.tr}, CheckRedirect: c.checkRedirect}
	resp, err = follow.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	return resp, nil
}

func redirects(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
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

// finish reads the answer to its end and fills in the hit.
func (c *client) finish(resp *http.Response, h *load.Hit) error {
	n, err := c.drain(resp.Body)
	h.BytesIn = c.counted(n)
	h.BytesOut = uint64(len(c.targets[h.Target].body))
	if err != nil {
		return c.bodyError(err)
	}
	h.Code = resp.StatusCode
	if h.Code < 200 || h.Code >= 400 {
		h.Err = resp.Status
	}
	return nil
}

func (c *client) drain(r io.ReadCloser) (n uint64, err error) {
	defer r.Close()
	if r == http.NoBody {
		return 0, nil
	}
	buf, _ := c.buffers.Get().(*[bodyBuffer]byte)
	if buf == nil {
		buf = new([bodyBuffer]byte)
	}
	defer c.buffers.Put(buf)
	for {
		k, err := r.Read(buf[:])
		n += uint64(k)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func (c *client) counted(n uint64) uint64 {
	switch m := c.opts.MaxBody; {
	case m == 0:
		return n
	case m < 0:
		return 0
	default:
		return min(n, uint64(m))
	}
}

func (c *client) bodyError(err error) error {
	switch cause := context.Cause(c.ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, errTimeout):
		return errBodyTimeout
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
	op := req.Method[:1] + strings.ToLower(req.Method[1:])
	return &url.Error{Op: op, URL: withoutPassword(req.URL), Err: err}
}

func withoutPassword(u *url.URL) string {
	if _, has := u.User.Password(); !has {
		return u.String()
	}
	return strings.Replace(u.String(), u.User.String()+"@", u.User.Username()+":***@", 1)
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
