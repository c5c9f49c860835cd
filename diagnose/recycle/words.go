package recycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/topology/find"
)

// Warned words the error of an attempt, after what follows from it; nothing without one.
func Warned(what string, err error) []kasoku.Warning {
	if err == nil {
		return nil
	}
	w := kasoku.Warning{Code: "not-recycled", Text: what + err.Error()}
	if errors.As(err, new(*BrokenError)) {
		w.Code, w.Text = "application-broken", err.Error()
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		w.Hint = hinted.Hint()
	}
	return []kasoku.Warning{w}
}

// Busy words that sessions were left which never were idle; nothing where none was.
func Busy(r mysql.Recycled, within time.Duration) []kasoku.Warning {
	if r.Left == 0 {
		return nil
	}
	return []kasoku.Warning{{Code: "not-recycled",
		Text: fmt.Sprintf("%s of the sessions that were open when the slow log was switched on were busy for %s and "+
			"go on without it", unit.Count(uint64(r.Left)), unit.Exact(within)),
		Hint: "start the recording before the load, or restart the application"}}
}

// Look returns a search for a service as it is seen without load.
func Look(ask find.Ask, within time.Duration) func(context.Context) (kasoku.Service, error) {
	ask.Loaded = false
	return func(ctx context.Context) (kasoku.Service, error) {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		return find.Find(ctx, ask)
	}
}
