package nethttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/kasoku/kasoku/load"
)

// An UnreachableError reports that no connection to a target could be made.
type UnreachableError struct {
	URL string
	Err error
}

// Error returns which target, without its password, and what is wrong.
func (e *UnreachableError) Error() string {
	what := "cannot be reached"
	if errors.Is(e.Err, syscall.ECONNREFUSED) {
		what = "refuses"
	}
	return fmt.Sprintf("target %q %s: %v", load.WithoutPassword(e.URL), what, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Hint returns what to do.
func (e *UnreachableError) Hint() string {
	var dns *net.DNSError
	switch {
	case errors.As(e.Err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("no such host %q: is the name spelled right?", dns.Name)
	case errors.As(e.Err, &dns):
		return "the name server does not answer: try the IP address"
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return "is the server running, and does it listen on that port?"
	case errors.Is(e.Err, os.ErrNotExist):
		return "the Unix socket does not exist: is the server running?"
	case errors.Is(e.Err, os.ErrDeadlineExceeded), errors.Is(e.Err, context.DeadlineExceeded), isTimeout(e.Err):
		return "nothing answers there: a firewall, or a wrong address?"
	}
	return ""
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
