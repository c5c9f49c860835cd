package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/load"
)

// An Account holds what a host says that it has sent against what was due of its share:
// how many requests to which target in which second and step, which both know from the
// schedule. So a host cannot count what was not asked of it, and what it does not report
// is known to the request. Not for concurrent use.
type Account struct {
	plan    load.Plan // its Share is the host's
	closed  bool
	steps   int
	names   []string // by target
	order   *load.Order
	left    map[due]uint64 // due by upTo, and not reported
	taken   map[due]uint64 // reported
	all     uint64         // due by upTo
	arrived load.Arrivals
	n       uint64 // requests of the share that were taken from arrived
	next    *dueAt // taken, and after upTo
	upTo    time.Duration
	sent    uint64
}

type due struct {
	second, step int
	target       string
}

type dueAt struct {
	due
	at time.Duration
}

// NewAccount returns an account of a plan's share.
func NewAccount(p load.Plan) *Account {
	_, closed := p.Schedule.(*load.ClosedLoop)
	a := &Account{plan: p, closed: closed, steps: len(p.Schedule.Steps()), names: p.Names(), order: load.NewOrder(p.Targets), left: map[due]uint64{}, taken: map[due]uint64{}}
	a.arrived = a.plan.Arrivals()
	return a
}

// advance takes what is due before a time into account.
func (a *Account) advance(to time.Duration) {
	for !a.closed {
		if a.next == nil {
			at, step, ok := a.arrived.Next()
			if !ok {
				break
			}
			target := a.order.Target(a.plan.Share.Number(a.n))
			a.next = &dueAt{due{int(at / time.Second), step, a.names[target]}, at}
			a.n++
		}
		if a.next.at >= to {
			break
		}
		a.left[a.next.due]++
		a.all++
		a.next = nil
	}
	a.upTo = max(a.upTo, to)
}

// Take checks what a host reports of a second and takes it off what is due. now is how far
// the load is by the clock of who asks, with a margin: a later second cannot have been.
func (a *Account) Take(s *kasoku.LoadSecond, now time.Duration) error {
	end := time.Duration(s.Second+1) * time.Second
	if s.Second < 0 || time.Duration(s.Second)*time.Second > now {
		return fmt.Errorf("counts of second %d, %s after the start", s.Second, now.Round(time.Second))
	}
	if !slices.Contains(a.names, s.Target) && len(a.names) <= manyNames {
		return fmt.Errorf("counts of a target %q that is none", clip(s.Target))
	}
	if s.Asked == 0 || s.Step < 1 || s.Step > a.steps { // without a request, or of no step, they would only fill memory
		return fmt.Errorf("counts of %d requests in step %d of %d", s.Asked, s.Step, a.steps)
	}
	if a.closed {
		if s.Asked > mostSent-a.sent {
			return fmt.Errorf("counts of %d requests after %d", s.Asked, a.sent)
		}
		a.sent += s.Asked
		a.all += s.Asked
		return nil
	}
	a.advance(end)
	if len(a.names) <= manyNames {
		key := due{s.Second, s.Step, s.Target}
		if s.Asked > a.left[key] {
			return fmt.Errorf("%d requests to %s in second %d, where %d were due and not counted", s.Asked, s.Target,
				s.Second, a.left[key])
		}
		a.left[key] -= s.Asked
		a.taken[key] += s.Asked
	} else if s.Asked > a.all-a.sent {
		return fmt.Errorf("%d requests, where %d were due and not counted", s.Asked, a.all-a.sent)
	}
	a.sent += s.Asked
	return nil
}

// manyNames is the most names of targets that a recorder keeps apart; beyond, only sums
// are held to the schedule.
const manyNames = 100

// mostSent is far more than a host can send, and sums of it stay numbers.
const mostSent = 1 << 48

// Sent returns how many requests the host has reported.
func (a *Account) Sent() uint64 { return a.sent }

// dueBefore counts what is due of the share before a time.
func (a *Account) dueBefore(before time.Duration) (by map[due]uint64, all uint64) {
	by = map[due]uint64{}
	arrivals := a.plan.Arrivals()
	for {
		at, step, ok := arrivals.Next()
		if !ok || at >= before {
			return by, all
		}
		target := a.names[a.order.Target(a.plan.Share.Number(all))]
		by[due{int(at / time.Second), step, target}]++
		all++
	}
}

// Missing returns how many requests were due of the share before a time, and those that
// were not reported, as seconds of requests that had no answer, with the reason as their
// error. They have no latency. A closed loop has none.
func (a *Account) Missing(before time.Duration, reason string) (due uint64, out []kasoku.LoadSecond) {
	by, all := a.dueBefore(before)
	if len(a.names) > manyNames {
		if all > a.sent {
			out = append(out, notSent(lastOf(by), all-a.sent, reason))
		}
		return all, out
	}
	keys := slices.SortedFunc(maps.Keys(by), compareDue)
	for _, k := range keys {
		if n := by[k]; n > a.taken[k] {
			out = append(out, notSent(k, n-a.taken[k], reason))
		}
	}
	return all, out
}

func compareDue(x, y due) int {
	return cmp.Or(cmp.Compare(x.second, y.second), cmp.Compare(x.step, y.step), cmp.Compare(x.target, y.target))
}

// lastOf is the last second of all, under the name of what is not kept apart.
func lastOf(by map[due]uint64) due {
	last := slices.MaxFunc(slices.Collect(maps.Keys(by)), compareDue)
	last.target = "other targets"
	return last
}

func notSent(k due, n uint64, reason string) kasoku.LoadSecond {
	return kasoku.LoadSecond{Second: k.second, Step: k.step, Target: k.target, Asked: n,
		Codes: map[int]uint64{0: n}, Errors: map[string]uint64{reason: n},
		Latency: histogram.New(), SendDelay: histogram.New(), Service: histogram.New()}
}
