package load

import (
	"context"
	"time"
)

// An alarm wakes one goroutine at a time of its choice.
type alarm interface {
	// sleep returns after d, earlier when ctx is cancelled.
	sleep(ctx context.Context, d time.Duration)
	close()
}

// A timerAlarm sleeps on a timer of the runtime. When the program is otherwise
// idle such a timer can be a millisecond late: the runtime then sleeps in
// epoll_wait, whose timeout counts whole milliseconds.
type timerAlarm struct{ t *time.Timer }

func newTimerAlarm() *timerAlarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timerAlarm{t}
}

func (a *timerAlarm) sleep(ctx context.Context, d time.Duration) {
	a.t.Reset(d)
	select {
	case <-a.t.C:
	case <-ctx.Done():
		a.t.Stop()
	}
}

func (a *timerAlarm) close() { a.t.Stop() }
