package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/scenario"
)

// A badRequestError reports that a request cannot be sent as it is.
type badRequestError struct{ what, value string }

// Error quotes what is wrong.
func (e *badRequestError) Error() string { return fmt.Sprintf("bad %s %q", e.what, e.value) }

// A timeoutError reports that an answer was not complete in time.
type timeoutError struct {
	limit  time.Duration
	inBody bool
}

// Error returns how long the answer was waited for.
func (e *timeoutError) Error() string {
	if e.inBody {
		return fmt.Sprintf("answer not complete within %s", e.limit)
	}
	return fmt.Sprintf("no answer within %s", e.limit)
}

// Timeout is that of [net.Error].
func (e *timeoutError) Timeout() bool { return true }

// Is makes it a deadline that has passed.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// fail words the error of a call for the caller of Do, and gives it its code.
func (x *call) fail(err error) error {
	step := x.r.step()
	switch {
	case x.canceled(err):
		return scenario.Errorf(scenario.Canceled, "%s: %w", step, context.Cause(x.ctx))
	case scenario.Is(err, scenario.Timeout):
		if !x.deadline.IsZero() {
			err = &timeoutError{x.deadline.Sub(x.due).Round(time.Millisecond), x.inBody}
		}
		return scenario.Errorf(scenario.Timeout, "%s: %w", step, err)
	}
	return fmt.Errorf("%s: %w", step, err)
}

// canceled reports whether the call failed because its context was cancelled, and
// not because a deadline of it has passed.
func (x *call) canceled(err error) bool {
	return err != nil && errors.Is(x.ctx.Err(), context.Canceled)
}

// recorded words the error of a call as the engines of loads do, so that reports
// count them together.
func (x *call) recorded(err error) string {
	timeout := scenario.Is(err, scenario.Timeout)
	switch {
	case x.inBody && timeout:
		err = nethttp.ErrBodyTimeout
	case x.inBody:
	case timeout:
		err = nethttp.Failed(x.method, x.where(), nethttp.ErrTimeout)
	default:
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		err = nethttp.Failed(x.method, x.where(), err)
	}
	return err.Error()
}
