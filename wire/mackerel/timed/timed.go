// Package timed runs a command for as long as it may take, for plugins and checks
// that report how a command ended.
//
// The one idea: an end is always one number, that of a shell: what the command
// returned, 128 plus the signal's number when one killed it, 127 when it could not
// be started. A command that takes too long is killed with all of its process
// group, which makes 137.
package timed

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

const (
	notStarted = 127
	killed     = 128 + int(syscall.SIGKILL)
)

// A Command is what to run.
type Command struct {
	Path   string // without a slash it is looked up on PATH
	Args   []string
	Limit  time.Duration // how long it may take; must be above 0
	Stdout io.Writer     // nil: /dev/null
	Stderr io.Writer     // nil: /dev/null
}

// A Result is how a command ended.
type Result struct {
	ExitCode int // as a shell has it
	Took     time.Duration
	TimedOut bool
	// Problem says in words what was wrong: "exit status 1", "timeout. killed", "killed
	// by signal: terminated"; empty after success.
	Problem string
}

// Run runs a command to its end. Cancelling ctx kills its group too.
func Run(ctx context.Context, c Command) Result {
	begin := time.Now()
	p, err := command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: c.Path, Args: c.Args, Stdout: c.Stdout, Stderr: c.Stderr, DieWithParent: true,
	})
	if err != nil {
		return Result{ExitCode: notStarted, Took: time.Since(begin), Problem: err.Error()}
	}
	limit := time.NewTimer(c.Limit)
	defer limit.Stop()
	stopped, timedOut := true, false
	select {
	case <-p.Done():
		stopped = false
	case <-limit.C:
		timedOut = true
	case <-ctx.Done():
	}
	if _, running := command.StartOf(p.Pid()); stopped && running {
		_, _ = p.Kill() // Wait returns how it ended
	}
	// A command that has ended leaves its output open for a moment when something in
	// the background holds it: it is the command's own end that counts.
	res, err := p.Wait()
	byUs := stopped && res.Signal == syscall.SIGKILL.String()
	switch {
	case byUs && timedOut && res.Wall >= c.Limit:
		return Result{ExitCode: killed, Took: time.Since(begin), TimedOut: true, Problem: "timeout. killed"}
	case byUs && !timedOut:
		return Result{ExitCode: killed, Took: time.Since(begin), Problem: fmt.Sprintf("killed: %v", context.Cause(ctx))}
	}
	return resultOf(res, err)
}

// resultOf is the result of a command that ended by itself.
func resultOf(res command.Result, err error) Result {
	r := Result{ExitCode: res.ExitCode, Took: res.Wall}
	if res.Signal != "" {
		r.ExitCode = 128 + signalNumber(res.Signal)
	}
	switch {
	case !res.Success():
		r.Problem = res.String()
	case err != nil:
		r.Problem = err.Error() // its output did not get through
	}
	return r
}

// signalNumber is the number of a signal's name.
func signalNumber(name string) int {
	for n := 1; n <= 64; n++ { // SIGRTMAX
		if syscall.Signal(n).String() == name {
			return n
		}
	}
	return 0
}
