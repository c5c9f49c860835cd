package engine

import (
	"context"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// The names of the engines, for [Options.Engine].
const (
	Auto      = "auto" // also when empty: by the targets
	EpollHTTP = "epollhttp"
	NetHTTP   = "nethttp"
)

// Options say how a load is sent, by whichever engine.
type Options struct {
	Engine string

	HTTP nethttp.Options // what both engines know; a setting that only net/http has makes it the engine

	Pacing   load.Pacing // of epollhttp
	Pipeline int         // requests in flight on one connection; only epollhttp
	Shards   int         // threads of epollhttp; 0: as many as the cores allow
}

// An Engine is the engine that was chosen for a plan.
type Engine struct {
	load.Engine
	http *nethttp.Engine
	why  string
}

// New returns the engine for the plan, and why it is that one. What an engine
// that was asked for by name cannot do is an error.
func New(o Options, p load.Plan) (*Engine, string, error) {
	e, err := nethttp.New(o.HTTP)
	if err != nil {
		return nil, "", err
	}
	why := "the engine for HTTP, with TLS, HTTP/2 and redirects"
	return &Engine{Engine: e, http: e, why: why}, why, nil
}

// Reach connects once to the host of each target, without sending a request,
// and returns the first error, with a hint: a [*nethttp.UnreachableError], or a
// [*load.ForbiddenError] before anything is dialled.
func (e *Engine) Reach(ctx context.Context, targets []load.Target) error {
	return e.http.Reach(ctx, targets)
}
