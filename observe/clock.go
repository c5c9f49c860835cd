package observe

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// stepMin is the smallest change of the wall clock against the monotonic one,
// from one tick to the next, that counts as a step. Time servers slew a clock by
// at most 0.5 ms a second (adjtimex(2)), and set it at once beyond 128 ms.
const stepMin = 100 * time.Millisecond

// A wallClock notices when somebody sets the wall clock.
type wallClock struct {
	start time.Time            // wall time at the start, without monotonic reading
	drift time.Duration        // wall time minus run time, at the last check
	now   func() time.Time     // overridden in tests to set the wall clock
	run   func() time.Duration // the run's clock
}

// The two clocks are read one after the other, and a machine that is busy may let this
// process wait between the two for longer than the smallest step. Then they are read
// again, and after some tries not compared: the next tick does.
const (
	readWithin = stepMin / 10
	readTries  = 5
)

// check compares the clocks now. stepped is true when the wall clock was set since the
// last check.
func (c *wallClock) check() (e kasoku.Event, stepped bool) {
	for range readTries {
		at := c.run()
		drift := c.now().Round(0).Sub(c.start) - at
		if c.run()-at <= readWithin {
			return c.compare(at, drift)
		}
	}
	return kasoku.Event{}, false
}

// compare takes how far the wall clock is from the run's at a moment of the run.
func (c *wallClock) compare(at, drift time.Duration) (e kasoku.Event, stepped bool) {
	step := drift - c.drift
	c.drift = drift
	if step.Abs() < stepMin {
		return kasoku.Event{}, false
	}
	way := "forward"
	if step < 0 {
		way = "back"
	}
	return kasoku.Event{At: at, Kind: "clock", Text: "the wall clock was set " + way + " by " +
		unit.Duration(step.Abs())}, true
}
