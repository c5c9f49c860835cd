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

// An Attempt is what became of ending idle sessions.
type Attempt struct {
	Asked bool // for it
	Ended int
	Err   error
}

// Hint says how the statements of sessions that were open before come into the slow log, when the
// attempt did not bring them.
func (a Attempt) Hint() string {
	const before = "start the recording before the application"
	var hinted interface{ Hint() string }
	switch {
	case errors.As(a.Err, &hinted):
		return "idle sessions were not ended: " + a.Err.Error() + "; " + hinted.Hint()
	case a.Ended > 0:
		return before + ": sessions that were never idle were not ended"
	case a.Asked:
		return before + ": no idle session was found that could be ended"
	}
	return "`--recycle-connections` (kasoku.toml: recycle_connections = true in [mysql]) ends idle sessions first, " +
		"so that the pool opens new ones; or " + before
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
