package load

import (
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
)

// A ClosedLoop is the [Schedule] of a closed loop. Engines know it by its type
// and keep as many users as the cap on requests in flight: each sends a request,
// waits for the answer, thinks, and sends the next one.
//
// Latency under a closed loop has no send delay in it and says little of what
// users would see when there are more of them; without thinking it finds the
// highest throughput.
type ClosedLoop struct {
	End time.Duration // no request is sent from then on; Forever: until stopped
	// Each user waits a time between these two, drawn evenly, after each answer.
	ThinkMin, ThinkMax time.Duration
	Seed               uint64 // of those times
}

var _ Schedule = (*ClosedLoop)(nil)

// Closed returns a closed loop that goes on for d, with d = 0 until it is
// stopped, without think time.
func Closed(d time.Duration) (*ClosedLoop, error) {
	if d < 0 {
		return nil, fmt.Errorf("closed loop: bad duration %s", d)
	}
	if d == 0 {
		d = Forever
	}
	return &ClosedLoop{End: d}, nil
}

func (c *ClosedLoop) check() error {
	if c.ThinkMin < 0 || c.ThinkMax < c.ThinkMin {
		return fmt.Errorf("closed loop: bad think time from %s to %s", c.ThinkMin, c.ThinkMax)
	}
	return nil
}

// Think returns how long the user that sent request n waits after its answer.
func (c *ClosedLoop) Think(n uint64) time.Duration {
	if c.ThinkMax == c.ThinkMin {
		return c.ThinkMin
	}
	d := newDraw(keyOf(c.Seed, 0), n)
	return c.ThinkMin + time.Duration(d.below(uint64(c.ThinkMax-c.ThinkMin)+1))
}

// Arrivals gives nothing: when a request is due depends on the answers.
func (c *ClosedLoop) Arrivals() Arrivals { return noArrivals{} }

type noArrivals struct{}

func (noArrivals) Next() (time.Duration, int, bool) { return 0, 0, false }

// Total returns false: how many requests there will be depends on the answers.
func (c *ClosedLoop) Total() (uint64, bool) { return 0, false }

// Steps returns the one step, of rate 0.
func (c *ClosedLoop) Steps() []kasoku.Step {
	step := kasoku.Step{Number: 1, Interval: kasoku.Interval{To: c.End}}
	if c.End < Forever {
		step.Planned = c.End
	}
	return []kasoku.Step{step}
}
