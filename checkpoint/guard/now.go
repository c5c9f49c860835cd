package guard

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysql"
)

// askWithin bounds how long a server is asked what its values are now.
const askWithin = 2 * time.Second

// Now describes what the values are that were not put back, as the server answers.
func (h *Hold) Now(ctx context.Context) string { return now(ctx, h.r, h.Changes()) }

// now describes what the values of the changes are that are still to be put back.
func now(ctx context.Context, r *mysql.Reader, changes []mysql.Changed) string {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	values, err := mysql.CurrentValues(ctx, r, changes)
	if err != nil {
		return "the server does not answer, so what the values are now is not known"
	}
	var parts []string
	for _, c := range changes {
		if !pending(&c) {
			continue
		}
		value, known := values[c.Name]
		switch {
		case !known:
			parts = append(parts, c.Name+" is not there any more")
		case !c.Known(value):
			parts = append(parts, fmt.Sprintf("%s is %s, set by somebody else; it was %s", c.Name, shown(value), shown(c.Before)))
		default:
			parts = append(parts, fmt.Sprintf("%s is %s, it was %s", c.Name, shown(value), shown(c.Before)))
		}
	}
	return strings.Join(parts, "; ")
}

// A stateError is a failed way back with what the values are now.
type stateError struct {
	error
	now string
}

func (e stateError) Error() string { return e.error.Error() + "; now " + e.now }
func (e stateError) Unwrap() error { return e.error }
