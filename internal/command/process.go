package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/contain"
)

// outputDelay is how long the end of a child's output is waited for once the
// child has gone and something in the background still holds the pipe.
const outputDelay = time.Second

// A Process is a running or finished child. Its methods are safe for
// concurrent use.
type Process struct {
	spec    Spec
	cmd     *exec.Cmd
	pipes   pipes
	done    chan struct{} // closed after result and err are set
	result  Result
	err     error
	stop    chan struct{} // closed by Stop
	stopped sync.Once

	exposed  bool        // it may be signalled after its end: not by Run, which keeps it
	stopping atomic.Bool // its group is being ended

	mu     sync.Mutex
	reaped bool      // the pid may belong to somebody else
	left   []kinsman // of the group, when the child was reaped or they were last looked at
}

// Start runs a child. The caller must Wait for it; the child and everything
// that Start set up for it are gone when Wait returns. Cancelling ctx stops
// the child's group: TERM, and KILL after the grace.
//
// An error is a [*StartError] or that of ctx.
func Start(ctx context.Context, spec Spec) (*Process, error) { return start(ctx, spec, true) }

func start(ctx context.Context, spec Spec, exposed bool) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %q: %w", spec.Path, err)
	}
	path, err := spec.lookPath()
	if err != nil {
		return nil, &StartError{spec.Path, err}
	}
	p := &Process{spec: spec, exposed: exposed, done: make(chan struct{}), stop: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: path, Args: append([]string{cmp.Or(spec.Name, spec.Path)}, spec.Args...), Env: spec.environ(),
		Dir: spec.Dir, Stdin: spec.Stdin,
		WaitDelay:   outputDelay,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: !spec.KeepForeground && !spec.NewSession, Setsid: spec.NewSession},
	}
	p.cmd.SysProcAttr.Pdeathsig = spec.deathSignal()
	if as := spec.As; as != nil {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(as.UID), Gid: uint32(as.GID)}
	}
	if err := p.pipes.open(p.cmd, spec.Stdout, spec.Stderr); err != nil {
		return nil, &StartError{spec.Path, err}
	}
	if f, ok := p.cmd.Stdout.(*os.File); ok && spec.StdoutEnv != "" {
		p.cmd.Env = append(p.cmd.Env, spec.StdoutEnv+"="+FileID(f))
	}
	started := make(chan error, 1)
	go p.own(ctx, started)
	if err := <-started; err != nil {
		return nil, &StartError{spec.Path, err}
	}
	return p, nil
}

// deathSignal is what the kernel sends the child when its parent dies; 0: nothing.
func (s *Spec) deathSignal() syscall.Signal {
	switch {
	case s.DieWithParent:
		return syscall.SIGKILL
	case s.EndWithParent:
		return syscall.SIGTERM
	}
	return 0
}

// own is the goroutine that starts the child, waits for it and ends last.
//
// It keeps its thread: the kernel sends the parent-death signal when the
// thread that started the child ends, not when the process does.
func (p *Process) own(ctx context.Context, started chan<- error) {
	if p.spec.deathSignal() != 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		p.pipes.abandon()
		started <- err
		return
	}
	p.pipes.copy()
	started <- nil

	gone := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_ = contain.Run(watchPart, func() { p.watch(ctx, gone) })
	}()
	p.awaitExit()
	p.mu.Lock()
	if p.reaped = true; p.exposed || p.stopping.Load() {
		p.left = p.groupNow()
	}
	p.mu.Unlock()
	waitErr := p.cmd.Wait()
	p.result = resultOf(p.cmd.ProcessState, time.Since(begin))
	close(gone)
	<-watched
	p.err = p.pipes.finish()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) && p.err == nil {
		p.err = waitErr
	}
	close(p.done)
}

