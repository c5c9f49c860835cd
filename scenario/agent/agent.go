package agent

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/scenario"
)

// An Agent is the client of one user. It is safe for concurrent use.
type Agent struct {
	opts     Options
	base     *url.URL
	resolver *load.Resolver
	other    *other
}

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
	a.other = newOther(a)
	return a, nil
}

// Close closes the connections that have nothing to do. No request may be under
// way.
func (a *Agent) Close() { a.other.close() }

// Do sends a request and reads the answer. An answer with any status is no error.
//
// An error says method and path, and what went wrong. It has the code
// [scenario.Timeout] when the time was up and [scenario.Canceled] when ctx was
// cancelled, also in the middle of an answer; any other has none.
func (a *Agent) Do(ctx context.Context, r *Request) (*Response, error) {
	due := time.Now()
	ref, err := url.Parse(r.Path)
	if err != nil {
		return nil, fmt.Errorf("%s %q: bad path", r.method(), r.Path)
	}
	u := a.base.ResolveReference(ref)
	res, err := a.other.do(ctx, r, u)
	if f := a.opts.Record; f != nil {
		rec := scenario.Record{Step: r.step(), Due: due, Sent: due, Done: time.Now(), BytesOut: uint64(len(r.Body))}
		if err != nil {
			rec.Err = err.Error()
		} else {
			rec.Code, rec.BytesIn = res.Status, uint64(len(res.Body))
		}
		f(rec)
	}
	return res, err
}

// SubResources fetches what an HTML page refers to; see [Resource].
func (a *Agent) SubResources(ctx context.Context, page *Response) ([]Resource, error) {
	return nil, nil
}

// A Resource is what a page refers to: a stylesheet, an icon, a script or a
// picture.
type Resource struct {
	URL      string
	Response *Response // nil with Err
	Err      error
}
