package mysql

import (
	"context"
	"fmt"
	"time"
)

// settleEvery is how long to wait between two looks at what runs.
const settleEvery = 2 * time.Millisecond

// runningQuery lists the client sessions that are at a statement. A server shows a session
// as idle only after it has written the session's statement to the slow log, which is
// later than the client has its answer.
const runningQuery = "SELECT /* kasoku */ ID FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep' AND TIME <= %d AND " +
	background + " AND " + notOwn

// Settle waits until each session that is at a statement now has been seen idle, or is gone:
// the slow log then holds what they ran. Statements that have run for longer than since are
// not waited for, and none longer than within. It reports whether all ended.
//
// Without the privilege PROCESS only sessions of the same user are seen.
func (s Clients) Settle(ctx context.Context, since, within time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within+connectionEnds)
	defer cancel()
	limit := time.NewTimer(within)
	defer limit.Stop()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	// The server's seconds are whole ones, and rounded either way.
	query := fmt.Sprintf(runningQuery, int64(since/time.Second)+1)
	var waited map[uint64]bool
	for {
		running := map[uint64]bool{}
		err := s.r.with(ctx, func(conn *session) error {
			clear(running)
			var id uint64
			return conn.query(ctx, query, func() error { running[id] = true; return nil }, &id)
		})
		if err != nil {
			return false, fmt.Errorf("look for sessions at a statement: %w", err)
		}
		if waited == nil {
			waited = running
		}
		for id := range waited {
			if !running[id] {
				delete(waited, id)
			}
		}
		if len(waited) == 0 {
			return true, nil
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
