package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A session is the reader's own session on its server: the connection, and what
// answers over it. It is used only with the reader's mu held.
type session struct {
	server
	conn  *sql.Conn
	sent  *uint64 // statements, of all sessions of the reader
	shown shown
}

// quietTime is the long_query_time of a reader's own session: nothing that it sends
// takes an hour.
const quietTime = "3600"

// askServer asks what the server is. All that we support has the variable.
const askServer = "SELECT /* kasoku */ VERSION(), CONNECTION_ID(), @@performance_schema"

// begin finds out what the server is and makes the session quiet. It returns the
// connection id.
func (s *session) begin(ctx context.Context) (id uint64, err error) {
	// The first statement must already be quiet, whatever the server is. A
	// statement is judged by the settings that hold after it.
	if err := s.exec(ctx, "SET /* kasoku */ SESSION long_query_time = "+quietTime); err != nil {
		return 0, err
	}
	var version string
	if err := s.row(ctx, askServer, &version, &id, &s.schema); err != nil {
		return 0, err
	}
	s.flavor, s.version = ParseVersion(version)
	if err := s.quiet(ctx); err != nil {
		return 0, err
	}
	if err := s.exec(ctx, markOwn); mysqlflags.ErrorNumber(err) == 0 {
		return id, err
	}
	return id, nil // a cluster that knows no user-level locks
}

// ownLock begins the name of the user-level lock that each session of kasoku's holds for
// as long as it lives, whatever process it is of: its connection id follows. A server
// reports who holds a lock to everybody, but neither MariaDB nor all of MySQL what a
// session says of itself.
const ownLock = "kasoku session "

// markOwn takes that lock, which no other session has.
const markOwn = "DO /* kasoku */ GET_LOCK(CONCAT('" + ownLock + "', CONNECTION_ID()), 0)"

// notOwn is the condition that leaves the sessions of all of kasoku's processes out of a
// process list, in SQL. One that lies about itself is spared, and nothing else.
const notOwn = "COALESCE(IS_USED_LOCK(CONCAT('" + ownLock + "', ID)), 0) <> ID"

// MarkOwn marks a connection as one of kasoku's, so that [Clients.Recycle] leaves it
// alone, as it does those of readers. It is one statement.
func MarkOwn(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, markOwn); mysqlflags.ErrorNumber(err) == 0 {
		return err
	}
	return nil
}

// quiet keeps the session's statements out of the slow log and of the statement
// digests.
//
// MariaDB can switch the log off for one session. MySQL cannot, and may log
// statements without an index however fast they are, unless they read few
// rows; to say so takes a privilege, so that is tried only. So is the change of
// the session's own row of performance_schema.
func (s *session) quiet(ctx context.Context) error {
	if s.schema {
		if err := s.exec(ctx, uncounted); err != nil && mysqlflags.ErrorNumber(err) == 0 {
			return err
		}
	}
	if s.flavor == MariaDB {
		return s.exec(ctx, "SET /* kasoku */ SESSION slow_query_log = 0")
	}
	_, err := s.allowed(ctx, "SET /* kasoku */ SESSION min_examined_row_limit = 4294967295")
	if err == nil && s.version.AtLeast(8, 0, 0) {
		// Otherwise the sizes of tables are up to a day old.
		err = s.exec(ctx, "SET /* kasoku */ SESSION information_schema_stats_expiry = 0")
	}
	return err
}

// uncounted keeps what a session does from then on out of the digests, where it may.
const uncounted = "UPDATE /* kasoku */ performance_schema.threads SET INSTRUMENTED = 'NO' WHERE PROCESSLIST_ID = CONNECTION_ID()"

// Uncounted keeps the statements of a connection that is no reader's out of the digests, where
// the server has them and the user may.
func Uncounted(ctx context.Context, conn *sql.Conn) { _, _ = conn.ExecContext(ctx, uncounted) }

