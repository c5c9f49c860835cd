//go:build amd64 || arm64

package epollhttp

import "time"

// A clock is the time of a shard, which sleeps by it. Times count from the start of
// the load.
type clock struct {
	base   time.Time     // offset of readings, with a monotonic reading
	offset time.Duration // of base after the start of the load
	at     time.Duration // the newest reading
	wall   int64         // what the wall clock showed at the start of the load, by the newest reading of both
	lead   time.Duration // by which naps are cut short, as the thread wakes up late
}

// now reads the clock.
func (c *clock) now() time.Duration {
	c.at = c.offset + time.Since(c.base)
	return c.at
}

// readWall reads both clocks.
func (c *clock) readWall() {
	now := time.Now()
	c.at = c.offset + now.Sub(c.base)
	c.wall = now.UnixNano() - int64(c.at)
}

// sleep lets answers come until then.
func (c *clock) sleep(until time.Duration, precise bool) {
	if !precise {
		sleepFor(until - c.at)
		return
	}
	for until-c.at > spinTime { // again when a signal ended it
		from := c.wakeFor(until)
		sleepFor(max(from-c.at, 1))
		c.learn(c.now() - from)
	}
	for c.now() < until {
	}
}

const (
	// maxLead bounds what is taken for the time of a wake-up. What is longer was
	// somebody else's turn.
	maxLead = 30 * time.Microsecond

	// leadStep is by how much the lead follows what is seen.
	leadStep = 250 * time.Nanosecond

	// leadShare of a wait at most is spent being on time: at high rates that would
	// be much CPU for few microseconds.
	leadShare = 12
)

// wakeFor returns when to wake up to be there at a time.
func (c *clock) wakeFor(at time.Duration) time.Duration {
	return at - min(c.lead, (at-c.at)/leadShare)
}

// learn takes how late the thread woke up, and lets the lead go to where one
// wake-up in four is earlier. What then still has to be waited is little, and
// spent looking at the clock.
func (c *clock) learn(late time.Duration) {
	switch {
	case late < 0: // a signal, or a wait in two parts
	case late < c.lead:
		c.lead -= 3 * leadStep
	default:
		c.lead = min(c.lead+leadStep, maxLead)
	}
}
