package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

// A counter is a service, and its benchmark at once.
type counter struct{ n, asked int }

func (c *counter) Prepare(context.Context, *scenario.Step) error {
	c.n, c.asked = 0, 0
	return nil
}

func (c *counter) Load(ctx context.Context, s *scenario.Step) error {
	s.Workers(ctx, scenario.Workers{
		Name:  "user",
		Count: func(level int) int { return 1 },
		Loops: 20,
		Do: func(ctx context.Context, w *scenario.Worker) error {
			c.asked++
			if w.Loop != 13 { // the service forgets one
				c.n++
			}
			s.Score("count")
			return w.Sleep(ctx, w.Between(0, time.Millisecond))
		},
	})
	return nil
}

func (c *counter) Validate(context.Context, *scenario.Step) error {
	if c.n != c.asked {
		return errors.New("the service has lost something")
	}
	return nil
}

func Example() {
	b, err := scenario.New(scenario.Options{LoadTime: time.Minute, Levels: []int64{10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Add(&counter{})
	r := b.Run(context.Background())
	fmt.Println(r.Pass, r.Score, "level", r.Level, r.Reason, r.Messages)
	// Output:
	// false 20 level 1 validation failed [{the service has lost something 1}]
}
