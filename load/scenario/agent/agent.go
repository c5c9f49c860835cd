package agent

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/scenario"
)

// An Agent is the client of one user. It is safe for concurrent use.
type Agent struct {
	opts     Options
	base     *url.URL
	resolver *load.Resolver
	dialer   net.Dialer
	fields   []field // of each request, but for Host
	lines    []byte  // the same, as they go out
	site     *site   // nil: all goes through other
	other    *other
	cookies  cookies
	memory   *memory // nil: nothing is remembered
	inflater inflater

	made, resent atomic.Uint64

	mu   sync.Mutex
	free []*Response // released
}

// Counts are what an agent has done.
type Counts struct {
	Connections uint64 // that were made
	Resent      uint64 // requests that were sent again, because an idle connection turned out to be closed
}

// Counts returns what was done so far. Many more connections than users say that
// the server does not keep them.
func (a *Agent) Counts() Counts { return Counts{a.made.Load(), a.resent.Load()} }

// New returns an agent. It dials nothing. It fails when an option makes no sense.
func New(o Options) (*Agent, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	a := &Agent{opts: o.filled(), resolver: o.Resolver}
	a.base, _ = parseBase(o.BaseURL)
	if a.resolver == nil {
		var err error
		if a.resolver, err = load.NewResolver(load.ResolverOptions{Permit: o.Permit}); err != nil {
			return nil, fmt.Errorf("agent: %w", err)
		}
	}
	a.fields = a.opts.fields(a.base.User)
	for _, f := range a.fields {
		a.lines = append(a.lines, f.line...)
	}
	if !o.NoCookies {
		a.cookies = newCookies()
	}
	if !o.NoCache {
		a.memory = newMemory(a.opts.MaxCache)
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: a.base})
	if err != nil {
		return nil, fmt.Errorf("agent: proxy: %w", err)
	}
	if a.base.Scheme == "http" && proxy == nil {
		a.site = newSite(a)
	}
	a.other = newOther(a)
	return a, nil
}

// Close closes the connections that have nothing to do, and those of requests that
// are under way when they end. The agent can still be used; each request then has
// a connection of its own.
func (a *Agent) Close() {
	if a.site != nil {
		a.site.close()
	}
	a.other.close()
}

// Do sends a request and reads the answer. An answer with any status is no error.
//
// An error says method and path, and what went wrong. It has the code
// [scenario.Timeout] when the time was up, [scenario.Canceled] when ctx was
// cancelled, also in the middle of an answer, and [scenario.Internal] for a request
// that cannot be sent; any other has none.
//
// In an open loop the record of the first request of an arrival counts from when that
// was due, see [scenario.Due].
func (a *Agent) Do(ctx context.Context, r *Request) (*Response, error) {
	x := call{a: a, ctx: ctx, r: r, method: r.method(), due: time.Now()}
	if err := x.prepare(); err != nil {
		return nil, scenario.Errorf(scenario.Internal, "%s %s: %w", x.method, r.Path, err)
	}
	if x.known != nil && x.due.Before(x.known.fresh) {
		return x.known.response(&x), nil
	}
	x.sent, x.res, x.owed = x.due, a.response(), x.due
	if due, ok := scenario.Due(ctx); ok {
		x.owed = due
	}
	var err error
	if a.site != nil && x.url == nil {
		err = a.site.send(&x)
	} else {
		err = a.other.send(&x)
	}
	if x.done.IsZero() {
		x.done = time.Now()
	}
	if err == nil {
		err = x.finish()
	}
	if a.opts.Record != nil && !x.canceled(err) {
		a.record(&x, err)
	}
	if err != nil {
		x.res.Release()
		return nil, x.fail(err)
	}
	x.res.Sent, x.res.Done = x.sent, x.done
	return x.res, nil
}

// prepare finds out what of the request is not in it.
func (x *call) prepare() error {
	if err := x.check(); err != nil {
		return err
	}
	if err := x.locate(); err != nil {
		return err
	}
	limit := x.a.opts.Timeout
	if x.r.Timeout != 0 {
		limit = x.r.Timeout
	}
	if limit > 0 {
		x.deadline = x.due.Add(limit)
	}
	if end, ok := x.ctx.Deadline(); ok && (x.deadline.IsZero() || end.Before(x.deadline)) {
		x.deadline = end
	}
	x.cookie = x.a.cookies.header(x)
	if m := x.a.memory; m != nil {
		x.known = m.find(x)
	}
	return nil
}

// finish makes of what was read the response that the caller gets.
func (x *call) finish() error {
	res := x.res
	res.Status, res.Header, res.Body = x.code, Header{res.kept.Header}, res.kept.Body
	res.base, res.uri, res.url = x.a.base, x.uri, x.url
	said := readFields(res.kept.Header)
	if said.cookies {
		x.a.cookies.take(x, res.Header)
	}
	if len(said.encoding) > 0 && len(res.Body) > 0 && x.asksForCompression() {
		if err := x.a.inflater.decode(res, said.encoding, x.a.opts.MaxBody); err != nil {
			return fmt.Errorf("decode %q: %w", said.encoding, err)
		}
	}
	if m := x.a.memory; m != nil {
		m.take(x, &said)
	}
	return nil
}

// record gives the call to who counts.
func (a *Agent) record(x *call, err error) {
	rec := scenario.Record{Step: x.r.step(), Due: x.owed, Sent: x.sent, Done: x.done, BytesIn: x.bytesIn,
		BytesOut: x.bytesOut}
	if err == nil {
		rec.Code, rec.Err = x.code, x.reason
	} else {
		rec.Err = x.recorded(err)
	}
	a.opts.Record(rec)
}

// maxFree is how many released responses are kept, and maxFreeBody how much memory
// of a body, in bytes.
const (
	maxFree     = 8
	maxFreeBody = 1 << 20
)

// response returns an empty response.
func (a *Agent) response() *Response {
	a.mu.Lock()
	n := len(a.free)
	if n == 0 {
		a.mu.Unlock()
		return &Response{agent: a}
	}
	res := a.free[n-1]
	a.free = a.free[:n-1]
	a.mu.Unlock()
	res.agent = a
	return res
}
