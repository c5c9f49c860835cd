// Package threadtime measures how much CPU a piece of work took, whoever else the host runs.
package threadtime

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the CPU time of the calling thread. The goroutine has to stay on it from one
// look to the next.
//
// Source: clock_gettime(2), CLOCK_THREAD_CPUTIME_ID: as RUSAGE_THREAD of getrusage(2), in ns.
func Now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // the clock is in every kernel that Go runs on
	return time.Duration(t.Nano())
}

// Of returns the CPU time of work, which stays on its thread meanwhile. What other
// goroutines do for it is not in it. A panic of the work passes through.
func Of(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := Now()
	work()
	return Now() - began
}
