package memory

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// The locks that writing sessions hold, one session each.
const (
	saleLock   = "sales"
	uploadLock = "uploads"
)

// lockWait is how long a session that ends may take to do so. A server notices at
// once that its client is gone, but finishes the statement that it is at.
const lockWait = 2 * time.Second

// errLocked means that another session holds a lock for longer than lockWait.
var errLocked = errors.New("another process serves this database")

// A session is a connection that writes, with a lock of the server by which the
// next one waits for its end. It is used by one goroutine at a time.
type session struct {
	conn *sql.Conn
}

// openSession connects and takes the lock. The session is one of the database; an
// empty name is filled with that of a new connection.
func openSession(ctx context.Context, db *sql.DB, lock string, database *string) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	s := &session{conn: conn}
	if err := s.begin(ctx, lock, database); err != nil {
		s.close()
		return nil, fmt.Errorf("begin session for %s: %w", lock, err)
	}
	return s, nil
}

// begin sets up the session: what does not fit a column is an error instead of
// being cut, a backslash escapes, and the session may be idle for as long as the
// servers allow (a year).
func (s *session) begin(ctx context.Context, lock string, database *string) error {
	if err := s.exec(ctx, "SET SESSION autocommit = 1, sql_mode = 'STRICT_ALL_TABLES', wait_timeout = 31536000"); err != nil {
		return err
	}
	if *database == "" {
		if err := s.conn.QueryRowContext(ctx, "SELECT IFNULL(DATABASE(), '')").Scan(database); err != nil {
			return err
		}
	}
	// A connection of the pool that was there before the database was dropped and
	// created anew has none.
	if err := s.use(ctx, *database); err != nil {
		return err
	}
	var got sql.NullInt64 // NULL: killed while it waited
	query := fmt.Sprintf("SELECT GET_LOCK(CONCAT('isuumo %s ', LEFT(SHA2(DATABASE(), 256), 40)), %d)", lock,
		lockWait/time.Second)
	if err := s.conn.QueryRowContext(ctx, query).Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return errLocked
	}
	return nil
}

func (s *session) exec(ctx context.Context, query string) error {
	_, err := s.conn.ExecContext(ctx, query)
	return err
}

// use makes a database the session's.
func (s *session) use(ctx context.Context, database string) error {
	return s.exec(ctx, "USE `"+strings.ReplaceAll(database, "`", "``")+"`")
}

// close ends the session. It is not given back to the pool, since the lock would
// stay with it.
func (s *session) close() {
	if s != nil {
		s.conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // it says ErrBadConn
	}
}

// Numbers of errors of MariaDB and MySQL that say that the tables are not those of
// the service, or not there.
const (
	errUnknownDatabase = 1049
	errUnknownColumn   = 1054
	errNoTable         = 1146
)

// noTables reports whether only /initialize can help: there is nothing to read.
func noTables(err error) bool {
	switch mysqlflags.ErrorNumber(err) {
	case errUnknownDatabase, errUnknownColumn, errNoTable:
		return true
	}
	return false
}
