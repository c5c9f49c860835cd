package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"
)

// keepIdle keeps a session that holds user-level locks from being ended for doing
// nothing; a year is the most that a server accepts.
const keepIdle = "SET /* kasoku */ SESSION wait_timeout = 31536000"

// UserLocks are the server's user-level locks, which a reader's session can hold.
type UserLocks struct{ r *Reader }

// NewUserLocks returns the locks of the reader's server.
func NewUserLocks(r *Reader) UserLocks { return UserLocks{r} }

// Take takes a user-level lock of the server for the reader's session, and reports
// whether it got it within the time, in whole seconds; 0 does not wait. The lock is
// gone with the session. When the reader connects anew it takes its locks again, if
// they are free.
//
// It takes no privilege. Source: MySQL 9.7 manual "Locking Functions"; MariaDB
// documentation "GET_LOCK". A session may hold several since MySQL 5.7, MariaDB 10.0.
func (l UserLocks) Take(ctx context.Context, name string, within time.Duration) (bool, error) {
	var got sql.NullInt64
	err := l.r.with(ctx, func(conn *session) error {
		if err := conn.exec(ctx, keepIdle); err != nil {
			return err
		}
		return conn.row(ctx, lockQuery(name, within), &got)
	})
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	if got.Int64 != 1 {
		return false, nil
	}
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	if !slices.Contains(l.r.locks, name) {
		l.r.locks = append(l.r.locks, name)
	}
	return true, nil
}

func lockQuery(name string, within time.Duration) string {
	return fmt.Sprintf("SELECT /* kasoku */ GET_LOCK('%s', %d)", name, int(within.Seconds()))
}

// Release gives locks up.
func (l UserLocks) Release(ctx context.Context, names ...string) error {
	l.r.mu.Lock()
	l.r.locks = slices.DeleteFunc(l.r.locks, func(held string) bool { return slices.Contains(names, held) })
	l.r.mu.Unlock()
	for _, name := range names {
		err := l.r.with(ctx, func(conn *session) error {
			var was sql.NullInt64
			return conn.row(ctx, "SELECT /* kasoku */ RELEASE_LOCK('"+name+"')", &was)
		})
		if err != nil {
			return fmt.Errorf("unlock %s: %w", name, err)
		}
	}
	return nil
}

// heldLocks are the names of the locks that a reader's session is to hold.
type heldLocks []string

// retake takes the locks again on a new session. One that another session has got
// meanwhile stays with it.
func (h heldLocks) retake(ctx context.Context, conn *session) error {
	if len(h) == 0 {
		return nil
	}
	if err := conn.exec(ctx, keepIdle); err != nil {
		return err
	}
	for _, name := range h {
		var got sql.NullInt64
		if err := conn.row(ctx, lockQuery(name, 0), &got); err != nil {
			return err
		}
	}
	return nil
}

// Owners returns the connection ids of the sessions that hold locks, by the
// locks' place; 0 for one that is not held.
func (l UserLocks) Owners(ctx context.Context, names []string) ([]uint64, error) {
	asked := make([]string, len(names))
	ids := make([]sql.NullInt64, len(names))
	into := make([]any, len(names))
	for i, name := range names {
		asked[i], into[i] = "IS_USED_LOCK('"+name+"')", &ids[i]
	}
	err := l.r.with(ctx, func(conn *session) error {
		return conn.row(ctx, "SELECT /* kasoku */ "+strings.Join(asked, ", "), into...)
	})
	if err != nil {
		return nil, fmt.Errorf("look for locks: %w", err)
	}
	out := make([]uint64, len(names))
	for i, id := range ids {
		out[i] = uint64(max(id.Int64, 0))
	}
	return out, nil
}
