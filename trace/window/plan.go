package window

import (
	"context"
	"time"
)

// A Plan says for how long a service is watched, and when.
type Plan struct {
	For   time.Duration
	After time.Duration // the load's beginning
	// Asked means that someone wants it, whatever it costs. Else it is to cost a load at most
	// about a hundredth: it is shorter, and not taken where every system call of the host would be
	// slower, nor is it a word worth that there is nothing to watch.
	Asked bool
}

// Planned returns the plan of a configuration; nil when it says that nothing is to be watched. Where it
// does not say so, on is nil.
func Planned(on *bool, length, after time.Duration) *Plan {
	if on != nil && !*on {
		return nil
	}
	return &Plan{For: length, After: after, Asked: on != nil}
}

const (
	// least is the shortest time that is watched.
	least = time.Second
	// unasked is how long a load is watched at most whose length is not known, and part is the part of
	// one whose length is: while it is watched a service pays about a tenth more CPU.
	unasked = 5 * time.Second
	part    = 10
)

// How long is waited for the first look at a service, which takes its time on a busy host.
const (
	lookEvery = 100 * time.Millisecond
	mostLooks = 100
)

// Await returns the targets as soon as there are any; none when there are none for some seconds, or the
// context ends before.
func Await(ctx context.Context, targets func() []Target) []Target {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for range mostLooks {
		if found := targets(); len(found) > 0 {
			return found
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// Length returns after how much of a load it is watched, and how long; known is as of [Plan.Wait].
func (p Plan) Length(known time.Duration) (after, length time.Duration) {
	after, length = p.After, p.For
	if !p.Asked {
		length = min(length, unasked)
		if known > 0 {
			length = min(length, known/part)
		}
	}
	if known > 0 { // the last second is left out: answers come late
		after = min(after, known/2)
		length = min(length, known-after-time.Second)
	}
	return after, length
}

// Wait waits until a load that began at that time has gone on for long enough, and returns how
// long it is to be watched. known is how long the load takes, 0 when that is not known. It
// returns false where the load is too short, or the context ended before.
func (p Plan) Wait(ctx context.Context, began time.Time, known time.Duration) (length time.Duration, ok bool) {
	after, length := p.Length(known)
	if length < least {
		return 0, false
	}
	begin := time.NewTimer(time.Until(began.Add(after)))
	defer begin.Stop()
	select {
	case <-begin.C:
		return length, true
	case <-ctx.Done():
		return 0, false
	}
}
