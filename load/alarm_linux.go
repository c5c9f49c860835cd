package load

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An fdAlarm sleeps by reading a timerfd through the runtime's network poller.
// Its expiry is an event like the arrival of a packet, so it ends epoll_wait to
// the microsecond, and no thread is blocked meanwhile.
//
// Source: timerfd_create(2).
type fdAlarm struct {
	f    *os.File
	fd   int
	buf  [8]byte
	stop func() bool
}

// newAlarm returns the most precise alarm there is. ctx is the one that sleep
// will be given.
func newAlarm(ctx context.Context) alarm {
	a, err := newFDAlarm(ctx)
	if err != nil {
		// No descriptor is left, or the kernel has no timerfd: the send delay
		// will show what that costs.
		return newTimerAlarm()
	}
	return a
}

func newFDAlarm(ctx context.Context) (*fdAlarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd_create: %w", err)
	}
	a := &fdAlarm{f: os.NewFile(uintptr(fd), "timerfd"), fd: fd}
	if err := a.f.SetReadDeadline(time.Time{}); err != nil {
		a.f.Close()
		return nil, fmt.Errorf("poll timerfd: %w", err)
	}
	a.stop = context.AfterFunc(ctx, func() {
		// A deadline in the past ends the read that is waiting and all later ones.
		_ = a.f.SetReadDeadline(time.Unix(1, 0)) // it fails only when the file is closed
	})
	return a, nil
}

func (a *fdAlarm) sleep(ctx context.Context, d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	if err := unix.TimerfdSettime(a.fd, 0, &spec, nil); err != nil {
		t := newTimerAlarm()
		t.sleep(ctx, d)
		return
	}
	// An error is the deadline: the caller looks at ctx.
	_, _ = a.f.Read(a.buf[:])
}

func (a *fdAlarm) close() {
	a.stop()
	a.f.Close()
}
