package record

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// shapeOf gives the fingerprint of a statement, as the slow log's classes have it,
// and its id.
func shapeOf(statement string) (fingerprint, id string) {
	var s sqlshape.Shaper
	f := s.Fingerprint([]byte(statement))
	return string(f), sqlshape.ID(f)
}

// saveLocks stores who waited for whose locks, and the last deadlock. The sampler
// must have ended. A server that does not report it costs the deadlock, not the run.
func (s *session) saveLocks(ctx context.Context) error {
	var deadlocks []kasoku.Deadlock
	d, err := s.db.locks.Deadlock(ctx, s.host(), s.start)
	if err != nil {
		s.warn(kasoku.Warning{Code: "no-deadlocks", Text: "whether there were deadlocks is not known: " + err.Error(), Hint: hint(err)})
	}
	if d != nil {
		d.At = min(d.At, s.run.Length)
		deadlocks = append(deadlocks, *d)
	}
	return errors.Join(s.store.SaveLockWaits(s.db.locks.Waits(s.host(), s.start)), s.store.SaveDeadlocks(deadlocks))
}
