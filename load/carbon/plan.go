package carbon

import (
	"math/rand/v2"
	"time"
)

// Slots of an agent that spreads its series: how short one is, and how many a second all
// agents have.
const (
	leastSlot     = 50 * time.Millisecond
	slotsOfSecond = 2000
)

// A plan says what each agent sends when. It is read by all agents and who counts what is
// due, and changed by none.
type plan struct {
	o     *Options
	slots int // of an interval
}

func newPlan(o *Options) plan {
	if o.Launches != nil {
		return plan{o, 1}
	}
	slot := max(leastSlot, time.Duration(o.Agents)*time.Second/slotsOfSecond)
	return plan{o, max(1, min(int(o.Interval/slot), o.Metrics/o.Agents))}
}

// series returns the number of the agent's first series and how many it has.
func (p plan) series(agent int) (first, n int) {
	each, rest := p.o.Metrics/p.o.Agents, p.o.Metrics%p.o.Agents
	n = each
	if agent < rest {
		n++
	}
	if p.o.Names.hasAgent() {
		return 0, n
	}
	return agent*each + min(agent, rest), n
}

// A slot is a stretch of an agent's series that is due at once.
type slot struct {
	due   time.Duration // after the agent's launch
	first int           // number of its first series
	n     int           // series
}

// slotOf returns slot j of an agent that was launched at that time.
func (p plan) slotOf(agent, j int, launched time.Duration) slot {
	first, n := p.series(agent)
	cycle, k := j/p.slots, j%p.slots
	s := slot{due: time.Duration(cycle) * p.o.Interval}
	if p.o.Launches != nil {
		s.due += p.o.Interval
	} else {
		// The agents share each slot's length, so that not all send at once.
		s.due += p.o.Interval * time.Duration(k) / time.Duration(p.slots)
		s.due += p.o.Interval / time.Duration(p.slots) * time.Duration(agent) / time.Duration(p.o.Agents)
	}
	from, to := n*k/p.slots, n*(k+1)/p.slots
	s.first, s.n = first+from+int(float64(cycle)*p.o.NewShare*float64(n)), to-from
	if at := launched + s.due; at < p.o.Ramp {
		// Rounded up and down by turns of the agents, so that few series of many agents ramp too.
		part := float64(s.n) * at.Seconds() / p.o.Ramp.Seconds()
		s.n = int(part + (float64(agent)+0.5)/float64(p.o.Agents))
	}
	return s
}

// HaggarLaunches returns when haggar launches its agents: the first after a millisecond,
// each further one an interval later, moved by a jitter that does not add up.
func HaggarLaunches(agents int, spawn, jitter time.Duration, random *rand.Rand) []time.Duration {
	out := make([]time.Duration, agents)
	at, last := time.Millisecond, time.Duration(0)
	for i := range out {
		out[i] = at
		next := time.Duration(0)
		if jitter > 0 {
			next = time.Duration(random.Int64N(2*int64(jitter))) - jitter
		}
		at = max(at, at+spawn-last+next)
		last = next
	}
	return out
}
