package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/mysql"
)

// ErrNoStatement means that of no statement that a change is for the text is known, by which
// it could be measured.
var ErrNoStatement = errors.New("nothing to measure it by: no statement that it is for is known as it was sent")

// ErrNoEdit means that a finding proposes nothing that kasoku can do by itself.
var ErrNoEdit = errors.New("it takes a person")

// ErrInForce means that what a change would make is there already: it is not kasoku's, and is
// not to be taken back.
var ErrInForce = errors.New("it is so already")

// Edits returns what kasoku can do of a finding's fixes without a restart, of the
// kinds that are named: the first fix with such edits and no others.
func Edits(f *kasoku.Finding, kinds ...string) []kasoku.Edit {
	for i := range f.Fixes {
		var out []kasoku.Edit
		good := len(f.Fixes[i].Edits) > 0
		for _, e := range f.Fixes[i].Edits {
			good = good && has(kinds, e.Kind) && (e.Kind == kasoku.EditNginx || e.Do != "")
			out = append(out, e)
		}
		if good {
			return out
		}
	}
	return nil
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// setGlobal is the one form of a statement that sets a variable.
var setGlobal = lazyregexp.New(`(?is)^\s*SET\s+GLOBAL\s+([a-z_0-9]+)\s*=\s*(?:'([^'\\]*)'|"([^"\\]*)"|([^'";\s]+))\s*;?\s*$`)

// Variable returns which variable an edit sets, to what.
func Variable(e kasoku.Edit) (name, value string, ok bool) {
	m := setGlobal().FindStringSubmatch(e.Do)
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), cmp.Or(m[2], m[3], m[4]), true
}

// changeOf returns an edit as a change of the server with these variables.
func changeOf(e kasoku.Edit, schema string, vars map[string]string) (mysql.Changed, error) {
	switch e.Kind {
	case kasoku.EditVariable:
		name, value, ok := Variable(e)
		if !ok {
			return mysql.Changed{}, fmt.Errorf("%q: not a statement that sets one variable", e.Do)
		}
		before, known := vars[name]
		if !known {
			return mysql.Changed{}, fmt.Errorf("variable %q: the server has none of that name", name)
		}
		return mysql.Changed{Name: name, Before: before, During: value}, nil
	case kasoku.EditIndex:
		if e.Undo == "" {
			return mysql.Changed{}, fmt.Errorf("%q: nothing says how it is taken back", e.Do)
		}
		if s, err := mysql.ParseIndex(e.Do); err == nil && cmp.Or(s.Schema, schema) == "" {
			return mysql.Changed{}, fmt.Errorf("%q: its database is not known", e.Do)
		}
		return mysql.IndexChange(schema, e.Do, e.Undo)
	}
	return mysql.Changed{}, fmt.Errorf("a change of %s: %w", e.Kind, ErrNoEdit)
}

// plannedChange returns an edit as a change that a journal may hold.
func plannedChange(e kasoku.Edit, schema string, vars map[string]string) (mysql.Changed, error) {
	c, err := changeOf(e, schema, vars)
	if err == nil {
		err = c.Check()
	}
	return c, err
}

// NewPlanner returns what plans edits of a database as changes of it. The schema is that of
// statements that name none.
func NewPlanner(r *mysql.Reader, schema string, edits []kasoku.Edit) guard.Planner {
	return &planner{r, schema, edits}
}

// A planner plans edits as changes.
type planner struct {
	r      *mysql.Reader
	schema string
	edits  []kasoku.Edit
}

// Plan returns what is to be changed.
func (p *planner) Plan(ctx context.Context) (mysql.Plan, error) {
	vars, err := p.r.Variables(ctx)
	if err != nil {
		return mysql.Plan{}, err
	}
	var out mysql.Plan
	for _, e := range p.edits {
		c, err := plannedChange(e, p.schema, vars)
		if err != nil {
			return out, err
		}
		out.Needs = append(out.Needs, c.Name)
		if c.Before != c.During {
			out.Changes = append(out.Changes, c)
		}
	}
	return out, p.notThere(ctx, out.Changes)
}

// notThere reports indexes that are made, or dropped, already. Should the change fail on one,
// it would be taken back, and with it what is somebody else's.
func (p *planner) notThere(ctx context.Context, changes []mysql.Changed) error {
	now, err := mysql.CurrentValues(ctx, p.r, changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Lasts() && now[c.Name] == c.During {
			return fmt.Errorf("%s: %w", c.Name, ErrInForce)
		}
	}
	return nil
}
