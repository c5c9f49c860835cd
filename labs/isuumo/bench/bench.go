package bench

import (
	"context"
	"errors"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/scenario"
)

// Options say what is measured, and for how long. Target and Data are needed; zero
// values of the rest are the contest's.
type Options struct {
	Target string       // base URL of the service: "http://127.0.0.1:1323"
	Data   *isuumo.Data // what /initialize loads, and what is uploaded; nobody changes it

	Compat bool // make exactly the checks of the contest's own benchmark

	Duration time.Duration // of the load; 0: a minute
	Levels   []int64       // the points at which level 1, 2, … begin; nil: the contest's eleven
	// Verify is how many queries of each kind verify the service before the load, in a
	// time of their own; 0: 100. Compat knows only the contest's five.
	Verify int

	Seed   uint64 // of all that is random; 0: one is drawn
	CPUs   []int  // the cores that the process is put on; empty: as it is
	Permit load.Permit

	// Restart, when not nil, is called between load and validation: it ends the service
	// in whatever way and starts it again, so that the validation sees what is left of
	// all that was confirmed. Compat has no validation and never calls it.
	Restart func(context.Context) error

	OnProgress func(scenario.Progress) // called once a second; may be nil
	Sink       scenario.Sink           // may be nil
}

// Figures are what a run tells beside its result.
type Figures struct {
	// TopLevel are the requests that were sent from the moment at which the last level
	// was reached until the end of the load.
	TopLevel []scenario.StepLatency `json:"top_level_steps"`
	// HumanRequests are those of the load that were answered well, without those of
	// crawlers.
	HumanRequests uint64 `json:"human_requests"`
}

// A Bench is a benchmark of one service. It can be run again, not at once.
type Bench struct {
	o Options
}

// New returns a benchmark, or an error when options make no sense.
func New(o Options) (*Bench, error) {
	if o.Data == nil {
		return nil, errors.New("isuumo benchmark: no data")
	}
	return &Bench{o: o}, nil
}

// Run runs the benchmark. An error says that it could not be run; a service that
// fails is in the result.
func (b *Bench) Run(ctx context.Context) (*scenario.Result, error) {
	return &scenario.Result{}, nil
}

// Figures returns what the last run tells beside its result.
func (b *Bench) Figures() Figures { return Figures{} }
