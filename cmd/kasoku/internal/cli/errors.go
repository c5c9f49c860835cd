package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/report/terminal"
)

// IsRefused reports whether a load was refused: its target was not declared as one that may be
// loaded, or the engine that was asked for cannot load it.
func IsRefused(err error) bool {
	var choice *engine.ChoiceError
	return IsForbidden(err) || errors.As(err, &choice)
}

// IsForbidden reports whether a target leads to an address that was not declared as one
// that may be loaded.
func IsForbidden(err error) bool {
	var f *load.ForbiddenError
	return errors.As(err, &f)
}

// UsageIf makes a usage error of an error.
func UsageIf(is bool, err error) error {
	if !is {
		return err
	}
	return Usage(err, HintOf(err))
}

// usageError is a wrong command line: exit 2.
type usageError struct {
	err  error
	hint string
}

func (u usageError) Error() string { return u.err.Error() }

func (u usageError) Unwrap() error { return u.err }

// Hint returns what to do instead.
func (u usageError) Hint() string { return u.hint }

// Usage makes a usage error of an error; an empty hint prints none.
func Usage(err error, hint string) error { return usageError{err, hint} }

// Usagef returns a usage error; an empty hint prints none.
func Usagef(hint, format string, args ...any) error {
	return Usage(fmt.Errorf(format, args...), hint)
}

// hinted is an error with what to do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// Hint returns what to do.
func (h hinted) Hint() string { return h.hint }

// WithHint adds to an error what to do about it.
func WithHint(err error, hint string) error { return hinted{err, hint} }

// badAnswer is an answer that is bad although all ran well: exit 1. Its text is
// the last line, not an error; a hint, if there is one, stands before it.
type badAnswer struct{ why, hint string }

func (b badAnswer) Error() string { return b.why }

// Bad returns a bad answer with its reason.
func Bad(why string) error { return badAnswer{why: why} }

// BadHint is [Bad] with what to do about it.
func BadHint(why, hint string) error { return badAnswer{why, hint} }

// badError is a bad answer whose reason is an error: exit 1, with its hint.
type badError struct{ error }

func (b badError) Unwrap() error { return b.error }

// BadError makes a bad answer of an error: exit 1.
func BadError(err error) error { return badError{err} }

// stopped says that a run ended before its end, with all kept: exit 3.
type stopped struct{ why string }

func (s stopped) Error() string { return s.why }

// Stopped returns the error of a command that ended before its end.
func Stopped(why string) error { return stopped{why} }

// exitCode is the exit code of a command passed on: --pass-exit.
type exitCode struct{ code int }

func (c exitCode) Error() string { return fmt.Sprintf("the command exited with %d", c.code) }

// PassExit returns the error that ends this program with the exit code of a command.
func PassExit(code int) error { return exitCode{code} }

// FinalCode returns what the program is going to end with: that of the error, or 3 where a file that was
// opened is damaged, or a part was lost to a bug.
func FinalCode(e *Env, err error) int {
	code := ExitCode(err)
	if _, bugs := contain.Bugs(); bugs > 0 || isHalf(e, code) {
		return ExitCouldNot
	}
	return code
}

// isHalf reports whether an answer is of damaged files, and its exit code does not say that it could not be whole.
func isHalf(e *Env, code int) bool { return len(e.damaged) > 0 && code < ExitUsage }

// Finish prints the error and its hint, and returns the exit code.
func (e *Env) Finish(err error) int {
	code := e.finish(err)
	if isHalf(e, code) {
		fmt.Fprintf(e.Stderr, "exit %d: damaged, and shown as far as it can be read: %s\n", ExitCouldNot, strings.Join(e.damaged, ", "))
		return ExitCouldNot
	}
	return code
}

// finish is [Env.Finish] for run files that are whole.
func (e *Env) finish(err error) int {
	var (
		bad  badAnswer
		stop stopped
	)
	code := ExitCode(err)
	switch {
	case err == nil, errors.As(err, new(exitCode)):
	case errors.As(err, &bad):
		if bad.hint != "" {
			fmt.Fprintf(e.Stderr, "kasoku: hint: %s\n", terminal.Clean(bad.hint))
		}
		fmt.Fprintf(e.Stderr, "exit %d: %s\n", code, terminal.Clean(bad.why))
	case errors.As(err, &stop):
		fmt.Fprintf(e.Stderr, "exit %d: %s\n", code, terminal.Clean(stop.why))
	default:
		e.Complain(err)
	}
	return code
}

// ExitCode returns what an error ends this program with.
func ExitCode(err error) int {
	var pass exitCode
	switch {
	case err == nil:
		return ExitGood
	case errors.As(err, &pass):
		return pass.code
	case errors.As(err, new(badAnswer)):
		return ExitBad
	case errors.As(err, new(stopped)):
		return ExitCouldNot
	case errors.As(err, new(usageError)):
		return ExitUsage
	case errors.As(err, new(badError)), errors.As(err, new(*recycle.BrokenError)):
		return ExitBad
	}
	return ExitCouldNot
}

// FinishBugs names the parts that were lost to bugs, and returns the exit code: a
// command that lost a part did not run to its end.
func (e *Env) FinishBugs(code int) int {
	bugs, all := contain.Bugs()
	for _, b := range bugs {
		e.Complain(b)
	}
	if all == 0 {
		return code
	}
	fmt.Fprintf(e.Stderr, "exit %d: %s lost to bugs of kasoku, %s\n", ExitCouldNot, unit.Counted(len(bugs), "part is", "parts are"), unit.Counted(all, "time", "times"))
	return ExitCouldNot
}

// Complain prints an error and what to do about it.
func (e *Env) Complain(err error) {
	w := terminal.NewScreen(terminal.Raw(e.Stderr)) // servers and files word parts of errors
	fmt.Fprintf(w, "kasoku: error: %s\n", strings.TrimRight(err.Error(), "\n"))
	if hint := HintOf(err); hint != "" {
		fmt.Fprintf(w, "kasoku: hint: %s\n", hint)
	}
}

// Caution prints a warning, and what to do about it, if anything. Its texts may come from
// servers and files, as those of errors do.
func (e *Env) Caution(text, hint string) {
	w := terminal.NewScreen(terminal.Raw(e.Stderr))
	fmt.Fprintf(w, "kasoku: warning: %s\n", terminal.Clean(text))
	if hint != "" {
		fmt.Fprintf(w, "kasoku: hint: %s\n", terminal.Clean(hint))
	}
}

// HintOf returns what to do about an error, empty when nothing is known.
func HintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		return h.Hint()
	}
	switch {
	case errors.Is(err, load.ErrNoTargets):
		return "give --target 'GET http://host/', -targets FILE, or targets on standard input"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "make room there, or write to a file elsewhere; what was written before is kept"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there, which `ss -ltnp` names; give another port, or 0 for a free one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this host has no such address, which `ip addr` lists; 127.0.0.1 is this host alone, 0.0.0.0 all of it"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "allow it more open files: `ulimit -n 1024`, LimitNOFILE= of a unit"
	case errors.Is(err, os.ErrPermission):
		return "run as a user who may do that, with sudo as root, or name another file"
	}
	return ""
}
