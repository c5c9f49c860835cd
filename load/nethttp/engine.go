package nethttp

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

// lookupTime is how long a load waits for the addresses of its targets before it
// begins without: a name server that is down must not shift the schedule by more.
// Each connection is checked again.
const lookupTime = 2 * time.Second

// An Engine sends the requests of a plan through net/http. It may run several
// loads, one after the other; each begins without connections.
type Engine struct {
	opts     Options
	resolver *load.Resolver
	proxy    func(*http.Request) (*url.URL, error) // of the environment
}

var _ load.Engine = (*Engine)(nil)

// New returns an engine. It reads the TLS files once, to fail before a load
// rather than in it.
func New(opts Options) (*Engine, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("http engine: %w", err)
	}
	if _, err := opts.TLS.config(); err != nil {
		return nil, fmt.Errorf("http engine: %w", err)
	}
	r, err := load.NewResolver(opts.resolver())
	if err != nil {
		return nil, fmt.Errorf("http engine: %w", err)
	}
	return &Engine{opts: opts, resolver: r, proxy: http.ProxyFromEnvironment}, nil
}

// Run sends the requests of the plan. See [load.Engine]. It returns a
// [*load.ForbiddenError], with nothing sent, when the plan has a target that may
// not be loaded.
func (e *Engine) Run(ctx context.Context, p load.Plan, start time.Time, sink load.Sink) (kasoku.LoadSummary, error) {
	all, stop, err := e.begin(ctx, p.Targets)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	defer stop()
	lookup, cancel := context.WithTimeout(ctx, lookupTime)
	err = e.Permitted(lookup, p.Targets)
	cancel()
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	d := &load.Driver{
		MaxInFlight: e.opts.maxInFlight(),
		GiveUp:      all.timeout,
		Hard:        e.opts.Hard,
		NewClient:   func() load.Client { return &client{shared: all} },
	}
	sum, err := d.Run(ctx, p, start, sink)
	sum.Engine, sum.EngineWhy = "nethttp", "the engine for HTTP, with TLS, HTTP/2 and redirects"
	if sum.Model == load.ModelOpen {
		sum.Pacing = "timers"
	}
	all.count(&sum)
	return sum, err
}

// count adds what was done to the summary.
func (s *shared) count(sum *kasoku.LoadSummary) {
	sum.Connections += s.dialer.made.Load()
	sum.Resent += s.resent.Load()
	sum.Redirected += s.redirected.Load()
}

// Check reports a target that is not a request over HTTP.
func (e *Engine) Check(targets []load.Target) error {
	_, err := e.prepare(targets)
	return err
}

// Resolver returns what finds the addresses of hosts, by the engine's options.
func (e *Engine) Resolver() *load.Resolver { return e.resolver }

// begin makes what the workers of one load share, and a function that ends its
// connections.
func (e *Engine) begin(ctx context.Context, targets []load.Target) (*shared, func(), error) {
	templates, err := e.prepare(targets)
	if err != nil {
		return nil, nil, err
	}
	ctx, stopDialing := context.WithCancel(context.WithoutCancel(ctx))
	d := e.dialer(ctx)
	tr, err := e.transport(d)
	if err != nil {
		stopDialing()
		return nil, nil, err
	}
	all := &shared{Engine: e, dialer: d, tr: tr, targets: templates, timeout: e.opts.timeout()}
	return all, func() {
		tr.CloseIdleConnections()
		stopDialing()
	}, nil
}

// transport returns a transport of its own for one load.
func (e *Engine) transport(d *dialer) (*http.Transport, error) {
	o := &e.opts
	tlsConfig, err := o.TLS.config()
	if err != nil {
		return nil, fmt.Errorf("http engine: %w", err)
	}
	tlsConfig.SessionTicketsDisabled = !o.TLS.Tickets
	if o.TLS.Tickets {
		tlsConfig.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	tr := &http.Transport{
		DialContext:            d.dial,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    10 * time.Second, // as net/http's default transport
		MaxIdleConnsPerHost:    o.idle(),
		MaxConnsPerHost:        o.MaxConnections,
		MaxResponseHeaderBytes: load.MaxResponseHeader,
		DisableKeepAlives:      o.NoKeepAlive,
		DisableCompression:     true,
		ProxyConnectHeader:     o.ProxyHeader,
		Protocols:              new(http.Protocols),
	}
	if o.Dial.UnixSocket == "" {
		tr.Proxy = e.route
	}
	switch {
	case o.H2C:
		tr.Protocols.SetUnencryptedHTTP2(true)
		tr.Protocols.SetHTTP2(true)
	case o.NoHTTP2:
		tr.Protocols.SetHTTP1(true)
	default:
		tr.Protocols.SetHTTP1(true)
		tr.Protocols.SetHTTP2(true)
	}
	return tr, nil
}
