package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// Changed is one value of the server that was altered, or that is to be: a
// global variable; a row of performance_schema's set-up, named such as
// setup_consumers.statements_digest; or an index, see [IndexChange].
type Changed struct {
	Name     string
	Before   string // as the server gives it; of an instrument ENABLED and TIMED: "YES,NO"
	During   string
	Restored bool
	Note     string // why it was not put back, when it was not
}

// NoteRestarted is the note of a change that a restart of the server undid.
const NoteRestarted = "left alone: the server was restarted and runs with its own settings"

// NoteForeign begins the note of a change whose variable somebody else has set since.
const NoteForeign = "left alone: somebody has set it to "

// Known reports whether a value is the original or the one that was set:
// otherwise somebody else has set it.
func (c Changed) Known(value string) bool {
	return sameValue(value, c.Before) || sameValue(value, c.During)
}

// InForce reports whether a value is the one that was set.
func (c Changed) InForce(value string) bool { return sameValue(value, c.During) }

// Undo returns the statement that puts the value back, empty for a name or a
// value that no server gives.
func (c Changed) Undo() string {
	statement, err := assignment(c.Name, c.Before)
	if err != nil {
		return ""
	}
	return statement
}

// A Plan is what has to be changed for a purpose.
type Plan struct {
	Needs   []string  // names of the values that the purpose rests on, changed or not
	Changes []Changed // in the order in which to make them; none when all is as wanted
}

// need adds a value to the plan, and a change when it is not as wanted.
func (p *Plan) need(now map[string]string, name, want string, good bool) {
	value, known := now[name]
	if !known {
		return
	}
	p.Needs = append(p.Needs, name)
	if !good && !sameValue(value, want) {
		p.Changes = append(p.Changes, Changed{Name: name, Before: value, During: want})
	}
}

// A Switch changes values of a server and puts them back. What to change is
// said by [SlowLog] and [Consumers]. It is not safe for concurrent use.
type Switch struct {
	r       *Reader
	since   Epoch
	changes []Changed // in the order in which they were made
}

// NewSwitch returns a switch that has changed nothing yet.
func NewSwitch(r *Reader) *Switch { return &Switch{r: r, since: r.Epoch()} }

// ResumeSwitch returns the switch of somebody who made these changes in that
// epoch of the server and cannot put them back.
func ResumeSwitch(r *Reader, since Epoch, changes []Changed) *Switch {
	return &Switch{r, since, slices.Clone(changes)}
}

// Changes returns what was changed and, after Restore, what became of it.
func (s *Switch) Changes() []Changed { return slices.Clone(s.changes) }

// undoLimit bounds the way back after a failed Apply.
const undoLimit = 5 * time.Second

// Apply makes the changes. What it did is undone when one of them fails; what
// could not be undone is then among Changes.
func (s *Switch) Apply(ctx context.Context, changes []Changed) error {
	done := len(s.changes)
	for _, c := range changes {
		if err := assign(ctx, s.r, c.Name, c.During); err != nil {
			// The caller's context may be what failed.
			undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
			defer cancel()
			// The change itself may have been made although its answer was lost.
			half := ResumeSwitch(s.r, s.since, append(s.changes[done:], c))
			undoErr := half.Restore(undo)
			left := slices.DeleteFunc(half.changes, func(c Changed) bool { return c.Restored })
			s.changes = append(s.changes[:done], left...)
			if !c.Lasts() {
				err = explainSet(s.r.Flavor(), err)
			}
			return errors.Join(err, undoErr)
		}
		s.changes = append(s.changes, c)
	}
	return nil
}

// Restore puts back what was changed, the last change first. It leaves alone
// what somebody else has changed since, and everything when the server was
// restarted: it runs with its own configuration then. Changes says so. After an
// error it may be called again.
func (s *Switch) Restore(ctx context.Context) error {
	now, err := CurrentValues(ctx, s.r, s.changes)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	restarted := s.r.RestartedSince(s.since) // reading the values reconnects, and notices
	failed := map[string]error{}
	for i := range slices.Backward(s.changes) {
		c := &s.changes[i]
		value := now[c.Name]
		switch {
		case c.Restored:
		case restarted && !c.Lasts():
			c.Note = NoteRestarted
		case sameValue(value, c.Before):
			c.Restored = true
		case !sameValue(value, c.During):
			c.Note = fmt.Sprintf(NoteForeign+"%q meanwhile", value)
		default:
			if err := assign(ctx, s.r, c.Name, c.Before); err != nil {
				failed[c.Name] = fmt.Errorf("restore: %w", err)
				continue
			}
			c.Restored, c.Note = true, ""
		}
	}
	return s.confirm(ctx, failed)
}

