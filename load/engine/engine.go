package engine

import (
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

// New returns the engine for the plan, and why it is that one. What an engine
// that was asked for by name cannot do is an error.
func New(o Options, p load.Plan) (load.Engine, string, error) {
	e, err := nethttp.New(o.HTTP)
	return e, "the engine for HTTP, with TLS, HTTP/2 and redirects", err
}
