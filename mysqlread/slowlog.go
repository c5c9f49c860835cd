package mysqlread

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// Settings say what the slow log shall hold. The zero value is every statement,
// as short as the server can write it.
type Settings struct {
	LongQueryTime time.Duration // statements that take at least this long; 0: all
	Extra         bool          // MariaDB: query plan and InnoDB figures; MySQL: log_slow_extra
}

// Changed is one global variable that was altered.
type Changed struct {
	Name     string
	Before   string // as SHOW GLOBAL VARIABLES gives it
	During   string
	Restored bool
	Note     string // why it was not put back, when it was not
}

// A SlowLog switches a server's slow log on and puts back what it changed. It
// needs SUPER or, on MySQL, SYSTEM_VARIABLES_ADMIN.
//
// The variables are copied into a session when it begins: a session that was
// open before goes on as it was. Compare the statements logged with the growth
// of Questions. The server answers a statement before it logs it, so what ended
// just before Restore may be missing.
//
// It is not safe for concurrent use.
type SlowLog struct {
	r        *Reader
	file     string
	restarts int       // that the reader had seen when it was switched on
	open     int       // sessions that were open then
	changes  []Changed // in the order in which they were made
}

// NewSlowLog returns the slow log of the reader's server, as it is.
func NewSlowLog(r *Reader) *SlowLog { return &SlowLog{r: r} }

// File returns the path of the slow log on the server's host, once Plan or On
// has found it.
func (s *SlowLog) File() string { return s.file }

// OpenBefore returns how many sessions were open when the log was switched on,
// and do not write to it unless they already did.
func (s *SlowLog) OpenBefore() int { return s.open }

// Changes returns what was changed and, after Restore, what became of it.
func (s *SlowLog) Changes() []Changed { return slices.Clone(s.changes) }

// Plan returns what On would change; nothing is altered. Whoever has to survive
// a crash writes it down first.
func (s *SlowLog) Plan(ctx context.Context, want Settings) ([]Changed, error) {
	vars, err := s.r.Variables(ctx)
	if err != nil {
		return nil, fmt.Errorf("slow log: %w", err)
	}
	s.file = slowLogPath(vars)
	return planSlowLog(s.r.Flavor(), vars, want), nil
}

// On switches the log on. What it did is undone when one of the changes fails.
// Switching on what is on changes nothing.
func (s *SlowLog) On(ctx context.Context, want Settings) ([]Changed, error) {
	plan, err := s.Plan(ctx, want)
	if err != nil {
		return nil, err
	}
	sessions, err := s.r.Sessions(ctx)
	if err != nil {
		return nil, fmt.Errorf("slow log: %w", err)
	}
	s.open, s.restarts = sessions.Total(), s.r.Restarts()
	for _, c := range plan {
		if err := s.r.setGlobal(ctx, c.Name, c.During); err != nil {
			// The caller's context may be what failed.
			undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
			defer cancel()
			return nil, errors.Join(fmt.Errorf("slow log: %w", explainSet(s.r.Flavor(), err)), s.Restore(undo))
		}
		s.changes = append(s.changes, c)
	}
	// The server has its own way to write a value, and Restore compares.
	vars, err := s.r.Variables(ctx)
	if err != nil {
		return s.Changes(), fmt.Errorf("slow log: %w", err)
	}
	for i := range s.changes {
		s.changes[i].During = vars[s.changes[i].Name]
	}
	return s.Changes(), nil
}

// undoLimit bounds the way back after a failed On.
const undoLimit = 5 * time.Second

