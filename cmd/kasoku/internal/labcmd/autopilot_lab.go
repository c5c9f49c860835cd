package labcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/labs/isuumo/sqlfile"
	"github.com/kasoku/kasoku/labs/isuumo/stack"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/prove"
)

// A tuned is isuumo as an autopilot changes it. It stays up from run to run; each run
// begins with /initialize, which makes the tables anew from the SQL files.
type tuned struct {
	r    *labRuns
	s    *stack.Stack
	undo []func(context.Context) error // of the last Apply, in the order in which it was made
}

// startTuned starts the lab in the directory of runs.
func startTuned(ctx context.Context, r *labRuns) (*tuned, error) {
	r.progress.Work("start", 0, "database, rows, service, nginx")
	defer r.progress.Clear()
	s, err := r.up(ctx, &labSide{name: r.f.lab.variant, variant: r.f.lab.variant})
	if err != nil {
		return nil, err
	}
	return &tuned{r: r, s: s}, nil
}

func (t *tuned) down(ctx context.Context) error {
	return errors.Join(t.s.Down(ctx), os.RemoveAll(t.r.work))
}

// Run makes one run.
func (t *tuned) Run(ctx context.Context, label, base string) (*kasoku.Recording, error) {
	res, err := t.r.record(ctx, &labSide{name: label, base: base, variant: t.r.f.lab.variant}, t.s)
	t.r.progress.Clear()
	if res == nil {
		return nil, err
	}
	return res.rec, err
}

// Apply makes changes so that they last.
func (t *tuned) Apply(ctx context.Context, edits []kasoku.Edit) error {
	t.undo = nil
	var err error
	for _, e := range edits {
		switch e.Kind {
		case kasoku.EditIndex:
			err = t.index(ctx, e)
		case kasoku.EditVariable:
			err = t.variable(ctx, e)
		case kasoku.EditNginx:
			err = t.directives(e)
		default:
			err = fmt.Errorf("a change of %q: %w", e.Kind, prove.ErrNoEdit)
		}
		if err != nil {
			return errors.Join(err, t.Undo(context.WithoutCancel(ctx)))
		}
	}
	if hasKind(edits, kasoku.EditNginx) {
		if err := t.reload(ctx); err != nil {
			return errors.Join(err, t.Undo(context.WithoutCancel(ctx)))
		}
	}
	return nil
}

func hasKind(edits []kasoku.Edit, kind string) bool {
	for _, e := range edits {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// Undo takes the last Apply back.
func (t *tuned) Undo(ctx context.Context) error {
	var errs []error
	for i := len(t.undo) - 1; i >= 0; i-- {
		errs = append(errs, t.undo[i](ctx))
	}
	t.undo = nil
	return errors.Join(errs...)
}

// Decided has nothing to keep: the lab ends with the program.
func (t *tuned) Decided(context.Context, *prove.Story) error { return nil }

// index puts the statement among those that /initialize runs, after it was tried on
// the tables that are there.
func (t *tuned) index(ctx context.Context, e kasoku.Edit) error {
	if err := t.exec(ctx, e.Do); err != nil {
		return err
	}
	path := filepath.Join(t.r.work, "sql", sqlfile.Tuning)
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(was)
	if strings.TrimSpace(text) == "" {
		text = "USE isuumo;\n"
	}
	t.undo = append(t.undo, func(ctx context.Context) error {
		return errors.Join(os.WriteFile(path, was, 0o644), t.exec(ctx, e.Undo))
	})
	return os.WriteFile(path, []byte(text+strings.TrimSuffix(strings.TrimSpace(e.Do), ";")+";\n"), 0o644)
}

// variable sets a variable until the database is restarted.
func (t *tuned) variable(ctx context.Context, e kasoku.Edit) error {
	name, _, ok := prove.Variable(e)
	if !ok {
		return fmt.Errorf("%q: not a statement that sets one variable", e.Do)
	}
	db, err := mysqlflags.OpenDSN(t.s.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	var was any
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&was); err != nil {
		return err
	}
	if b, isText := was.([]byte); isText {
		was = string(b)
	}
	if _, err := db.ExecContext(ctx, e.Do); err != nil {
		return err
	}
	t.undo = append(t.undo, func(ctx context.Context) error {
		value := fmt.Sprint(was)
		if _, isText := was.(string); isText {
			value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		return t.exec(ctx, "SET GLOBAL "+name+" = "+value)
	})
	return nil
}

func (t *tuned) exec(ctx context.Context, statement string) error {
	db, err := mysqlflags.OpenDSN(t.s.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// directives edits nginx.conf; reload makes it count.
func (t *tuned) directives(e kasoku.Edit) error {
	path := t.s.Nginx.ConfigFile
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := nginxconf.Edit(string(was), e.Context, e.Lines)
	if err != nil {
		return err
	}
	t.undo = append(t.undo, func(ctx context.Context) error {
		return errors.Join(os.WriteFile(path, was, 0o644), t.reload(ctx))
	})
	return os.WriteFile(path, []byte(text), 0o644)
}

// reloadWithin bounds how long the old workers of nginx go on.
const reloadWithin = 10 * time.Second

// reload lets nginx read its configuration anew when nginx itself accepts it, and
// waits until only workers with the new one are there.
func (t *tuned) reload(ctx context.Context) error {
	old := command.Children(t.s.Nginx.Pid())
	if err := t.signal(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reloadWithin)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		now := command.Children(t.s.Nginx.Pid())
		if len(now) > 0 && !slices.ContainsFunc(now, func(pid int) bool { return slices.Contains(old, pid) }) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("nginx: its old workers go on: %w", ctx.Err())
		}
	}
}

// signal checks the configuration and makes nginx read it.
func (t *tuned) signal(ctx context.Context) error {
	for _, args := range [][]string{{"-t"}, {"-s", "reload"}} {
		said := command.NewTail(4 << 10)
		_, err := command.Run(ctx, command.Spec{Path: t.s.Nginx.Program, Args: append(t.s.Nginx.Args(), args...), Stdout: said, Stderr: said})
		if err != nil {
			return fmt.Errorf("nginx %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(said.Bytes())))
		}
	}
	return nil
}
