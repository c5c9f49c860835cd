// Package slowfile finds out whether a file of this host is the slow log of a server.
//
// A server says a path and no host: another server here may write to that path, as a
// neighbour's does where the one that is asked runs elsewhere or in a container, and a
// server that lies may name any file. The one idea: a statement with a random word is sent,
// and the file is the server's when the word comes into it.
package slowfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"

	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// sessionLogs are the settings with which a session's statements are logged, whatever they
// take. Those that a server does not know or allow stay as they are.
var sessionLogs = []string{
	"long_query_time = 0", "min_examined_row_limit = 0",
	"slow_query_log = 1", "log_slow_rate_limit = 1", "log_slow_filter = ''", "log_slow_disabled_statements = ''", // MariaDB
}

// An Answer is what is known of a file.
type Answer int

// The answers.
const (
	Unknown Answer = iota // it cannot be read here, or the statement could not be sent
	Own                   // the server writes it
	Foreign               // the server wrote the statement elsewhere, or not at all
)

// Ask reports whether the server of db, whose slow log is on and goes to a file, writes the
// file at path. It waits for two statements and reads what the file gains meanwhile.
func Ask(ctx context.Context, db *sql.DB, path string) Answer {
	mark, err := lines.MarkEnd(path)
	if err != nil || mark.Missing {
		return Unknown
	}
	word := rand.Text()
	if send(ctx, db, word) != nil {
		return Unknown
	}
	w, err := lines.Since(mark)
	if err != nil {
		return Unknown
	}
	defer w.Close()
	for w.Scan() {
		if bytes.Contains(w.Bytes(), []byte(word)) {
			return Own
		}
	}
	if w.Err() != nil {
		return Unknown
	}
	return Foreign
}

// send sends a statement with a word, and returns when the server has logged it: it logs a
// statement before it reads the next one of the session.
func send(ctx context.Context, db *sql.DB, word string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	mysql.Uncounted(ctx, conn)
	if err := mysql.MarkOwn(ctx, conn); err != nil {
		return err
	}
	// A log names a schema where it is another than the entry's before: that of the
	// statements that follow shall be named.
	if _, err := conn.ExecContext(ctx, "USE information_schema"); err != nil {
		return err
	}
	for _, s := range sessionLogs {
		if _, err := conn.ExecContext(ctx, "SET /* kasoku */ SESSION "+s); err != nil && mysqlflags.ErrorNumber(err) == 0 {
			return err
		}
	}
	for _, s := range []string{"DO /* kasoku */ '" + word + "'", "DO /* kasoku */ 1"} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // not back into the pool, with these settings
	return nil
}
