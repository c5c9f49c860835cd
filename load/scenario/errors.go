package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// A Code is what kind of error something was. A benchmark may have codes of its own.
type Code string

// The codes that are known here.
const (
	Application Code = "application" // the service said something wrong, or nothing
	Critical    Code = "critical"    // so wrong that there is no use in going on
	Timeout     Code = "timeout"     // the service took too long
	Temporary   Code = "temporary"   // the service asked for a moment, such as with a 503
	Canceled    Code = "canceled"    // the benchmark itself gave up, such as at its end; never counted
	Trivial     Code = "trivial"     // counted by code, but no message; such as of crawlers that are turned away
	Internal    Code = "internal"    // the benchmark is at fault
)

// codedError is an error with a code.
type codedError struct {
	code Code
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// Is makes an error with the code Canceled or Timeout the same to errors.Is as those of
// contexts.
func (e *codedError) Is(target error) bool {
	return target == context.Canceled && e.code == Canceled || target == context.DeadlineExceeded && e.code == Timeout
}

// Fail returns err with a code, nil for nil. The text stays as it is.
func Fail(code Code, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code, err}
}

// Errorf returns a new error with a code. The format is that of [fmt.Errorf].
func Errorf(code Code, format string, args ...any) error {
	return &codedError{code, fmt.Errorf(format, args...)}
}

// CodeOf returns the code of an error: Canceled when a context was cancelled,
// whatever else is said of it; else the code that was given last, which is the
// outermost one; else Timeout when a deadline has passed, and Application for what
// is left. Nil has no code.
func CodeOf(err error) Code {
	coded, ok := errors.AsType[*codedError](err)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return Canceled
	case ok:
		return coded.code
	case isTimeout(err):
		return Timeout
	}
	return Application
}

// Is reports whether an error has the code, see [CodeOf].
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// isTimeout reports whether an error says that time was over, as errors of
// packages context, net and os do.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}
