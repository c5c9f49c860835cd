package foreign

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/contain"
)

// readWithin is how long one file, or one directory, may take. A file system of a user's
// own (FUSE), or one whose server is gone (NFS), may never answer.
const readWithin = 2 * time.Second

// A HungError reports that a file did not answer in time.
type HungError struct {
	PID  int
	What string
}

// Error returns "pid N: WHAT did not answer within 2s".
func (e *HungError) Error() string {
	return fmt.Sprintf("pid %d: %s did not answer within %s", e.PID, e.What, readWithin)
}

// within calls fn on a thread of its own, for at most readWithin, and returns when ctx
// ends. A call that does not return is left alone with its thread, and the process is
// not asked again.
func within[T any](ctx context.Context, p *Process, what string, fn func() (T, error)) (out T, err error) {
	type answer struct {
		out T
		err error
	}
	if p.hung.Load() {
		return out, &HungError{p.PID, what}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	done := make(chan answer, 1)
	go onOwnThread(func() {
		var a answer
		a.err = contain.Do(readPart, func() (err error) { a.out, err = fn(); return err })
		done <- a
	})
	limit := time.NewTimer(readWithin)
	defer limit.Stop()
	select {
	case a := <-done:
		return a.out, a.err
	case <-ctx.Done():
		return out, ctx.Err()
	case <-limit.C:
		p.hung.Store(true)
		return out, &HungError{p.PID, what}
	}
}

// readPart names what reads of another process, where it fails.
var readPart = contain.Part{Kind: contain.Goroutine, Name: "reading of another process"}

// onOwnThread calls fn on a thread that ends with it, so that what fn changes of the
// thread's rights cannot outlive it. The first thread of a process cannot end: it is
// held while another serves.
func onOwnThread(fn func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		fn()
		return // locked: the runtime ends the thread
	}
	defer runtime.UnlockOSThread()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		fn()
	}()
	<-done
}
