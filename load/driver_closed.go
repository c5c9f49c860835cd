package load

import (
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// startUsers starts the users of a closed loop.
func (l *drive) startUsers() {
	for range l.d.MaxInFlight {
		l.workers.Go(contain.Func(usersPart, l.user))
	}
}

// usersPart names a user of a closed loop where it fails: the others go on.
var usersPart = contain.Part{Kind: contain.Engine, Name: "user"}

// user sends a request, thinks when it is answered, and sends the next one.
func (l *drive) user() {
	w := worker{drive: l}
	thinking := time.NewTimer(0)
	defer thinking.Stop()
	for l.take(&w.one[0]) {
		n := w.one[0].N
		l.flights.takeOff(l.d.MaxInFlight)
		w.serve()
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
		h.N = l.plan.Share.Number(l.next.Add(1) - 1)
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
