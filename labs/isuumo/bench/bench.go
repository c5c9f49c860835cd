package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/bench/internal/truth"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// Options configure what is measured, and for how long. Target and Data are needed; zero
// values of the rest are the contest's.
type Options struct {
	Target string       // base URL of the service: "http://127.0.0.1:1323"
	Data   *isuumo.Data // what /initialize loads, and what is uploaded; read only
	Known  *Known       // Know(Data), for many benchmarks of the same data; nil: it is made

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

// Figures are what a run reports beside its result.
type Figures struct {
	// TopLevel are the requests that were sent from the moment at which the last level
	// was reached until the end of the load.
	TopLevel []scenario.StepLatency `json:"top_level_steps"`
	// HumanRequests are those of the load that were answered well, without those of
	// crawlers.
	HumanRequests uint64 `json:"human_requests"`
}

// Known is what answers are checked by, worked out of the data once. It never changes.
type Known struct {
	chairs  *truth.Chairs
	estates *truth.Estates
}

// Know works out of the data what answers are checked by, some 0.1 s of CPU.
func Know(d *isuumo.Data) *Known { return &Known{truth.NewChairs(d), truth.NewEstates(d)} }

// A Bench is a benchmark of one service. It can be run again, not at once.
type Bench struct {
	o       Options
	figures Figures
}

// New returns a benchmark, or an error when options make no sense.
func New(o Options) (*Bench, error) {
	if o.Data == nil {
		return nil, errors.New("isuumo benchmark: no data")
	}
	if err := checkData(o.Data); err != nil {
		return nil, fmt.Errorf("isuumo benchmark: %w", err)
	}
	if o.Duration < 0 || o.Verify < 0 {
		return nil, fmt.Errorf("isuumo benchmark: %s with %d queries to verify: want 0 or more", o.Duration, o.Verify)
	}
	o.Duration = cmp.Or(o.Duration, loadTime)
	o.Verify = cmp.Or(o.Verify, verifyThorough)
	if o.Levels == nil {
		o.Levels = contestLevels()
	}
	if _, err := agent.New(agent.Options{BaseURL: o.Target, Permit: o.Permit}); err != nil {
		return nil, fmt.Errorf("isuumo benchmark: %w", err)
	}
	if o.Known == nil {
		o.Known = Know(o.Data)
	}
	b := &Bench{o: o}
	if _, err := scenario.New(b.options()); err != nil {
		return nil, fmt.Errorf("isuumo %w", err)
	}
	return b, nil
}

// checkData reports data that queries cannot be drawn from.
func checkData(d *isuumo.Data) error {
	cc, ec := &d.ChairCondition, &d.EstateCondition
	for name, n := range map[string]int{
		"chairs": len(d.Chairs), "estates": len(d.Estates),
		"ranges of price": len(cc.Price.Ranges), "ranges of height": len(cc.Height.Ranges),
		"ranges of width": len(cc.Width.Ranges), "ranges of depth": len(cc.Depth.Ranges),
		"kinds": len(cc.Kind.List), "colors": len(cc.Color.List), "features of chairs": len(cc.Feature.List),
		"ranges of rent": len(ec.Rent.Ranges), "ranges of doorHeight": len(ec.DoorHeight.Ranges),
		"ranges of doorWidth": len(ec.DoorWidth.Ranges),
		"features of estates": len(ec.Feature.List),
	} {
		if n == 0 {
			return fmt.Errorf("the data has no %s", name)
		}
	}
	return nil
}

// options returns the contest's rules.
func (b *Bench) options() scenario.Options {
	return scenario.Options{
		PrepareTimeout: initializeTimeout + verifyTimeout + thoroughTimeout + time.Minute, // each part has its own
		LoadTime:       b.o.Duration, ValidateTimeout: validateTimeout,
		Levels: b.o.Levels,
		Scoring: scenario.Scoring{
			Deduct: map[scenario.Code]int64{scenario.Application: deduction},
			Limit:  map[scenario.Code]int{scenario.Critical: 1, scenario.Application: 10},
		},
		Seed: b.o.Seed, CPUs: b.o.CPUs, OnProgress: b.o.OnProgress, Sink: b.o.Sink,
	}
}

// Run runs the benchmark. An error says that it could not be run; a service that
// fails is in the result.
func (b *Bench) Run(ctx context.Context) (*scenario.Result, error) {
	s, err := scenario.New(b.options())
	if err != nil {
		return nil, err
	}
	r := newRun(&b.o)
	s.Add(r)
	res := s.Run(ctx)
	b.figures = r.figures()
	return res, nil
}

// Figures returns what the last run reports beside its result.
func (b *Bench) Figures() Figures { return b.figures }