// confirm asks for the values whose change the server answered with an error: MariaDB
// does so for slow_query_log = OFF when the log's disk is full, and switches it off all the
// same. It returns the errors of those that are not back.
func (s *Switch) confirm(ctx context.Context, failed map[string]error) error {
	if len(failed) == 0 {
		return nil
	}
	now, err := CurrentValues(ctx, s.r, s.changes)
	var left error
	for i := range slices.Backward(s.changes) {
		c := &s.changes[i]
		why := failed[c.Name]
		switch {
		case why == nil:
		case err == nil && sameValue(now[c.Name], c.Before):
			c.Restored, c.Note = true, ""
		default:
			left = errors.Join(left, why)
		}
	}
	return left
}

// sameValue compares two spellings of a value: a number is a number, and words
// come in any order and case. The server has its own way to write a value.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 == nil && err2 == nil {
		return x == y
	}
	return slices.Equal(words(a), words(b))
}

// words returns the words of a comma-separated value, sorted, in lower case.
func words(list string) []string {
	out := strings.Split(strings.ToLower(list), ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	slices.Sort(out)
	return out
}

// CurrentValues returns what the changed values are now on the reader's server; a superset for variables.
func CurrentValues(ctx context.Context, r *Reader, changes []Changed) (map[string]string, error) {
	m, err := r.Variables(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(changes, func(c Changed) bool { _, _, setUp := setupRow(c.Name); return setUp }) {
		err = addSetup(ctx, r, m)
	}
	if err == nil {
		err = addIndexes(ctx, r, changes, m)
	}
	return m, err
}

// assign sets a value of the server.
func assign(ctx context.Context, r *Reader, name, value string) error {
	if strings.HasPrefix(name, indexPrefix) {
		return assignIndex(ctx, r, name, value)
	}
	statement, err := assignment(name, value)
	if err != nil {
		return err
	}
	return r.with(ctx, func(conn *session) error {
		if err := conn.exec(ctx, "/* kasoku */ "+statement); err != nil {
			return fmt.Errorf("set %s to %q: %w", name, value, err)
		}
		return nil
	})
}

// assignment returns the statement that sets a global variable, to a number or
// to words, or a row of performance_schema's set-up; of an index the value is it.
func assignment(name, value string) (string, error) {
	if strings.HasPrefix(name, indexPrefix) {
		_, err := ParseIndex(value)
		return value, err
	}
	bad := "'`\\; \n"
	table, row, setUp := setupRow(name)
	if setUp {
		bad = "'\\\n"
	}
	if strings.ContainsAny(name+value, bad) {
		return "", fmt.Errorf("set %s to %q: %w", name, value, ErrUnexpected)
	}
	switch table {
	case setupConsumers:
		return fmt.Sprintf("UPDATE performance_schema.setup_consumers SET ENABLED = '%s' WHERE NAME = '%s'", value,
			row), nil
	case setupInstruments:
		enabled, timed, _ := strings.Cut(value, ",")
		return fmt.Sprintf("UPDATE performance_schema.setup_instruments SET ENABLED = '%s', TIMED = '%s' WHERE "+
			"NAME = '%s'", enabled, timed, row), nil
	}
	literal := "'" + value + "'"
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		literal = value // a quoted number is refused
	}
	return "SET GLOBAL " + name + " = " + literal, nil
}

// A rightsError is a refused change, with what would allow it.
type rightsError struct {
	error
	hint string
}

// Unwrap returns the cause.
func (e *rightsError) Unwrap() error { return e.error }

// Hint returns the statement that grants the right.
func (e *rightsError) Hint() string { return e.hint }

// Refusals for lack of rights.
const (
	accessDenied      = 1227 // ER_SPECIFIC_ACCESS_DENIED_ERROR
	tableAccessDenied = 1142 // ER_TABLEACCESS_DENIED_ERROR
)

// explainSet adds the hint for a refused change.
func explainSet(flavor Flavor, err error) error {
	switch mysqlflags.ErrorNumber(err) {
	case accessDenied:
		right := "SUPER"
		if flavor == MySQL {
			right = "SYSTEM_VARIABLES_ADMIN"
		}
		return &rightsError{err, "to switch the slow log on, a user needs " + right + "; as an administrator: GRANT " +
			right + " ON *.* TO …"}
	case tableAccessDenied:
		return &rightsError{err, "to switch statement digests on, a user needs UPDATE; as an administrator: GRANT " +
			"SELECT, UPDATE ON performance_schema.* TO …"}
	}
	return err
}
