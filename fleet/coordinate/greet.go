package coordinate

import (
	"context"
	"fmt"

	"github.com/kasoku/kasoku/fleet"
)

func ask(ctx context.Context, b Bus, host, verb string, question, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return b.Ask(ctx, host, verb, question, answer)
}

// Greet asks a host who it is, and what its clock shows.
func Greet(ctx context.Context, b Bus, host string) (g fleet.Greeting, clock fleet.Exchange, err error) {
	if err := ask(ctx, b, host, fleet.Hello, struct{}{}, &g); err != nil {
		return g, clock, err
	}
	if g.Version != fleet.Version {
		return g, clock, fmt.Errorf("%s speaks version %d of the questions, and this is %d", host, g.Version,
			fleet.Version)
	}
	clock, err = Compare(ctx, b, host)
	return g, clock, err
}

// Compare asks what the clock of a host shows, and returns the exchange with the least bound.
func Compare(ctx context.Context, b Bus, host string) (fleet.Exchange, error) {
	var all []fleet.Exchange
	for range questions {
		var x fleet.Exchange
		var err error
		if x.Asked, err = fleet.Monotonic(); err != nil {
			return x, err
		}
		if err := ask(ctx, b, host, fleet.Clock, struct{}{}, &x.ClockAnswer); err != nil {
			return x, err
		}
		if x.Answered, err = fleet.Monotonic(); err != nil {
			return x, err
		}
		all = append(all, x)
	}
	best, ok := fleet.Nearest(all)
	if !ok {
		return best, fmt.Errorf("%s: what it says of its clock cannot be", host)
	}
	return best, nil
}
