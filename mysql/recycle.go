package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// errNoSession is that of KILL for a session that is gone.
const errNoSession = 1094

// recycleEvery is how long to wait between two looks: InnoDB renews its list of
// transactions only when it was not asked for during a tenth of a second.
const recycleEvery = 150 * time.Millisecond

// Recycled is what became of the sessions that were open.
type Recycled struct {
	Ended int // idle ones
	Left  int // that never were idle, or still not gone
}

// Recycle ends the sessions that are open now and idle, or become so within that
// time: not those of kasoku, whatever process they are of, not those within a transaction that has done
// something. It waits until they are gone. A driver's pool then opens new ones,
// which begin with the server's present settings. It takes the privileges PROCESS
// and CONNECTION_ADMIN, or SUPER.
//
// A session that begins a statement between being looked at and ended loses it.
func (s Clients) Recycle(ctx context.Context, within time.Duration) (Recycled, error) {
	ctx, cancel := context.WithTimeout(ctx, within+connectionEnds)
	defer cancel()
	var newest uint64
	err := s.r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "SELECT /* kasoku */ COALESCE(MAX(ID), 0) FROM information_schema.PROCESSLIST", &newest)
	})
	if err != nil {
		return Recycled{}, fmt.Errorf("look for idle sessions: %w", err)
	}
	limit := time.NewTimer(within)
	defer limit.Stop()
	tick := time.NewTicker(recycleEvery)
	defer tick.Stop()
	ended := map[uint64]bool{}
	for over := false; ; {
		left, err := s.endIdle(ctx, newest, ended, func(uint64) bool { return true })
		if err != nil {
			return Recycled{Ended: len(ended), Left: left}, err
		}
		if left == 0 || over {
			return Recycled{Ended: len(ended), Left: left}, nil
		}
		select {
		case <-tick.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			return Recycled{Ended: len(ended), Left: left}, ctx.Err()
		}
	}
}

// connectionEnds is how long the statements of Recycle may take in addition.
const connectionEnds = 5 * time.Second

// clientsQuery lists the client sessions up to one with what they do. A replica's,
// the server's own and those of kasoku are none.
const clientsQuery = "SELECT /* kasoku */ ID, COMMAND = 'Sleep' AND ID NOT IN (SELECT trx_mysql_thread_id FROM " +
	"information_schema.INNODB_TRX) " +
	"FROM information_schema.PROCESSLIST WHERE ID <= %d AND " + background + " AND " + notOwn

// endIdle ends the idle ones of the wanted sessions up to one, and returns how many
// there were.
func (s Clients) endIdle(ctx context.Context, newest uint64, ended map[uint64]bool,
	wanted func(id uint64) bool) (left int, err error) {
	var idle []uint64
	err = s.r.with(ctx, func(conn *session) error {
		idle, left = idle[:0], 0
		var id uint64
		var sleeps bool
		return conn.query(ctx, fmt.Sprintf(clientsQuery, newest), func() error {
			if !wanted(id) {
				return nil
			}
			left++
			if sleeps {
				idle = append(idle, id)
			}
			return nil
		}, &id, &sleeps)
	})
	if err != nil {
		return 0, fmt.Errorf("look for idle sessions: %w", err)
	}
	for _, id := range idle {
		err := s.r.with(ctx, func(conn *session) error {
			return conn.exec(ctx, fmt.Sprintf("KILL /* kasoku */ %d", id))
		})
		if err != nil && mysqlflags.ErrorNumber(err) != errNoSession {
			return left, fmt.Errorf("end idle session %d: %w", id, err)
		}
		ended[id] = true
	}
	return left, nil
}