// isOwnDigest reports whether a digest is of kasoku's own statements: of those by which each of its
// sessions begins, before it is [uncounted]; and, where the user may not have a session uncounted,
// by the server's sample of the class, of what reads the server's own tables or none (another kasoku
// that asks who it is), or asks for settings.
// An application that asks the same with tables of its own keeps its class.
func isOwnDigest(text, sample string) bool {
	const longest = 8 << 10
	if len(text) > longest {
		return false
	}
	text = strings.ToLower(strings.NewReplacer(" ", "", "`", "").Replace(text))
	if slices.Contains(ownDigests, text) {
		return true
	}
	return strings.Contains(sample, "/* kasoku */") && (strings.Contains(text, "fromperformance_schema.") ||
		strings.Contains(text, "frominformation_schema.") || text == "selectcurrent_user()" || slices.ContainsFunc([]string{"show", "set", "do", "explain"},
		func(verb string) bool { return strings.HasPrefix(text, verb) }))
}

// ownDigests are the texts of the digests of [session.begin]'s statements, without blanks and quotes of
// names, in lower case. Those of MariaDB 10.11 and MySQL 9.7 are the same.
var ownDigests = []string{
	"setsessionlong_query_time=?",
	"selectversion(),connection_id(),@@performance_schema",
	"updateperformance_schema.threadssetinstrumented=?whereprocesslist_id=connection_id()",
}

// discard closes the connection for good: one that is only given back to the
// pool would be handed out again, with its session settings.
func (s *session) discard() {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}

func (s *session) exec(ctx context.Context, statement string) error {
	*s.sent++
	_, err := s.conn.ExecContext(ctx, statement)
	return err
}

// allowed runs a statement and distinguishes a refusal for lack of rights from other errors.
func (s *session) allowed(ctx context.Context, statement string) (bool, error) {
	err := s.exec(ctx, statement)
	if mysqlflags.ErrorNumber(err) == accessDenied {
		return false, nil
	}
	return err == nil, err
}

func (s *session) row(ctx context.Context, query string, into ...any) error {
	*s.sent++
	return s.conn.QueryRowContext(ctx, query).Scan(into...)
}

// mostRows bounds the rows of an answer, as mysqlflags.MostAnswer does its bytes: a row
// of few bytes can take many when it is kept. Of the 2,000 classes of statements whose
// histograms are read, some 20 buckets each are in use.
const mostRows = 100_000

var errTooManyRows = fmt.Errorf("%w: the server's answer has more than %d rows, and was not read to its end",
	ErrUnexpected, mostRows)

// Bounds of what is kept of an answer that is much shorter when the server is honest.
const (
	mostStatement = 16 << 10 // bytes of a statement that waits, holds a lock or was rolled back
	mostName      = 256      // bytes of an identifier, which has 64 characters, or of a digest
	mostPlan      = 2 << 20  // bytes of a plan
	mostDefined   = 32 << 20 // bytes of all definitions
	mostInnoDB    = 1 << 20  // bytes of SHOW ENGINE INNODB STATUS, which the server cuts there, too
)

// clip returns the first bytes of a text, as a text of its own.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// query runs a query and calls each for every row after scanning it into the values.
func (s *session) query(ctx context.Context, query string, each func() error, into ...any) (err error) {
	*s.sent++
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for n := 1; rows.Next(); n++ {
		if n > mostRows {
			return errTooManyRows
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts returns the names of the columns and then every row, NULL as an empty text.
func (s *session) texts(ctx context.Context, query string) ([][]string, error) {
	*s.sent++
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out := [][]string{names}
	cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	sum := 0
	for sum <= mostPlan && rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = c.String
			sum += len(c.String) + 16 // with what keeps it
		}
		out = append(out, row)
	}
	if sum > mostPlan {
		return nil, fmt.Errorf("%w: it is longer than %d MB", ErrUnexpected, mostPlan>>20)
	}
	return out, rows.Err()
}
