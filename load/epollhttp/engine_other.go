//go:build !linux || !(amd64 || arm64)

package epollhttp

import (
	"context"
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
)

var errLinux = errors.New("epollhttp engine: needs Linux on amd64 or arm64")

// An Engine sends the requests of a plan over raw sockets. There is none here.
type Engine struct{}

var _ load.Engine = (*Engine)(nil)

// New returns an error: the engine needs Linux.
func New(Options) (*Engine, error) { return nil, errLinux }

// Run returns an error: the engine needs Linux.
func (*Engine) Run(context.Context, load.Plan, time.Time, load.Sink) (kasoku.LoadSummary, error) {
	return kasoku.LoadSummary{}, errLinux
}
