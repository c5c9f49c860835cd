package load

import (
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// startUsers starts the users of a closed loop.
func (l *drive) startUsers() {
	for range l.d.MaxInFlight {
		l.workers.Go(contain.Func(enginePart, l.user))
	}
}

// user sends a request, thinks when it is answered, and sends the next one.
func (l *drive) user() {
	c := l.d.NewClient()
	one := make([]Hit, 1)
	thinking := time.NewTimer(0)
	defer thinking.Stop()
	for l.take(&one[0]) {
		n := one[0].N
		l.flights.takeOff(l.d.MaxInFlight)
		if !l.sent(c, &one[0]) {
			c = l.d.NewClient()
		}
		l.flights.now.Add(-1)
		l.sink.Hits(one)
		if !l.think(thinking, n) {
			return
		}
	}
}

// take makes the next request of a closed loop. It returns false when there is none.
func (l *drive) take(h *Hit) bool {
	if l.issueCtx.Err() != nil {
		l.endEarly()
		return false
	}
	if l.now() >= l.closed.End {
		return false
	}
	*h = Hit{Step: 1}
	if l.ahead == nil {
		h.N = l.next.Add(1) - 1
	}
	return l.aim(h)
}

// think waits as long as the user that sent request n does. It returns false
// when the load ends before.
func (l *drive) think(t *time.Timer, n uint64) bool {
	d := l.closed.Think(n)
	if d == 0 {
		return true
	}
	if d >= l.closed.End-l.now() {
		return false
	}
	t.Reset(d)
	select {
	case <-t.C:
		return true
	case <-l.issueCtx.Done():
		l.endEarly()
		return false
	}
}
