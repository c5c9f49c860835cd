package answers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/load"
)

// Defaults of an [Asker].
const (
	DefaultTimeout  = 10 * time.Second
	DefaultInFlight = 8
	// DefaultPause is how much later a request is asked again: clocks of whole seconds
	// have moved on by then.
	DefaultPause = 1100 * time.Millisecond
)

// An Asker asks for answers. The zero value of a field is its default. It is for one
// goroutine at a time.
type Asker struct {
	Permit   load.Permit   // hosts that may be asked beside this one and private networks
	Header   http.Header   // sent with each request; never kept
	Timeout  time.Duration // of a request with its answer
	InFlight int           // requests at once, when asked under concurrency
	Pause    time.Duration // between the first and the second ask of a request
	Progress func(what string, done, all int)

	client  *http.Client
	shaping sync.Mutex
	most    int64 // bytes of bodies that the answers of a pass may be; tests have less
}

// ErrUnreachable says that a service does not take connections: nothing can be said of its
// answers.
var ErrUnreachable = errors.New("the service takes no connection")

// start fills in the defaults.
func (a *Asker) start() error {
	if a.client != nil {
		return nil
	}
	if a.Timeout == 0 {
		a.Timeout = DefaultTimeout
	}
	if a.InFlight == 0 {
		a.InFlight = DefaultInFlight
	}
	if a.Pause == 0 {
		a.Pause = DefaultPause
	}
	if a.most == 0 {
		a.most = mostHeld
	}
	if a.Progress == nil {
		a.Progress = func(string, int, int) {}
	}
	resolver, err := load.NewResolver(load.ResolverOptions{Permit: a.Permit})
	if err != nil {
		return err
	}
	var d net.Dialer
	a.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				addrs, err := resolver.Next(ctx, addr)
				if err != nil {
					return nil, &net.OpError{Op: "dial", Net: network, Err: err}
				}
				return load.DialInOrder(ctx, &d, network, addrs)
			},
			MaxIdleConnsPerHost: a.InFlight, ResponseHeaderTimeout: a.Timeout, MaxResponseHeaderBytes: 1 << 20,
		},
	}
	return nil
}

// Close ends the connections that are kept open.
func (a *Asker) Close() {
	if a.client != nil {
		a.client.CloseIdleConnections()
	}
}

// ask sends one request and returns what came. An error that wraps [ErrUnreachable], or a
// [*load.ForbiddenError], is one of the service as a whole.
func (a *Asker) ask(ctx context.Context, r *Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return Answer{}, err
	}
	for _, header := range []http.Header{r.Header, a.Header} {
		for name, values := range header {
			req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return Answer{}, describeFailure(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return Answer{}, describeFailure(err)
	}
	if len(body) > maxBody {
		return Answer{}, errLong
	}
	out := Answer{Request: *r, Status: resp.StatusCode,
		Type: mediaType(resp.Header.Get("Content-Type")), Headers: map[string]string{}}
	for _, name := range keptHeaders {
		if v := resp.Header.Get(name); v != "" {
			out.Headers[name] = v
		}
	}
	if n, err := strconv.Atoi(resp.Header.Get("Age")); err == nil && n > 0 && n < 1<<31 { // RFC 9111, 5.1
		out.age = time.Duration(n) * time.Second
	}
	out.bare = resp.StatusCode == http.StatusOK && !slices.ContainsFunc(keepingHeaders, func(name string) bool {
		return len(resp.Header.Values(name)) > 0
	})
	for _, c := range resp.Cookies() {
		if !slices.Contains(out.Cookies, c.Name) {
			out.Cookies = append(out.Cookies, c.Name)
		}
	}
	slices.Sort(out.Cookies)
	a.oneByOne(func() { out.Form, out.hash = formOf(out.Type, body) })
	if out.Form != formHash && out.Form != formNone {
		out.raw = body
	}
	return out, nil
}

// keepingHeaders are those by which clients keep answers, or ask whether they changed (RFC 9111, RFC
// 9110 section 13).
var keepingHeaders = []string{"ETag", "Last-Modified", "Cache-Control", "Expires", "Pragma"}

// oneByOne shapes one body: what is built for it is gone when the next begins. A panic at one,
// which its worker contains, leaves the others free to go on.
func (a *Asker) oneByOne(shape func()) {
	a.shaping.Lock()
	defer a.shaping.Unlock()
	shape()
}

var (
	errLong = fmt.Errorf("longer than %d MiB", maxBody>>20)
	errHeld = errors.New("the answers before it are as many bytes as are held")
)

// describeFailure distinguishes a service that is not there from an answer that fails.
func describeFailure(err error) error {
	var op *net.OpError
	var forbidden *load.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return forbidden
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("%w: %w", ErrUnreachable, op)
	}
	return err
}

// isFatal reports whether an error is not of one answer.
func isFatal(ctx context.Context, err error) bool {
	var forbidden *load.ForbiddenError
	return errors.Is(err, ErrUnreachable) || errors.As(err, &forbidden) || err != nil && ctx.Err() != nil
}

// An asked is one ask of a request.
type asked struct {
	answer Answer
	err    error
	done   bool
}

// pass asks each request once, so many at a time, and returns what came by their indexes.
// Answers beyond so many bytes are not held: a service may send what it likes. It ends early
// with an error that is not of one answer.
func (a *Asker) pass(ctx context.Context, what string, requests []Request, inFlight int, most int64) ([]asked, error) {
	out := make([]asked, len(requests))
	var held atomic.Int64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var progress sync.Mutex
	var wait sync.WaitGroup
	for range min(inFlight, len(requests)) {
		wait.Go(func() {
			err := contain.Do(contain.Part{Kind: contain.Step, Name: "answers"}, func() error {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(requests) || ctx.Err() != nil {
						return nil
					}
					answer, err := a.ask(ctx, &requests[i])
					if isFatal(ctx, err) {
						return err
					}
					if held.Add(int64(len(answer.raw))) > most {
						answer, err = Answer{}, errHeld
					}
					out[i] = asked{answer, err, true}
					progress.Lock()
					a.Progress(what, int(done.Add(1)), len(requests))
					progress.Unlock()
				}
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return out, context.Cause(ctx)
}
