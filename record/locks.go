package record

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/store"
)

// shapeOf gives the fingerprint of a statement, as the slow log's classes have it,
// and its id.
func shapeOf(statement string) (fingerprint, id string) {
	var s sqlshape.Shaper
	f := s.Fingerprint(sqlshape.InBackquotes([]byte(statement)))
	return string(f), sqlshape.ID(f)
}

// saveLocks stores who waited for whose locks, and the last deadlock, but for those of others'
// tables. The sampler must have ended. A server that does not report it costs the deadlock, not the run.
func (e *ending) saveLocks(ctx context.Context) error {
	var deadlocks []kasoku.Deadlock
	d, err := e.db.locks.Deadlock(ctx, e.host(), e.start)
	if err != nil {
		e.warn(kasoku.Warning{Code: "no-deadlocks", Text: "whether there were deadlocks is not known: " + err.Error(), Hint: hint(err)})
	}
	if d != nil && !e.db.tenants.IsOthersTable(d.Table) {
		d.At = min(d.At, e.run.Length)
		deadlocks = append(deadlocks, *d)
	}
	waits := e.db.tenants.Waits(e.db.locks.Waits(e.host(), e.start))
	return errors.Join(store.Save(e.store, waits), store.Save(e.store, deadlocks))
}
