package scenario

import (
	"context"
	"fmt"
)

// A Benchmark is a list of scenarios and how they are run.
type Benchmark struct {
	o         Options
	scenarios []Scenario
}

// New returns a benchmark without scenarios, or an error when options make no sense.
func New(o Options) (*Benchmark, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("benchmark: %w", err)
	}
	return &Benchmark{o: o.filled()}, nil
}

// Add adds a scenario. It panics when the value is none: a method is mistyped then.
func (b *Benchmark) Add(s Scenario) {
	_, prepares := s.(Preparer)
	_, loads := s.(Loader)
	_, validates := s.(Validator)
	if !prepares && !loads && !validates {
		panic(fmt.Sprintf("scenario: %T has no method Prepare, Load or Validate of a scenario", s))
	}
	b.scenarios = append(b.scenarios, s)
}

// Seed returns the seed of the benchmark's random numbers.
func (b *Benchmark) Seed() uint64 { return b.o.Seed }

// Run runs the benchmark: Prepare of each scenario, one after the other, then the
// Load of all at once, then Validate, one after the other. It ends early when
// preparing fails, when the limit of a code is reached, or when ctx is cancelled; the
// result is then what there is so far.
//
// A benchmark can be run again, but not twice at once when it is put on cores.
func (b *Benchmark) Run(ctx context.Context) *Result {
	r := newRun(ctx, &b.o)
	defer r.cancel()
	defer r.pin()()
	stop := r.tick()
	if r.prepare(b.scenarios) && r.load(b.scenarios) {
		r.validate(b.scenarios)
	}
	stop()
	result := r.result()
	r.report(result)
	return result
}
