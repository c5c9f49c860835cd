package load

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
)

// A Spacing defines how requests lie around their rate.
type Spacing int

// The ways to space requests; [Burst] is another.
const (
	// Even has the same time between all requests of a rate.
	Even Spacing = 0
	// Poisson has them come as from many users who know nothing of one another: the
	// gaps between them are random, with the exponential distribution, and the rate
	// is their mean. How many there are is random too.
	Poisson Spacing = -1
)

// Burst has n requests due at once, and then none until n more are due at the
// rate, so that the mean is kept. With less than two it is [Even].
func Burst(n int) Spacing {
	if n < 2 {
		return Even
	}
	return Spacing(n)
}

// String returns what [ParseSpacing] reads.
func (s Spacing) String() string {
	switch {
	case s == Even:
		return "even"
	case s == Poisson:
		return "poisson"
	}
	return fmt.Sprintf("burst:%d", int(s))
}

// Describe returns in words how requests come, for reports; empty for [Even].
func (s Spacing) Describe() string {
	switch {
	case s == Even:
		return ""
	case s == Poisson:
		return "Poisson arrivals"
	}
	return "bursts of " + unit.Count(int(s))
}

// OneStep returns the schedule of one step: requests at perSec spaced so, or with 0 a closed
// loop without think time. The seed is that of [Spaced].
func OneStep(perSec float64, d time.Duration, s Spacing, seed uint64) (Schedule, error) {
	if perSec == 0 {
		return Closed(d)
	}
	t, err := Constant(perSec, d)
	if err != nil {
		return nil, err
	}
	return Spaced(t, s, seed), nil
}

// Spaced returns the timetable with its requests spaced so. The seed makes the
// random times: the same ones each time, whatever the engine.
func Spaced(t *Timetable, s Spacing, seed uint64) Schedule {
	if s == Even {
		return t
	}
	return &spaced{t, s, seed}
}

// spaced is a timetable with other times between its requests.
type spaced struct {
	*Timetable
	spacing Spacing
	seed    uint64
}

// Arrivals implements [Schedule].
func (s *spaced) Arrivals() Arrivals {
	if s.spacing == Poisson {
		return &poissonArrivals{walk: s.walk(), rand: rand.New(rand.NewPCG(s.seed, 0))}
	}
	total, bounded := s.Total()
	return &burstArrivals{walk: s.walk(), size: uint64(s.spacing), total: total, bounded: bounded}
}

// burstArrivals are due where the first one of their burst is, if they were even.
type burstArrivals struct {
	walk
	size    uint64
	total   uint64
	bounded bool

	n    uint64
	left uint64 // requests of the burst that are yet to come
	last time.Duration
}

// Next implements [Arrivals].
func (a *burstArrivals) Next() (time.Duration, int, bool) {
	if a.bounded && a.n >= a.total {
		return 0, 0, false
	}
	if a.left == 0 {
		for a.n >= a.end {
			a.next()
		}
		a.last = max(a.last, a.due(a.offset(a.n)))
		a.left = a.size
	}
	a.n++
	a.left--
	return a.last, a.step, true
}

// poissonArrivals are due where the sum of the rate has grown by a random amount
// since the one before, with the exponential distribution and the mean 1. That is
// exact for any rate, also one that changes (time rescaling).
type poissonArrivals struct {
	walk
	rand  *rand.Rand
	whole int64   // of the requests of the stretch that are done
	frac  float64 // and the part of one: a float64 alone would stop growing at 2^53
	last  time.Duration
}

// Next implements [Arrivals].
func (a *poissonArrivals) Next() (time.Duration, int, bool) {
	a.split(a.frac + a.rand.ExpFloat64())
	x := float64(a.whole) + a.frac
	for x >= a.mass {
		before := a.mass
		if !a.next() {
			return 0, 0, false
		}
		x -= before
		a.whole = 0
		a.split(x)
	}
	a.last = max(a.last, a.due(x))
	return a.last, a.step, true
}

// split adds the whole part of x to whole and keeps the rest.
func (a *poissonArrivals) split(x float64) {
	k := int64(x)
	a.whole += k
	a.frac = x - float64(k)
}
