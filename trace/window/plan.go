package window

import (
	"context"
	"time"
)

// A Plan says for how long a service is watched, and when.
type Plan struct {
	For   time.Duration
	After time.Duration // the load's beginning
}

// least is the shortest time that is watched.
const least = time.Second

// Wait waits until a load that began at that time has gone on for long enough, and returns how
// long it is to be watched. known is how long the load takes, 0 when that is not known. It
// returns false where the load is too short, or the context ended before.
func (p Plan) Wait(ctx context.Context, began time.Time, known time.Duration) (length time.Duration, ok bool) {
	after, length := p.After, p.For
	if known > 0 { // the last second is left out: answers come late
		after = min(after, known/2)
		length = min(length, known-after-time.Second)
	}
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
