//go:build amd64 || arm64

package epollhttp

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// heldWait is the longest wait that keeps the scheduler's processor. Handing it
// over and taking it back costs about as much CPU as the wake-up itself (50 µs
// instead of 75 µs for a request at 5,000/s were measured), so short waits keep
// it. They do not delay other goroutines: the engine gives the scheduler as many processors
// more as it has shards, and a stop of the world, which waits for all processors, sends
// SIGURG to the thread, which ends the wait with EINTR (epoll_wait(2) is never
// restarted, signal(7)); the shard then stops at the next function that it calls.
const heldWait = 5 * time.Millisecond

// longWaitLead is what a long wait is cut short by. The kernel may be late by a
// thousandth of a wait (select_estimate_accuracy in fs/select.c), and a processor
// that was handed over is not always there at once: the rest of a long wait is a
// short one.
const longWaitLead = 2 * time.Millisecond

// A poller is an epoll set with a way to wake it.
type poller struct {
	ep    int
	wake  int // eventfd, to end a wait from another thread
	timer int // timerfd, where the kernel has no epoll_pwait2 (before 5.11); else -1

	events [128]unix.EpollEvent
}

// Slots that are no connections.
const (
	slotWake  = -1
	slotTimer = -2
)

func newPoller() (*poller, error) {
	p := &poller{ep: -1, wake: -1, timer: -1}
	var err error
	if p.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	if p.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		p.close()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	// Edge-triggered: each write is an event, and nothing need be read.
	if e := epollAdd(p.ep, int32(p.wake), unix.EPOLLIN|unix.EPOLLET, slotWake, 0); e != 0 {
		p.close()
		return nil, fmt.Errorf("epoll_ctl: %w", e)
	}
	if _, e := epollPwait2(p.ep, p.events[:], 0, false); e == syscall.ENOSYS || e == syscall.EPERM {
		if err := p.addTimer(); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// addTimer makes the poller do without epoll_pwait2.
func (p *poller) addTimer() error {
	var err error
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return fmt.Errorf("timerfd_create: %w", err)
	}
	if e := epollAdd(p.ep, int32(p.timer), unix.EPOLLIN|unix.EPOLLET, slotTimer, 0); e != 0 {
		return fmt.Errorf("epoll_ctl: %w", e)
	}
	return nil
}

func (p *poller) close() {
	for _, fd := range []int{p.ep, p.wake, p.timer} {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing was written to it
		}
	}
}

// interrupt ends the wait that is going on, or else the next one. It may be
// called from any thread.
func (p *poller) interrupt() {
	one := [8]byte{1}
	_, _ = unix.Write(p.wake, one[:]) // it fails only when there is a wake-up already
}

// poll returns the events that are there.
func (p *poller) poll() []unix.EpollEvent {
	if p.timer >= 0 {
		n, e := epollPwait(p.ep, p.events[:], 0, false)
		return p.got(n, e)
	}
	n, e := epollPwait2(p.ep, p.events[:], 0, false)
	return p.got(n, e)
}

// block waits for events, and for at most d. It may return earlier without any.
func (p *poller) block(d time.Duration) []unix.EpollEvent {
	hand := d > heldWait
	if hand {
		d -= longWaitLead
	}
	if p.timer >= 0 {
		return p.blockOnTimer(d, hand)
	}
	n, e := epollPwait2(p.ep, p.events[:], max(d, 0), hand)
	return p.got(n, e)
}

func (p *poller) blockOnTimer(d time.Duration, hand bool) []unix.EpollEvent {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	ms := -1
	if err := unix.TimerfdSettime(p.timer, 0, &spec, nil); err != nil {
		ms = int(min((d+time.Millisecond-1)/time.Millisecond, time.Hour/time.Millisecond))
	}
	n, e := epollPwait(p.ep, p.events[:], ms, hand)
	return p.got(n, e)
}

// got judges the result of a wait. EINTR is the runtime's signal to let others run.
func (p *poller) got(n int, e syscall.Errno) []unix.EpollEvent {
	if e != 0 {
		return nil
	}
	return p.events[:n]
}

// setTimerSlack sets how late the kernel may let timers of this thread be, in
// nanoseconds, and returns what it was. The default of 50 µs is there to save
// wake-ups (PR_SET_TIMERSLACK in prctl(2)).
func setTimerSlack(ns int) (before int) {
	before, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		before = 0 // the thread's default
	}
	// Where it is refused the send delay shows what that costs.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0)
	return before
}

// shortSlice is the shortest slice of CPU time that Linux gives.
const shortSlice = 100 * time.Microsecond

// setSlice sets for how long the kernel lets this thread run before it looks for
// another one, and returns what it was; 0 is the kernel's choice, 3 ms and more.
// A thread with a short slice has its turn earlier when it wakes up, which counts
// when it shares a core, be it with the recorder.
//
// Sources: sched_setattr(2); Documentation/scheduler/sched-eevdf.rst, since Linux
// 6.12. Older kernels ignore it.
func setSlice(d time.Duration) (before time.Duration) {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL && attr.Policy != unix.SCHED_BATCH {
		return 0 // of a thread in real time it would be something else
	}
	before = time.Duration(attr.Runtime)
	attr.Runtime = uint64(d)
	_ = unix.SchedSetAttr(0, attr, 0) // where it is refused the send delay shows what that costs
	return before
}