// Restore puts back what On changed, the last change first. It leaves alone
// what somebody else has changed since, and everything when the server was
// restarted: it runs with its own configuration then. Changes says so. After an
// error it may be called again.
func (s *SlowLog) Restore(ctx context.Context) error {
	vars, err := s.r.Variables(ctx)
	if err != nil {
		return fmt.Errorf("restore slow log: %w", err)
	}
	restarted := s.r.Restarts() != s.restarts // Variables reconnects, and notices
	var failed error
	for i := range slices.Backward(s.changes) {
		c := &s.changes[i]
		now := vars[c.Name]
		switch {
		case c.Restored:
		case restarted:
			c.Note = "left alone: the server was restarted and runs with its own settings"
		case now == c.Before:
			c.Restored = true
		case !sameValue(now, c.During):
			c.Note = fmt.Sprintf("left alone: somebody has set it to %q meanwhile", now)
		default:
			if err := s.r.setGlobal(ctx, c.Name, c.Before); err != nil {
				failed = errors.Join(failed, fmt.Errorf("restore slow log: %w", err))
				continue
			}
			c.Restored, c.Note = true, ""
		}
	}
	return failed
}

// sameValue compares two spellings of a value: a number is a number.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}

// slowLogPath returns the absolute path of the slow log on the server's host.
func slowLogPath(vars map[string]string) string {
	file := vars["slow_query_log_file"]
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(vars["datadir"], file)
}

// planSlowLog lists the variables to change so that the log holds what is
// wanted, in an order in which no half-way state writes more than that.
func planSlowLog(flavor Flavor, vars map[string]string, want Settings) []Changed {
	var plan []Changed
	change := func(name, value string) {
		if now, known := vars[name]; known && !sameValue(now, value) {
			plan = append(plan, Changed{Name: name, Before: now, During: value})
		}
	}
	if !hasWord(vars["log_output"], "FILE") {
		change("log_output", "FILE")
	}
	change("min_examined_row_limit", "0")
	if flavor == MariaDB {
		change("log_slow_rate_limit", "1")
		// Every statement that the query cache did not answer counts as
		// query_cache_miss, so a filter with that word lets all pass.
		if !hasWord(vars["log_slow_filter"], "query_cache_miss") {
			change("log_slow_filter", "")
		}
		if want.Extra && !(hasWord(vars["log_slow_verbosity"], "query_plan") && hasWord(vars["log_slow_verbosity"], "innodb")) {
			change("log_slow_verbosity", "innodb,query_plan")
		}
	} else if want.Extra {
		change("log_slow_extra", "ON")
	}
	change("long_query_time", strconv.FormatFloat(want.LongQueryTime.Seconds(), 'f', 6, 64))
	change("slow_query_log", "ON")
	return plan
}

// hasWord reports whether a comma-separated value has a word, in any case.
func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(w), word) {
			return true
		}
	}
	return false
}

// setGlobal sets a global variable to a number or to words.
func (r *Reader) setGlobal(ctx context.Context, name, value string) error {
	literal := "'" + value + "'"
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		literal = value // a quoted number is refused
	}
	if strings.ContainsAny(name+value, "'`\\; \n") {
		return fmt.Errorf("set %s to %q: %w", name, value, errUnexpected)
	}
	return r.with(ctx, func(conn *sql.Conn) error {
		if err := r.exec(ctx, conn, "SET /* kasoku */ GLOBAL "+name+" = "+literal); err != nil {
			return fmt.Errorf("set %s to %q: %w", name, value, err)
		}
		return nil
	})
}

// A rightsError is a refused SET GLOBAL, with what would allow it.
type rightsError struct {
	error
	hint string
}

// Unwrap returns the cause.
func (e *rightsError) Unwrap() error { return e.error }

// Hint returns the statement that grants the right.
func (e *rightsError) Hint() string { return e.hint }

// accessDenied is ER_SPECIFIC_ACCESS_DENIED_ERROR.
const accessDenied = 1227

// explainSet adds the hint for a refused SET GLOBAL.
func explainSet(flavor Flavor, err error) error {
	if mysqlflags.ErrorNumber(err) != accessDenied {
		return err
	}
	right := "SUPER"
	if flavor == MySQL {
		right = "SYSTEM_VARIABLES_ADMIN"
	}
	return &rightsError{err, "to switch the slow log on, a user needs " + right + "; as an administrator: GRANT " + right + " ON *.* TO …"}
}
