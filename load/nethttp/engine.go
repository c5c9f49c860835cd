package nethttp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

// An Engine sends the requests of a plan through net/http. It may run several
// loads, one after the other; each begins without connections.
type Engine struct {
	opts Options
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
	return &Engine{opts: opts}, nil
}

// Run sends the requests of the plan. See [load.Engine].
func (e *Engine) Run(ctx context.Context, p load.Plan, start time.Time, sink load.Sink) (kasoku.LoadSummary, error) {
	templates, err := e.prepare(p.Targets)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	dialCtx, stopDialing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDialing()
	tr, err := e.transport(dialCtx)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	defer tr.CloseIdleConnections()
	all := &shared{opts: &e.opts, tr: tr, targets: templates, timeout: e.opts.timeout()}
	d := &load.Driver{
		MaxInFlight: e.opts.maxInFlight(),
		GiveUp:      all.timeout,
		Hard:        e.opts.Hard,
		NewClient:   func() load.Client { return &client{shared: all} },
	}
	sum, err := d.Run(ctx, p, start, sink)
	sum.Engine = "nethttp"
	sum.EngineWhy = "the engine for HTTP, with TLS, HTTP/2 and redirects"
	return sum, err
}

// transport returns a transport of its own for one load. Dials that are still
// under way end when ctx does.
func (e *Engine) transport(ctx context.Context) (*http.Transport, error) {
	tlsConfig, err := e.opts.TLS.config()
	if err != nil {
		return nil, fmt.Errorf("http engine: %w", err)
	}
	o := &e.opts
	idle := o.Connections
	if idle == 0 {
		idle = DefaultConnections
	}
	tr := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         e.dialer(ctx),
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: 10 * time.Second, // as net/http's default transport
		MaxIdleConnsPerHost: idle,
		MaxConnsPerHost:     o.MaxConnections,
		DisableKeepAlives:   o.NoKeepAlive,
		DisableCompression:  true,
		Protocols:           new(http.Protocols),
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

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer returns how connections are made. A dial outlives the request that
// asked for it, so that the next one can use the connection, but not the load.
func (e *Engine) dialer(load context.Context) dialFunc {
	d := &net.Dialer{Timeout: e.opts.timeout()}
	if ip := net.ParseIP(e.opts.LocalAddr); ip != nil {
		d.LocalAddr = &net.TCPAddr{IP: ip}
	}
	socket := e.opts.UnixSocket
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(load, cancel)()
		if socket != "" {
			return d.DialContext(ctx, "unix", socket)
		}
		return d.DialContext(ctx, network, addr)
	}
}

// prepare makes one request for each target, to be copied for each hit.
func (e *Engine) prepare(targets []load.Target) ([]template, error) {
	out := make([]template, len(targets))
	for i, t := range targets {
		req, err := e.request(t)
		if err != nil {
			return nil, fmt.Errorf("target %d, %s %q: %w", i+1, t.Method, t.URL, err)
		}
		out[i] = template{req, t.Body}
	}
	return out, nil
}

// A template is the request of one target. It is shared and never changed.
type template struct {
	req  *http.Request
	body []byte
}

func (e *Engine) request(t load.Target) (*http.Request, error) {
	req, err := http.NewRequest(t.Method, t.URL, nil)
	if err != nil {
		return nil, err
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return nil, fmt.Errorf("bad URL scheme %q: want http or https", s)
	}
	if req.URL.Host == "" {
		return nil, fmt.Errorf("bad URL %q: no host", t.URL)
	}
	for k, vs := range e.opts.Header {
		req.Header[k] = vs
	}
	for k, vs := range t.Header {
		req.Header[k] = vs
	}
	settle(req)
	if u := req.URL.User; u != nil && req.Header.Get("Authorization") == "" {
		pass, _ := u.Password()
		req.SetBasicAuth(u.Username(), pass)
	}
	if len(t.Body) > 0 {
		req.ContentLength = int64(len(t.Body))
		if e.opts.Chunked {
			req.ContentLength = -1
		}
		req.GetBody = func() (io.ReadCloser, error) { return newBody(t.Body), nil }
	}
	return req, nil
}

// settle gives the headers that net/http treats apart the meaning that their
// names have in any case, and asks for the encoding that net/http asks for.
func settle(req *http.Request) {
	agent, encoding := false, false
	for k, vs := range req.Header {
		switch canon := http.CanonicalHeaderKey(k); {
		case len(vs) == 0:
		case canon == "Host":
			req.Host = vs[len(vs)-1]
			delete(req.Header, k)
		case canon == "User-Agent":
			agent = agent || k != canon
		case canon == "Accept-Encoding" || canon == "Range":
			encoding = true
		}
	}
	if agent {
		if _, both := req.Header["User-Agent"]; !both {
			req.Header["User-Agent"] = []string{""} // none but the one in the other case
		}
	}
	if !encoding && req.Method != http.MethodHead {
		req.Header["Accept-Encoding"] = []string{"gzip"}
	}
}

// Reach connects once to the host of each target, without sending a request,
// and returns the first error, with a hint.
func (e *Engine) Reach(ctx context.Context, targets []load.Target) error {
	seen := map[string]bool{}
	dial := e.dialer(ctx)
	for _, t := range targets {
		u, err := url.Parse(t.URL)
		if err != nil {
			return fmt.Errorf("target %q: %w", t.URL, err)
		}
		addr := address(u)
		if seen[addr] {
			continue
		}
		seen[addr] = true
		conn, err := dial(ctx, "tcp", addr)
		if err != nil {
			return &UnreachableError{URL: t.URL, Err: err}
		}
		conn.Close()
	}
	return nil
}

func address(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case strings.EqualFold(u.Scheme, "https"):
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