// awaitExit waits until the child has ended, and leaves it to be reaped: until then no other
// process gets its number.
//
// Source: waitid(2), WNOWAIT.
func (p *Process) awaitExit() {
	for unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// watchPart names the watch of a child, where it fails: the child ends by itself then.
var watchPart = contain.Part{Kind: contain.Goroutine, Name: "watch of a command"}

// watch stops the group when ctx ends or Stop is called, and returns when the
// child is gone and, in that case, its kin too.
func (p *Process) watch(ctx context.Context, gone <-chan struct{}) {
	select {
	case <-gone:
		return
	case <-ctx.Done():
	case <-p.stop:
	}
	p.stopping.Store(true)
	kin := p.descendants()
	_ = p.signal(syscall.SIGTERM, kin) // it fails only when all have gone
	grace := time.NewTimer(p.grace())
	defer grace.Stop()
	if p.awaitEnd(gone, grace.C, kin) {
		return
	}
	_ = p.signal(syscall.SIGKILL, kin)
	<-gone
	// A member that is not reaped stays a zombie and still counts as there, so
	// the wait for the rest of a killed group is bounded.
	last := time.NewTimer(outputDelay)
	defer last.Stop()
	p.awaitEnd(gone, last.C, kin)
}

// awaitEnd waits for the end of the child and then of its kin, which it
// reports, or for the limit.
func (p *Process) awaitEnd(gone <-chan struct{}, limit <-chan time.Time, kin []kinsman) bool {
	select {
	case <-gone:
	case <-limit:
		return false
	}
	tick := time.NewTicker(10 * time.Millisecond) // far below any grace; one cheap call each
	defer tick.Stop()
	for p.anyAlive(kin) {
		select {
		case <-tick.C:
		case <-limit:
			return false
		}
	}
	return true
}

func (p *Process) grace() time.Duration {
	if p.spec.Grace > 0 {
		return p.spec.Grace
	}
	return DefaultGrace
}

// Wait waits until the child has ended and its output has been copied. The
// error is about the copying, never about the exit status: that is in the
// Result. It may be called many times.
func (p *Process) Wait() (Result, error) {
	<-p.done
	return p.result, p.err
}

// Done is closed when Wait would return at once.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid returns the child's process id, also after its end.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal to the child's group or, with KeepForeground, to the
// child alone. It returns [os.ErrProcessDone] when no process is left.
func (p *Process) Signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("signal %v: not a system signal", sig)
	}
	return p.signal(s, nil)
}

// Stop stops the group as a cancelled context does and waits for its end.
func (p *Process) Stop() (Result, error) {
	p.stopped.Do(func() { close(p.stop) })
	return p.Wait()
}

// Kill kills the group at once and waits for its end.
func (p *Process) Kill() (Result, error) {
	_ = p.signal(syscall.SIGKILL, p.descendants()) // it fails only when all have gone
	return p.Wait()
}

// Forward passes the given signals that this process gets on to the child,
// until the returned function is called or the child has ended.
func (p *Process) Forward(sigs ...os.Signal) (stop func()) {
	c := make(chan os.Signal, 8)
	quit := make(chan struct{})
	ended := make(chan struct{})
	signal.Notify(c, sigs...)
	go func() {
		defer close(ended)
		defer signal.Stop(c)
		for {
			select {
			case s := <-c:
				_ = p.Signal(s) // it fails only when the child has gone
			case <-quit:
				return
			case <-p.done:
				return
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() { close(quit) })
		<-ended
	}
}

// resultOf reads what wait4 reported about the child.
func resultOf(state *os.ProcessState, wall time.Duration) Result {
	r := Result{ExitCode: -1, Wall: wall}
	if state == nil {
		return r
	}
	r.ExitCode = state.ExitCode()
	r.User, r.System = state.UserTime(), state.SystemTime()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = ws.Signal().String()
	}
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.MaxRSSBytes = uint64(ru.Maxrss) * 1024 // KiB on Linux, getrusage(2)
		r.Voluntary, r.Forced = uint64(ru.Nvcsw), uint64(ru.Nivcsw)
	}
	return r
}

// Run runs a child to its end. An end without success is an [*ExitError].
func Run(ctx context.Context, spec Spec) (Result, error) {
	p, err := start(ctx, spec, false)
	if err != nil {
		return Result{ExitCode: -1}, err
	}
	res, err := p.Wait()
	switch {
	case res.Success():
		return res, err
	case ctx.Err() != nil:
		return res, fmt.Errorf("%s: %w", filepath.Base(spec.Path), ctx.Err())
	}
	return res, &ExitError{Name: filepath.Base(spec.Path), Result: res}
}

// Output runs a child to its end and returns the last limit bytes that it
// wrote to stdout; with 0 the limit is 1 MiB. Stderr goes into the
// [*ExitError], unless the spec sends it elsewhere.
func Output(ctx context.Context, spec Spec, limit int) ([]byte, error) {
	if limit <= 0 {
		limit = 1 << 20
	}
	out, errs := NewTail(limit), NewTail(16<<10)
	spec.Stdout = out
	if spec.Stderr == nil {
		spec.Stderr = errs
	}
	_, err := Run(ctx, spec)
	var exit *ExitError
	if errors.As(err, &exit) {
		exit.Stderr = errs.String()
	}
	return out.Bytes(), err
}
