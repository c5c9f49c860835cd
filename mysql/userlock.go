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

// Lock takes a user-level lock of the server for the reader's session, and reports
// whether it got it within the time, in whole seconds; 0 does not wait. The lock is
// gone with the session. When the reader connects anew it takes its locks again, if
// they are free.
//
// It takes no privilege. Source: MySQL 9.7 manual "Locking Functions"; MariaDB
// documentation "GET_LOCK". A session may hold several since MySQL 5.7, MariaDB 10.0.
func (r *Reader) Lock(ctx context.Context, name string, within time.Duration) (bool, error) {
	var got sql.NullInt64
	err := r.with(ctx, func(conn *sql.Conn) error {
		if err := r.exec(ctx, conn, keepIdle); err != nil {
			return err
		}
		return r.row(ctx, conn, lockQuery(name, within), &got)
	})
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	if got.Int64 != 1 {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.locks, name) {
		r.locks = append(r.locks, name)
	}
	return true, nil
}

func lockQuery(name string, within time.Duration) string {
	return fmt.Sprintf("SELECT /* kasoku */ GET_LOCK('%s', %d)", name, int(within.Seconds()))
}

// Unlock gives locks up.
func (r *Reader) Unlock(ctx context.Context, names ...string) error {
	r.mu.Lock()
	r.locks = slices.DeleteFunc(r.locks, func(l string) bool { return slices.Contains(names, l) })
	r.mu.Unlock()
	for _, name := range names {
		err := r.with(ctx, func(conn *sql.Conn) error {
			var was sql.NullInt64
			return r.row(ctx, conn, "SELECT /* kasoku */ RELEASE_LOCK('"+name+"')", &was)
		})
		if err != nil {
			return fmt.Errorf("unlock %s: %w", name, err)
		}
	}
	return nil
}

// relock takes the locks again on a new session. One that another session has got
// meanwhile stays with it.
func (r *Reader) relock(ctx context.Context, conn *sql.Conn) error {
	if len(r.locks) == 0 {
		return nil
	}
	if err := r.exec(ctx, conn, keepIdle); err != nil {
		return err
	}
	for _, name := range r.locks {
		var got sql.NullInt64
		if err := r.row(ctx, conn, lockQuery(name, 0), &got); err != nil {
			return err
		}
	}
	return nil
}

// LockOwners returns the connection ids of the sessions that hold locks, by the
// locks' place; 0 for one that is not held.
func (r *Reader) LockOwners(ctx context.Context, names []string) ([]uint64, error) {
	asked := make([]string, len(names))
	ids := make([]sql.NullInt64, len(names))
	into := make([]any, len(names))
	for i, name := range names {
		asked[i], into[i] = "IS_USED_LOCK('"+name+"')", &ids[i]
	}
	err := r.with(ctx, func(conn *sql.Conn) error {
		return r.row(ctx, conn, "SELECT /* kasoku */ "+strings.Join(asked, ", "), into...)
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
