package engine

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/epollhttp"
	"github.com/kasoku/kasoku/load/nethttp"
)

// The names of the engines, for [Options.Engine].
const (
	Auto      = "auto" // also when empty: by the targets
	EpollHTTP = "epollhttp"
	NetHTTP   = "nethttp"
)

// Options configure how a load is sent, by whichever engine.
type Options struct {
	Engine string

	HTTP nethttp.Options // what both engines know; a setting that only net/http has makes it the engine

	Pacing   load.Pacing // of epollhttp
	Pipeline int         // requests in flight on one connection; only epollhttp
	Shards   int         // threads of epollhttp; 0: as many as the cores allow
}

// An Engine is the engine that was chosen for a plan. It chooses again for each
// plan that it runs: the fast one when the plan allows it, and net/http otherwise.
type Engine struct {
	opts  Options
	http  *nethttp.Engine
	proxy func(*http.Request) (*url.URL, error) // of the environment
}

var _ load.Engine = (*Engine)(nil)

// New returns the engine for the plan, and why it is that one. What an engine
// that was asked for by name cannot do is a [*ChoiceError].
func New(o Options, p load.Plan) (*Engine, string, error) {
	h, err := nethttp.New(o.HTTP)
	if err != nil {
		return nil, "", err
	}
	if err := o.epoll().Validate(); err != nil {
		return nil, "", err
	}
	e := &Engine{opts: o, http: h, proxy: http.ProxyFromEnvironment}
	_, why, err := e.choose(&p)
	if err != nil {
		return nil, "", err
	}
	return e, why, h.Check(p.Targets)
}

// Run sends the requests of the plan. See [load.Engine]. It returns a
// [*load.ForbiddenError], with nothing sent, when the plan has a target that may
// not be loaded.
func (e *Engine) Run(ctx context.Context, p load.Plan, start time.Time, sink load.Sink) (kasoku.LoadSummary, error) {
	name, why, err := e.choose(&p)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	run := e.http.Run
	if name == EpollHTTP {
		run = e.runFast
	}
	sum, err := run(ctx, p, start, sink)
	sum.EngineWhy = why
	return sum, err
}

// runFast sends the requests through epollhttp, and follows redirects through
// net/http.
func (e *Engine) runFast(ctx context.Context, p load.Plan, start time.Time, sink load.Sink) (kasoku.LoadSummary,
	error) {
	o := e.opts.epoll()
	o.Resolve = e.http.Resolver().Addrs
	if e.opts.HTTP.Redirects == nethttp.NoFollow {
		return runEpoll(ctx, o, p, start, sink)
	}
	f, err := e.http.Follower(ctx, p, start)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	defer f.Close()
	o.Follow = f.Follow
	sum, err := runEpoll(ctx, o, p, start, sink)
	f.Count(&sum)
	return sum, err
}

func runEpoll(ctx context.Context, o epollhttp.Options, p load.Plan, start time.Time,
	sink load.Sink) (kasoku.LoadSummary, error) {
	fast, err := epollhttp.New(o)
	if err != nil {
		return kasoku.LoadSummary{}, err
	}
	return fast.Run(ctx, p, start, sink)
}

// epoll returns the options of the fast engine.
func (o *Options) epoll() epollhttp.Options {
	h := &o.HTTP
	from := h.Dial.LocalAddr
	if ip := net.ParseIP(from); ip != nil && ip.IsUnspecified() {
		from = "" // Vegeta's way to say any, of both families
	}
	return epollhttp.Options{
		Timeout:        h.Timeout,
		MaxInFlight:    h.MaxInFlight,
		MaxConnections: h.MaxConnections,
		IdleConns:      h.Connections,
		Pipeline:       o.Pipeline,
		NoKeepAlive:    h.NoKeepAlive,
		MaxBody:        h.MaxBody,
		Chunked:        h.Chunked,
		Header:         h.Header,
		LocalAddr:      from,
		SeqHeader:      h.SeqHeader,
		Pacing:         o.Pacing,
		Shards:         o.Shards,
		Permit:         h.Permit,
		Hard:           h.Hard,
	}
}

// Reach connects once to the host of each target, without sending a request,
// and returns the first error, with a hint: a [*load.ForbiddenError] before
// anything is dialled, or a [*nethttp.UnreachableError].
func (e *Engine) Reach(ctx context.Context, targets []load.Target) error {
	return e.http.Reach(ctx, targets)
}

// Permitted returns a [*load.ForbiddenError] when a target leads where no load
// may go. Nothing is dialled.
func (e *Engine) Permitted(ctx context.Context, targets []load.Target) error {
	return e.http.Permitted(ctx, targets)
}

// A ChoiceError reports why the engine that was asked for cannot send a load.
type ChoiceError struct{ Engine, Reason string }

// Error names the engine and the reason.
func (e *ChoiceError) Error() string { return "engine " + e.Engine + ": " + e.Reason }

// Hint returns what to do.
func (e *ChoiceError) Hint() string {
	return fmt.Sprintf("leave the engine out, or say %s: one is chosen that can", Auto)
}
